import Davit
import DavitHTTP
import DavitMetrics
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// The limit on requests in progress, over connections.
@Suite(.timeLimit(.minutes(15)))
struct RequestLimitServerTests {
    /// A number of bytes that exceeds the buffers of a connection.
    private static let largeBytes = 40 << 20
    private static let ofAnna = "Authorization: Basic YW5uYTpzZWNyZXQ=\r\n"
    private static let ofBert = "Authorization: Basic YmVydDpvdGhlcg==\r\n"

    private func serve(_ body: (WebServer, BoundAddress) async throws -> Void) async throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.requestWait = .seconds(3600)
        configuration.collectsMetrics = true
        configuration.maxRequestsPerAccount = 1
        configuration.accounts = [
            .init(name: "anna", password: "secret"), .init(name: "bert", password: "other"),
        ]
        let large = [UInt8](repeating: 97, count: Self.largeBytes)
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/large") { _ in .bytes(large, type: "text/plain") }
            routes.get("/small") { _ in .text("small") }
        }
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try await body(server, try #require(addresses.first))
    }

    private func begin(_ address: BoundAddress, _ path: String, _ credentials: String) throws -> RawConnection
    {
        let connection = try RawConnection(address)
        try connection.send(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(credentials)\r\n")
        return connection
    }

    private func waiting(_ server: WebServer) async -> Metric.Value? {
        await server.metrics().first { $0.name == "davit_requests_waiting" }?.samples.first?.value
    }

    /// A download counts until its last byte has been sent; the requests of other accounts do not wait.
    @Test func downloadCountsUntilItsEnd() async throws {
        try await serve { server, address async throws in
            let download = try begin(address, "/large", Self.ofAnna)
            #expect(download.wait(for: "200 OK\r\n"))
            let waiting = try begin(address, "/small", Self.ofAnna)
            while await self.waiting(server) == .number(0) { await Task.yield() }
            #expect(try begin(address, "/small", Self.ofBert).wait(for: "\r\n\r\nsmall"))
            #expect(await self.waiting(server) == .number(1))

            let received = try #require(download.bytesToEnd())
            #expect(received > Self.largeBytes)
            #expect(waiting.wait(for: "\r\n\r\nsmall"))
        }
    }

    /// A download whose client disconnects no longer counts.
    @Test func disconnectedDownloadDoesNotCount() async throws {
        try await serve { server, address async throws in
            do {
                let download = try begin(address, "/large", Self.ofAnna)
                #expect(download.wait(for: "200 OK\r\n"))
            }
            #expect(try begin(address, "/small", Self.ofAnna).wait(for: "\r\n\r\nsmall"))
        }
    }
}
