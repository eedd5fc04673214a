import DavitHTTP
import DavitLogging
import DavitServer
import DavitTransport
import Synchronization
import Testing

/// Connection callbacks of an application.
@Suite(.timeLimit(.minutes(15)))
struct ConnectionHookTests {
    /// Recorded events, in order.
    private final class RecordedEvents<Thing: Sendable>: Sendable {
        private let things = Mutex<[Thing]>([])

        var all: [Thing] { things.withLock { $0 } }

        func add(_ thing: Thing) { things.withLock { $0.append(thing) } }
    }

    private static let last = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test func w039ConnectionIsRefusedByItsAddress() async throws {
        let seen = RecordedEvents<ConnectionEndpoints>()
        let isOpen = Atomic<Bool>(false)
        let server = try TestServer {
            $0.acceptsConnection = { ends in
                seen.add(ends)
                return isOpen.load(ordering: .relaxed)
            }
        }
        let refused = try server.connect(secured: false)
        #expect((try? refused.rest()) ?? [] == [])
        await server.wait(for: .connectionRefused)
        isOpen.store(true, ordering: .relaxed)
        let accepted = try server.connect()
        try accepted.send(Self.last)
        #expect(try accepted.response().text == "GET /a ")
        #expect(seen.all.map(\.remote.host) == ["127.0.0.1", "127.0.0.1"])
        #expect(Set(seen.all.map(\.remote.port)).count == 2)
        #expect(
            seen.all.map(\.local.description) == [
                server.addresses[0].authority, server.addresses[0].authority,
            ])
    }

    /// A refused connection does not count against the limit.
    @Test func w039RefusedConnectionsDoNotCount() async throws {
        let isOpen = Atomic<Bool>(false)
        let occupied = RecordedEvents<Bool>()
        let server = try TestServer {
            $0.maxConnectionsPerAddress = 1
            $0.acceptsConnection = { _ in isOpen.load(ordering: .relaxed) }
            $0.occupancy = { occupied.add($0) }
        }
        for _ in 0..<3 {
            let refused = try server.connect(secured: false)
            #expect((try? refused.rest()) ?? [] == [])
            await server.wait(for: .connectionRefused)
        }
        #expect(occupied.all == [])
        isOpen.store(true, ordering: .relaxed)
        let accepted = try server.connect()
        try accepted.send(Self.last)
        #expect(try accepted.response().text == "GET /a ")
        #expect(occupied.all.first == true)
    }

    static let places = ["127.0.0.1", "::1", "*"]

    @Test(arguments: places)
    func w047RequestKnowsBothEndpoints(place: String) throws {
        let server = try TestServer {
            $0.endpoints = [.init(host: place, port: 0)]
        } handler: { request throws(HTTPError) in
            let ends = "\(request.localAddress?.description ?? "") \(request.remoteAddress?.host ?? "")"
            return HTTPResponse(status: .ok, body: .bytes(Array("\(ends) \(request.peerAddress)".utf8)))
        }
        for address in server.addresses {
            let host = address.host.contains(":") ? "::1" : "127.0.0.1"
            let target = BoundAddress(host: host, port: address.port)
            let peer = try Peer(target)
            for _ in 0..<2 {
                try peer.send(RequestTests.get)
                #expect(try peer.response().text == "\(target.authority) \(host) \(host)")
            }
        }
    }

    /// Content that is sent by different code paths.
    static let bodies: [(name: String, size: Int)] = [
        ("small", 10), ("array", 300_000), ("file", 2_000_000), ("stream", 100_000),
    ]

    @Test(arguments: bodies)
    func w040BytesOfAConnectionAreCounted(name: String, size: Int) async throws {
        let records = RecordedEvents<ConnectionRecord>()
        let server = try TestServer {
            $0.connectionClosed = { records.add($0) }
        } handler: { request throws(HTTPError) in
            _ = try await TestServer.read(request)
            let content = [UInt8](repeating: 0x61, count: size)
            switch name {
            case "file":
                guard let file = try? TestFile(content) else {
                    throw HTTPError(.internalServerError, "no file")
                }
                return HTTPResponse(status: .ok, body: .file(file, offset: 0, length: Int64(size)))
            case "stream": return HTTPResponse(status: .ok, body: .stream(PiecewiseStream(content, of: 777)))
            default: return HTTPResponse(status: .ok, body: .bytes(content))
            }
        }
        let sent = RequestTests.put + Self.last
        do {
            let peer = try server.connect()
            try peer.send(sent)
            let received = try peer.rest()
            #expect(received.count > 2 * size)
            await server.wait(for: .connectionClosed)
            let record = try #require(records.all.first)
            #expect(record.bytesReceived == sent.utf8.count)
            #expect(record.bytesSent == received.count)
            #expect(record.duration >= .zero)
            #expect(record.endpoints.local.description == server.addresses[0].authority)
            #expect(record.endpoints.remote.isLoopback)
        }
        #expect(records.all.count == 1)
    }

    @Test func w046ConnectionWithoutARequestIsReported() async throws {
        let records = RecordedEvents<ConnectionRecord>()
        let server = try TestServer { $0.connectionClosed = { records.add($0) } }
        do { try server.connect().shutDownWriting() }
        await server.wait(for: .connectionClosed)
        #expect(records.all.map(\.bytesReceived) == [0])
        #expect(records.all.map(\.bytesSent) == [0])
    }
}
