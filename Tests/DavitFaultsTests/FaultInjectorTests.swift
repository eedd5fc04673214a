import DavitFaults
import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Faults as a client sees them, on a real socket. The times that a client waits are compared only with lower
/// bounds, which no load can break.
@Suite(.timeLimit(.minutes(15)))
struct FaultInjectorTests {
    /// Responds with as many bytes as the path says, or with the number of received bytes.
    private struct Application: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .pending { () async throws(HTTPError) in
                let path = String(decoding: request.target.rawPath, as: UTF8.self)
                if request.body.isPresent {
                    let buffer = IOBuffer(capacity: 4096)
                    var count = 0
                    while case let read = try await request.body.read(into: buffer), read > 0 {
                        count += read
                        buffer.removeAll()
                    }
                    return .text("received \(count)")
                }
                guard let count = Int(path.dropFirst()) else { throw HTTPError(.notFound, "No number.") }
                return .bytes([UInt8](repeating: 0x61, count: count), type: "text/plain")
            }
        }
    }

    /// A server with faults; stopped when it is released.
    private final class Server {
        private let server: HTTPServer
        private let address: BoundAddress
        var port: UInt16 { address.port }

        init(_ rules: String) throws {
            let plan = try FaultRuleSet(parsing: "seed=7\n" + rules)
            var configuration = TransportConfiguration(endpoints: [.init(host: "127.0.0.1", port: 0)])
            configuration.loops = 1
            configuration.grace = .zero
            configuration.deadlines = .ofTests
            server = HTTPServer(
                configuration: configuration, handler: Application().applying(FaultInjector(plan)),
                log: Log(level: .error))
            address = try server.start()[0]
        }

        deinit {
            server.shutdown()
            server.waitUntilStopped()
        }

        /// What a client receives up to the end of the connection.
        struct Received {
            var text: String
            var isReset: Bool
            var status: String { String(text.dropFirst(9).prefix(3)) }
            var content: Substring {
                text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
            }
        }

        func exchange(_ request: String) throws -> Received {
            let socket = try Socket.connect(to: .ipv4Loopback(port: address.port))
            try Socket.setTimeout(socket.rawValue, seconds: 300)
            var bytes = Array(request.utf8)[...]
            while !bytes.isEmpty {
                let outcome = unsafe bytes.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
                guard case .bytes(let count) = outcome else { break }
                bytes = bytes.dropFirst(count)
            }
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                switch unsafe buffer.withUnsafeMutableBytes({
                    unsafe Socket.receive(socket.rawValue, into: $0)
                }) {
                case .bytes(let count): received += buffer[..<count]
                case .ended: return Received(text: String(decoding: received, as: UTF8.self), isReset: false)
                case .failed, .wouldBlock:
                    return Received(text: String(decoding: received, as: UTF8.self), isReset: true)
                }
            }
        }

        /// Sends requests on one connection, and returns `x` for each that is refused with 503, and `.` for
        /// each with 200.
        func statuses(ofRequests count: Int) throws -> String {
            let request = "GET /1 HTTP/1.1\r\nHost: h\r\n"
            let text = try exchange(
                String(repeating: request + "\r\n", count: count - 1) + request
                    + "Connection: close\r\n\r\n"
            ).text
            return text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
                // The content has no line break, so that the next head begins in its line.
                guard let start = String(line)?.firstRange(of: "HTTP/1.1 ")?.upperBound,
                    let text = String(line)
                else { return nil }
                return switch text[start...].prefix(3) {
                case "200": "."
                case "503": "x"
                default: "?"
                }
            }.joined()
        }

        func get(_ path: String) throws -> Received {
            try exchange("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        }

        func put(_ path: String, _ count: Int) throws -> Received {
            try exchange(
                "PUT \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n"
                    + String(repeating: "b", count: count))
        }
    }

    private func timed(
        _ request: () throws -> Server.Received
    ) throws -> (response: Server.Received, seconds: Double) {
        let start = ContinuousClock.now
        let response = try request()
        return (response, start.duration(to: .now) / .seconds(1))
    }

    @Test func requestsWithoutRuleAreUnchanged() throws {
        let response = try Server("PUT /** status=423").get("/5")
        #expect(response.status == "200" && response.content == "aaaaa" && !response.isReset)
    }

    @Test func refusalReplacesTheResponse() throws {
        let server = try Server("GET /5 status=429 retry-after=7 nth=2\n")
        #expect(try server.get("/5").status == "200")
        let refused = try server.get("/5")
        #expect(refused.status == "429" && refused.text.contains("\r\nRetry-After: 7\r\n"))
        #expect(try server.get("/5").status == "200")
    }

    @Test(arguments: [
        ("every=3", "..x..x"), ("first=2", "xx...."), ("after=2", "..xxxx"), ("nth=4", "...x.."),
        ("probability=0%", "......"), ("probability=100%", "xxxxxx"),
    ]) func occurrenceSelectsRequests(condition: String, pattern: String) throws {
        let server = try Server("GET /** status=503 \(condition)")
        let found = try (0..<6).map { _ in try server.get("/1").status == "503" ? "x" : "." }.joined()
        #expect(found == pattern)
    }

    @Test func refusalAfterAPartOfTheContent() throws {
        let server = try Server("PUT /** status=507 at=80%")
        #expect(try server.put("/a", 100_000).status == "507")
        // Requests without content are refused immediately.
        #expect(
            try server.exchange("PUT /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").status == "507")
    }

    @Test(arguments: ["close", "reset"]) func connectionEndsWithoutResponse(fault: String) throws {
        let response = try Server("GET /** \(fault)").get("/5")
        #expect(response.text.isEmpty && response.isReset == (fault == "reset"))
    }

    @Test(arguments: ["close-after=1000", "reset-after=1000"])
    func responseEndsEarly(fault: String) throws {
        let server = try Server("GET /** \(fault)")
        let response = try server.get("/100000")
        #expect(response.status == "200" && response.isReset == fault.hasPrefix("reset"))
        #expect(response.text.contains("\r\nContent-Length: 100000\r\n"))
        // A reset can discard bytes that the client has not read yet.
        #expect(response.isReset ? response.content.count <= 1000 : response.content.count == 1000)
        // Shorter content is complete.
        #expect(try server.get("/999").content.count == 999)
    }

    @Test func stalledResponseEndsWithTheConnection() throws {
        let server = try Server("GET /** stall-after=10")
        let socket = try Socket.connect(to: .ipv4Loopback(port: server.port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        let request = Array("GET /100 HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        _ = unsafe request.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: received, as: UTF8.self).hasSuffix("\r\n\r\naaaaaaaaaa") {
            guard
                case .bytes(let count) = unsafe buffer.withUnsafeMutableBytes({
                    unsafe Socket.receive(socket.rawValue, into: $0)
                })
            else { break }
            received += buffer[..<count]
        }
        // Nothing follows while the connection is open, and then the server notices the end: it still stops.
        #expect(String(decoding: received, as: UTF8.self).hasSuffix("\r\n\r\naaaaaaaaaa"))
    }

    @Test func malformedHeadHasNoStatus() throws {
        let response = try Server("GET /** malformed-head").get("/5")
        #expect(response.text.hasPrefix("HTTP/1.1 2x0 Malformed\r\n") && response.content == "aaaaa")
    }

    @Test(arguments: [(-2, "3"), (10, "15"), (-9, "0")])
    func lengthIsWrong(error: Int, announced: String) throws {
        let response = try Server("GET /** length-error=\(error)").get("/5")
        #expect(response.text.contains("\r\nContent-Length: \(announced)\r\n") && response.content == "aaaaa")
    }

    @Test func delaysAreAddedToTheResponse() throws {
        let server = try Server("GET /1 delay=200ms\nGET /1 first-byte=150ms-160ms\nGET /x delay=100ms")
        let both = try timed { try server.get("/1") }
        #expect(both.response.status == "200" && both.seconds >= 0.35)
        // Errors are delayed as well.
        let error = try timed { try server.get("/x") }
        #expect(error.response.status == "404" && error.seconds >= 0.1)
    }

    @Test func ratesLimitBothDirections() throws {
        let server = try Server("* /** down=100kB/s up=200kB/s")
        let down = try timed { try server.get("/50000") }
        #expect(down.response.content.count == 50_000 && down.seconds >= 0.45)
        let up = try timed { try server.put("/a", 100_000) }
        #expect(up.response.content == "received 100000" && up.seconds >= 0.45)
    }

    @Test func sameSeedGivesTheSameSequence() throws {
        func sequence(_ seed: Int) throws -> String {
            let server = try Server("seed=\(seed)\nGET /** status=503 probability=50%")
            return try (0..<40).map { _ in try server.get("/1").status == "503" ? "x" : "." }.joined()
        }
        let first = try sequence(1)
        #expect(try sequence(1) == first)
        #expect(try sequence(2) != first)
        #expect(first.contains("x") && first.contains("."))
    }

    /// Counts over many requests, on keep-alive connections: the number is within three standard deviations,
    /// and the same seed refuses the same requests.
    @Test func probabilityIsTheShareOfRequests() throws {
        func sequence(_ seed: Int, connections: Int = 10) throws -> String {
            let server = try Server("seed=\(seed)\nGET /** status=503 probability=10%")
            return try (0..<connections).map { _ in try server.statuses(ofRequests: 1000) }.joined()
        }
        let first = try sequence(1)
        let refused = first.utf8.count { $0 == UInt8(ascii: "x") }
        // The standard deviation of a binomial distribution is the root of 10,000 × 0.1 × 0.9, 30.
        #expect(first.utf8.count == 10_000 && (910...1090).contains(refused), "\(refused)")
        #expect(try sequence(1) == first)
        #expect(try sequence(2, connections: 1) != first.prefix(1000))
    }

    @Test func firstRuleDecidesAndOthersAdd() throws {
        let server = try Server("GET /** status=503\nGET /5 status=423\nGET /5 length-error=1")
        let response = try server.get("/5")
        #expect(response.status == "503")
        let length = response.text.firstRange(of: "Content-Length: ").map { response.text[$0.upperBound...] }
        #expect(Int(length?.prefix { !$0.isNewline } ?? "") == response.content.utf8.count + 1)
    }
}
