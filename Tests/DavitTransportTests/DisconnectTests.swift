import DavitHTTP
import DavitSystem
import DavitTransport
import Testing

/// Clients that disconnect while their request is being processed, before a response is sent.
@Suite(.timeLimit(.minutes(15)))
struct DisconnectTests {
    private static let get = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"

    /// How the client disconnects.
    enum End: CaseIterable { case close, reset, halfClose }

    /// Creates a server whose handler waits until its task is cancelled.
    private static func server(_ hasBegun: AsyncSignal, _ isCancelled: AsyncSignal) throws -> TestServer {
        try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            hasBegun.open()
            await withTaskCancellationHandler {
                await isCancelled.wait()
            } onCancel: {
                isCancelled.open()
            }
            return HTTPResponse(status: .ok, body: .bytes(Array("short".utf8)))
        }
    }

    @Test(arguments: End.allCases)
    func disconnectCancelsTheTaskOfTheRequest(end: End) async throws {
        let (hasBegun, isCancelled) = (AsyncSignal(), AsyncSignal())
        let server = try Self.server(hasBegun, isCancelled)
        var peer: Peer? = try server.connect()
        try peer?.send(Self.get)
        await hasBegun.wait()
        switch end {
        case .close: peer = nil
        case .reset:
            try peer?.resetOnClose()
            peer = nil
        case .halfClose: peer?.shutDownWriting()
        }
        await isCancelled.wait()
        // A short response is still sent.
        if let peer { #expect(try peer.response().text == "short") }
    }

    @Test func disconnectBeforeTheTaskBeginsCancelsIt() async throws {
        let (hasBegun, isCancelled) = (AsyncSignal(), AsyncSignal())
        let server = try Self.server(hasBegun, isCancelled)
        let peer = try server.connect()
        try peer.send(Self.get)
        peer.shutDownWriting()
        await isCancelled.wait()
        #expect(try peer.response().text == "short")
    }

    @Test func connectedClientIsNotCancelled() async throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: Task.isCancelled ? .serviceUnavailable : .ok)
        }
        let peer = try server.connect()
        for _ in 0..<3 {
            try peer.send(Self.get)
            #expect(try peer.response().status == 200)
        }
    }
}
