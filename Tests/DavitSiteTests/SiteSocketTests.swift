import DavitHTTP
import DavitLogging
import DavitServer
import DavitSite
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// A website over a real connection.
struct SiteSocketTests {
    @Test func websiteIsServedOverASocket() throws {
        let folder = try WebFolder(["index.html", "docs/index.html", "404.html"])
        let big = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        folder.write("big.bin", big)
        folder.write("long.txt", [UInt8](repeating: 0x61, count: 200_000))
        let site = try folder.site()
        let router = Router { routes in
            routes.mount("/", site)
            routes.get("/api") { _ in .text("api") }
        }
        for handler in [site as any Handler, router] {
            var configuration = TransportConfiguration(endpoints: [.init(host: "127.0.0.1", port: 0)])
            configuration.loops = 1
            configuration.grace = .zero
            configuration.deadlines = .ofTests
            let server = Self.server(configuration, handler)
            defer { server.shutdown() }
            let address = try #require(try server.start().first)
            let client = try Client(port: address.port)
            // One connection, as in a browser; requests are repeated so that files stay open.
            for _ in 0..<4 {
                #expect(try client.get("/").body == Array("index.html".utf8))
                #expect(try client.get("/docs").head.hasPrefix("HTTP/1.1 301 "))
                #expect(try client.get("/docs").head.contains("\r\nLocation: /docs/\r\n"))
                #expect(try client.get("/docs/").body == Array("docs/index.html".utf8))
                #expect(try client.get("/missing").head.hasPrefix("HTTP/1.1 404 "))
                #expect(try client.get("/big.bin").body == big)
                #expect(
                    try client.get("/big.bin", ["Range: bytes=100-199"]).body == Array(big[100..<200]))
                let coded = try client.get("/long.txt", ["Accept-Encoding: gzip"])
                #expect(coded.head.contains("\r\nContent-Encoding: gzip\r\n"))
                #expect(coded.body.count < 2000)
            }
        }
    }

    private static func server(
        _ configuration: TransportConfiguration, _ handler: some Handler
    ) -> HTTPServer {
        HTTPServer(configuration: configuration, handler: handler, log: Log(level: .error))
    }
}

/// Sends requests and reads the responses. Calls block.
private final class Client {
    private let socket: FileDescriptor
    private var received: [UInt8] = []

    enum Failure: Error { case closed, malformed }

    init(port: UInt16) throws {
        socket = try Socket.connect(to: .ipv4Loopback(port: port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
    }

    func get(_ target: String, _ fields: [String] = []) throws -> (head: String, body: [UInt8]) {
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost"] + fields
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        guard
            case .bytes(request.count) = unsafe request.withUnsafeBytes({
                unsafe Socket.send(socket.rawValue, $0)
            })
        else { throw Failure.closed }
        let head = String(decoding: try take(through: "\r\n\r\n"), as: UTF8.self)
        if let length = head.firstMatch(of: /\r\nContent-Length: (\d+)\r\n/) {
            return (head, try take(try #require(Int(length.1))))
        }
        guard head.contains("\r\nTransfer-Encoding: chunked\r\n") else { throw Failure.malformed }
        var body: [UInt8] = []
        while true {
            let line = String(decoding: try take(through: "\r\n").dropLast(2), as: UTF8.self)
            let chunk = try take(try #require(Int(line, radix: 16)) + 2).dropLast(2)
            if chunk.isEmpty { return (head, body) }
            body += chunk
        }
    }

    private func take(through mark: String) throws -> [UInt8] {
        while true {
            if let end = received.firstRange(of: Array(mark.utf8)) { return try take(end.upperBound) }
            try receive()
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while received.count < count { try receive() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private func receive() throws {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let outcome = unsafe piece.withUnsafeMutableBytes { unsafe Socket.receive(socket.rawValue, into: $0) }
        guard case .bytes(let count) = outcome, count > 0 else { throw Failure.closed }
        received += piece[..<count]
    }
}
