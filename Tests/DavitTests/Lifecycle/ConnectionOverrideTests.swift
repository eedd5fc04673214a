import Davit
import DavitHTTP
import DavitServer
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// Overrides of GCDWebServer's connection class correspond to middleware.
@Suite(.timeLimit(.minutes(15)))
struct ConnectionOverrideTests {
    private static func answer(
        _ line: String, _ fields: [String] = [], _ middleware: [any Middleware],
        configure: (inout Configuration) -> Void = { _ in }, _ routes: (inout Routes) -> Void
    ) throws -> ChangeEventClient.Answer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.middleware = middleware
        configure(&configuration)
        let server = try WebServer(configuration: configuration, routes)
        let address = try server.start()[0]
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        return try ChangeEventClient(address: address).send(line, fields)
    }

    private static func routes(_ routes: inout Routes) {
        routes.get("/new") { request in
            .text("new \(String(decoding: request.target.rawPath, as: UTF8.self))")
        }
        routes.get("/fails") { _ in throw HTTPError(.conflict, "two at a time") }
    }

    /// The bytes of a connection, and how often it was closed.
    private struct Traffic {
        var received: [UInt8] = []
        var sent: [UInt8] = []
        var ends = 0
    }

    @Test(arguments: [10, 400_000])
    func w040TapSeesTheBytesOfAConnection(size: Int) throws {
        let traffic = Mutex(Traffic())
        let answer = try Self.answer("GET /big", ["X-Mark: here"], []) {
            $0.connections.tap = { ends in
                guard ends.remote.isLoopback else { return nil }
                return ByteTap(
                    received: { bytes in
                        let copy = Self.copy(bytes)
                        traffic.withLock { $0.received += copy }
                    },
                    sent: { bytes in
                        let copy = Self.copy(bytes)
                        traffic.withLock { $0.sent += copy }
                    },
                    closed: { traffic.withLock { $0.ends += 1 } })
            }
        } _: { routes in
            routes.get("/big") { _ in
                HTTPResponse(status: .ok, body: .bytes([UInt8](repeating: 0x61, count: size)))
            }
        }
        let seen = traffic.withLock { $0 }
        let request = String(decoding: seen.received, as: UTF8.self)
        #expect(request.hasPrefix("GET /big HTTP/1.1\r\n"))
        #expect(request.hasSuffix("X-Mark: here\r\n\r\n"))
        #expect(answer.content.utf8.count == size)
        #expect(String(decoding: seen.sent, as: UTF8.self) == answer.text)
        #expect(seen.ends == 1)
    }

    private static func copy(_ bytes: borrowing Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }

    @Test func w041TargetIsRewrittenBeforeRouting() throws {
        let rewriting = BeforeHandling { request throws(HTTPError) in
            if request.target.rawPath == Array("/old".utf8) { try request.rewriteTarget(to: "/new") }
            return nil
        }
        #expect(try Self.answer("GET /old", [], [rewriting], Self.routes).content == "new /new")
        #expect(try Self.answer("GET /other", [], [rewriting], Self.routes).status == 404)
    }

    @Test func w042MiddlewareResponseEndsTheRequest() throws {
        let closed = BeforeHandling { _ throws(HTTPError) in HTTPResponse(status: .serviceUnavailable) }
        #expect(try Self.answer("GET /new", [], [closed], Self.routes).status == 503)
    }

    @Test func w043ProcessingCanBeReplaced() throws {
        struct Replacing: Middleware {
            func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
                try next.respond(to: request).map { _ in .text("instead") }
            }
        }
        #expect(try Self.answer("GET /new", [], [Replacing()], Self.routes).content == "instead")
    }

    @Test func w044ResponseCanBeReadAndReplaced() throws {
        let marking = AfterHandling { request, response throws(HTTPError) in
            var response = response
            response.fields.append(named: "X-Seen-By", request.remoteAddress?.host ?? "nobody")
            return response
        }
        let answer = try Self.answer("GET /new", [], [marking], Self.routes)
        #expect(answer.content == "new /new")
        #expect(answer["X-Seen-By"] == "127.0.0.1")
    }

    @Test func w045ErrorAbortsWithItsStatus() throws {
        #expect(try Self.answer("GET /fails", [], [], Self.routes).status == 409)
        let aborting = BeforeHandling { _ throws(HTTPError) in throw HTTPError(.forbidden, "not today") }
        #expect(try Self.answer("GET /new", [], [aborting], Self.routes).status == 403)
    }

    @Test func w047RequestKnowsItsConnection() throws {
        let answer = try Self.answer("GET /who", [], []) { routes in
            routes.get("/who") { request in
                .text("\(request.remoteAddress?.isIPv6 ?? true) \(request.localAddress?.host ?? "")")
            }
        }
        #expect(answer.content == "false 127.0.0.1")
    }
}
