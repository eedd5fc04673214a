package import DavitHTTP

/// Feeds heads to a parser in pieces and returns the outcome in a comparable form.
package struct HeadFeed: Sendable {
    package enum Outcome: Equatable {
        case complete(Summary)
        case incomplete
        case refused(HTTPError)

        /// The status of a refusal; nil otherwise.
        package var status: Int? {
            if case .refused(let error) = self { return Int(error.status.code) }
            return nil
        }

        package var summary: Summary? {
            if case .complete(let summary) = self { return summary }
            return nil
        }
    }

    /// The content of a parsed head.
    package struct Summary: Equatable {
        package var consumed: Int
        package var method: HTTPMethod
        package var minorVersion: UInt8
        package var form: RequestTarget.Form
        package var path: String
        package var query: String?
        package var authority: String?
        package var fields: [String]
        package var framing: BodyFraming
        package var expectsContinue: Bool
        package var keepsAlive: Bool

        package init(_ request: HTTPRequest, consumed: Int) {
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

    private let limits: WireLimits

    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    package func whole(_ bytes: [UInt8]) -> Outcome { feed(bytes, prefixes: [bytes.count]) }

    package func byteByByte(_ bytes: [UInt8]) -> Outcome {
        feed(bytes, prefixes: Array(1...max(1, bytes.count)))
    }

    package func split(_ bytes: [UInt8], at position: Int) -> Outcome {
        feed(bytes, prefixes: [position, bytes.count])
    }

    /// Feeds growing prefixes to one parser until it returns a result.
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

private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
