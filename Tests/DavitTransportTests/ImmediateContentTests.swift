import DavitHTTP
import DavitSystem
import DavitTransport
import Testing

/// Content that waits for events, and clients that disconnect during the wait.
@Suite(.timeLimit(.minutes(15)))
struct ImmediateContentTests {
    /// Sends one message, and then nothing until its task is cancelled.
    private final class Silence: BodyStream {
        private let isGone: AsyncSignal
        private var hasBegun = false
        var flushesImmediately: Bool { true }

        init(_ isGone: AsyncSignal) { self.isGone = isGone }

        deinit { isGone.open() }

        func next(into buffer: IOBuffer) async throws(HTTPError) {
            if !hasBegun {
                hasBegun = true
                _ = buffer.append(Array("hello".utf8))
                return
            }
            let isCancelled = AsyncSignal()
            await withTaskCancellationHandler {
                await isCancelled.wait()
            } onCancel: {
                isCancelled.open()
            }
        }
    }

    private static let get = "GET /live HTTP/1.1\r\nHost: h\r\n\r\n"

    private static func server(_ isGone: AsyncSignal) throws -> TestServer {
        try TestServer(handler: { _ in HTTPResponse(status: .ok, body: .stream(Silence(isGone))) })
    }

    @Test func closedConnectionIsDetectedImmediately() async throws {
        let isGone = AsyncSignal()
        let server = try Self.server(isGone)
        do {
            let peer = try server.connect()
            try peer.send(Self.get)
            #expect(try peer.readHead().status == 200)
        }
        await isGone.wait()
        _ = server
    }

    /// When a tab is closed, the browser only shuts down its sending side. If the server did not check for
    /// this, only a later write would reveal that the browser no longer reads.
    @Test func halfClosedConnectionIsDetectedImmediately() async throws {
        let isGone = AsyncSignal()
        let server = try Self.server(isGone)
        let peer = try server.connect()
        try peer.send(Self.get)
        #expect(try peer.readHead().status == 200)
        peer.shutDownWriting()
        await isGone.wait()
        _ = server
    }

    @Test func disconnectBeforeTheStreamBeginsIsDetected() async throws {
        let isGone = AsyncSignal()
        let server = try Self.server(isGone)
        let peer = try server.connect()
        try peer.send(Self.get)
        peer.shutDownWriting()
        await isGone.wait()
        _ = server
    }
}
