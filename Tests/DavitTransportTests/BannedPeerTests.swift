import DavitHTTP
import DavitTransport
import Synchronization
import Testing

/// The connections of banned addresses.
@Suite(.timeLimit(.minutes(15)))
struct BannedPeerTests {
    private static let request = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func connectionsOfBannedAddressesAreClosed() async throws {
        let isBanned = Atomic<Bool>(true)
        let server = try TestServer {
            $0.isBanned = { $0.host == "127.0.0.1" && isBanned.load(ordering: .relaxed) }
        }
        let refused = try server.connect(secured: false)
        #expect((try? refused.rest()) ?? [] == [])
        await server.wait(for: .connectionRefused)
        isBanned.store(false, ordering: .relaxed)
        let accepted = try server.connect()
        try accepted.send(Self.request)
        #expect(try accepted.response().text == "GET /a ")
    }

    /// Open connections are aborted: those that are idle, and those with a request in flight.
    @Test func openConnectionsAreAborted() async throws {
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let server = try TestServer(handler: { request async throws(HTTPError) in
            guard request.method == .put else { return try await TestServer.echo(request) }
            hasBegun.yield()
            return try await TestServer.echo(request)
        })
        let idle = try server.connect()
        try idle.send(Self.request)
        #expect(try idle.response().text == "GET /a ")
        let busy = try server.connect()
        try busy.send("PUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nx")
        for await _ in began { break }

        // Others are not affected.
        server.server.abortConnections { $0.host == "192.0.2.1" }
        try idle.send(Self.request)
        #expect(try idle.response().text == "GET /a ")

        server.server.abortConnections { $0.host == "127.0.0.1" }
        #expect((try? idle.rest()) ?? [] == [])
        #expect((try? busy.rest()) ?? [] == [])
        let later = try server.connect()
        try later.send(Self.request)
        #expect(try later.response().text == "GET /a ")
    }
}
