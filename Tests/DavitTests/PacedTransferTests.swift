import Davit
import DavitHTTP
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Transfers at a limited rate. The tests check only that time passes, not that it does not pass.
@Suite(.timeLimit(.minutes(15)))
struct PacedTransferTests {
    private static let rate = 1 << 20
    private static let content = [UInt8](repeating: 97, count: 2 * rate)

    private func serve(
        rate: Int = Self.rate, _ body: (WebServer, BoundAddress) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        try SmallFiles.write(String(decoding: Self.content, as: UTF8.self), to: folder.path + "/file")
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.maxRatePerAddress = rate
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/bytes") { _ in .bytes(Self.content, type: "text/plain") }
            routes.get("/small") { _ in .text("small") }
            routes.mount("/files", WebDAVShare(folder.path))
        }
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, address)
    }

    /// Two seconds of content, of which that of the first second is not slowed down.
    private func expectWaiting(_ work: () throws -> Void) rethrows {
        let start = Clock.now()
        try work()
        #expect(Clock.now() - start >= 800_000_000)
    }

    @Test(arguments: ["/bytes", "/files/file"])
    func downloadsAreSlowedDown(path: String) throws {
        try serve { _, address throws in
            let client = ChangeEventClient(address: address)
            try expectWaiting {
                let answer = try client.send("GET \(path)")
                #expect(answer.status == 200 && Array(answer.content.utf8) == Self.content)
            }
        }
    }

    @Test(arguments: [false, true])
    func uploadsAreSlowedDown(isChunked: Bool) throws {
        try serve { _, address throws in
            let connection = try RawConnection(address)
            let text = String(decoding: Self.content, as: UTF8.self)
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(Self.content.count)"
            try expectWaiting {
                try connection.send(
                    "PUT /files/new HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(framing)\r\n\r\n")
                if isChunked { try connection.send(String(Self.content.count, radix: 16) + "\r\n") }
                try connection.send(text)
                if isChunked { try connection.send("\r\n0\r\n\r\n") }
                #expect(connection.wait(for: "201 Created\r\n"))
            }
            #expect(
                try ChangeEventClient(address: address).send("HEAD /files/new")["Content-Length"]
                    == "\(Self.content.count)")
        }
    }

    /// Each range is small, but not all of them.
    @Test func manyRangesAreSlowedDown() throws {
        try serve { _, address throws in
            let ranges = (0..<60).map { "\($0 * 34_000)-\($0 * 34_000 + 32_000)" }.joined(separator: ",")
            try expectWaiting {
                let answer = try ChangeEventClient(address: address).send(
                    "GET /files/file", ["Range: bytes=\(ranges)"])
                #expect(answer.status == 206 && answer.content.utf8.count > 60 * 32_000)
            }
        }
    }

    /// An upload that has used up the rate for hours delays neither its own response nor downloads.
    @Test func uploadsDoNotDelayDownloads() throws {
        try serve(rate: 1) { _, address throws in
            let client = ChangeEventClient(address: address)
            let text = String(repeating: "a", count: 10_000)
            #expect(try client.send("PUT /files/new", content: text).status == 201)
            #expect(try client.send("HEAD /files/new")["Content-Length"] == "10000")
            #expect(try client.send("GET /small").content == "small")
        }
    }

    /// Small responses are charged, too, and then wait.
    @Test func smallResponsesShareTheRate() throws {
        try serve(rate: 1024) { _, address throws in
            let client = ChangeEventClient(address: address)
            let start = Clock.now()
            for _ in 0..<410 { #expect(try client.send("GET /small").status == 200) }
            // 2,050 bytes.
            #expect(Clock.now() - start >= 900_000_000)
        }
    }

    /// The server stops although a download would take an hour.
    @Test func shutdownEndsAPause() throws {
        try serve(rate: 1024) { server, address throws in
            let connection = try RawConnection(address)
            try connection.send("GET /bytes HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(connection.wait(for: "200 OK\r\n"))
            server.shutdown()
            server.waitUntilStopped()
            withExtendedLifetime(connection) {}
        }
    }

    /// A client that disconnects early has used up the rate for what it has received.
    @Test func disconnectedDownloadIsCharged() throws {
        try serve { _, address throws in
            try expectWaiting {
                do {
                    let connection = try RawConnection(address)
                    try connection.send("GET /bytes HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(connection.wait(for: String(repeating: "a", count: Self.rate)))
                }
                #expect(try ChangeEventClient(address: address).send("GET /bytes").status == 200)
            }
        }
    }
}
