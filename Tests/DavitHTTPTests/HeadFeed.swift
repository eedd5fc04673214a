import DavitHTTP

/// Feeds heads to a parser in pieces and keeps what came out, in a form that can be compared.
struct HeadFeed {
    enum Outcome: Equatable {
        case complete(Summary)
        case incomplete
        case refused(HTTPError)

        /// The status of a refusal, else nil.
        var status: Int? {
            if case .refused(let error) = self { return Int(error.status.code) }
            return nil
        }

        var summary: Summary? {
            if case .complete(let summary) = self { return summary }
            return nil
        }
    }

    /// All a parsed head says.
    struct Summary: Equatable {
        var consumed: Int
        var method: HTTPMethod
        var minorVersion: UInt8
        var form: RequestTarget.Form
        var path: String
        var query: String?
        var authority: String?
        var fields: [String]
        var framing: BodyFraming
        var expectsContinue: Bool
        var keepsAlive: Bool

        init(_ request: HTTPRequest, consumed: Int) {
            self.consumed = consumed
            method = request.method
            minorVersion = request.minorVersion
            form = request.target.form
            path = text(request.target.rawPath)
            query = request.target.rawQuery.map(text)
            authority = request.target.authority.map(text)
            fields = request.lines.map { line in
                let start = Int(line.nameStart)
                let name = text(request.head[start..<start + Int(line.nameLength)])
                return "\(line.name)|\(name)|\(text(request.head[line.valueRange]))"
            }
            framing = request.framing
            expectsContinue = request.expectsContinue
            keepsAlive = request.keepsAlive
        }
    }

    var limits = WireLimits()

    func whole(_ bytes: [UInt8]) -> Outcome { feed(bytes, prefixes: [bytes.count]) }

    func byteByByte(_ bytes: [UInt8]) -> Outcome { feed(bytes, prefixes: Array(1...max(1, bytes.count))) }

    func split(_ bytes: [UInt8], at position: Int) -> Outcome {
        feed(bytes, prefixes: [position, bytes.count])
    }

    /// Offers growing prefixes to one parser until it answers.
    private func feed(_ bytes: [UInt8], prefixes: [Int]) -> Outcome {
        var parser = HeadParser(limits: limits)
        let request = HTTPRequest()
        for count in prefixes {
            let prefix = Array(bytes.prefix(count))
            let result = unsafe prefix.withUnsafeBytes { input in
                Result { () throws(HTTPError) in try unsafe parser.parse(input, into: request) }
            }
            switch result {
            case .failure(let error): return .refused(error)
            case .success(let consumed?): return .complete(Summary(request, consumed: consumed))
            case .success(nil): continue
            }
        }
        return .incomplete
    }
}

func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

/// A request with the given field lines, parsed.
func request(_ method: String = "GET", _ target: String = "/", fields: [String] = []) throws -> HTTPRequest {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields + ["", ""]
    return try HTTPRequest(parsing: Array(lines.joined(separator: "\r\n").utf8))
}

/// Random numbers that are the same in each run (a linear congruential generator, high bits used).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<2 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            value = value << 32 | state >> 32
        }
        return value
    }
}
