#if TLS
import DavitCrypto
import DavitHTTP
import DavitTesting
import Testing

/// A server session, a client, and the connection between them.
final class TLSConversation {
    var server: TLSSession
    let client: TLSTestClient
    /// Maximum bytes per transfer, in either direction.
    let pieceBytes: Int

    init(
        _ context: TLSContext, _ options: TLSTestClient.Options = .init(), now: Timestamp = TestPKI.now,
        pieceBytes: Int = .max
    ) throws {
        server = try TLSSession(context, now: now)
        client = try TLSTestClient(options)
        self.pieceBytes = pieceBytes
    }

    /// Creates a server with one certificate, for `localhost`.
    convenience init(
        clients: ClientCertificates = .off, _ options: TLSTestClient.Options = .init(),
        pieceBytes: Int = .max
    ) throws {
        let context = try TLSContext(
            identities: [try TestPKI.server.get()], clients: clients, tickets: TicketKeys(now: TestPKI.now))
        try self.init(context, options, pieceBytes: pieceBytes)
    }

    /// Transfers bytes until neither side has more to send, and returns the state of both sides.
    @discardableResult
    func performHandshake() -> (server: TLSSession.Handshake, client: TLSTestClient.State) {
        var serverState = TLSSession.Handshake.needsInput
        var clientState = client.handshake()
        while true {
            let toServer = client.takeOutput()
            forEachPiece(toServer) { piece in
                feedServer(piece)
                serverState = server.handshake()
            }
            let toClient = takeServerOutput()
            forEachPiece(toClient) { piece in
                client.receive(piece)
                if clientState == .needsInput { clientState = client.handshake() }
            }
            if toServer.isEmpty && toClient.isEmpty { return (serverState, clientState) }
        }
    }

    func feedServer(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe server.receive($0) } }

    /// Returns the pending output in one piece, as it would be sent.
    func takeServerOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe server.withOutput { output in
            bytes = unsafe Array(output)
            return output.count
        }
        return bytes
    }

    /// Sends bytes from the server, a full output at a time, and returns what the client received.
    func sendFromServer(_ bytes: [UInt8]) throws -> [UInt8] {
        var got: [UInt8] = []
        var sent = 0
        while sent < bytes.count {
            let taken = try unsafe bytes[sent...].withUnsafeBytes { try unsafe server.write($0) }
            try #require(taken > 0)
            sent += taken
            got += deliverToClient()
        }
        return got
    }

    func deliverToClient() -> [UInt8] {
        var got: [UInt8] = []
        forEachPiece(takeServerOutput()) { piece in
            client.receive(piece)
            got += client.read().bytes
        }
        return got
    }

    /// Sends bytes from the client, and returns what the server received, and its state.
    func sendFromClient(_ bytes: [UInt8], room: Int = 20_000) -> (bytes: [UInt8], last: TLSSession.Reading) {
        client.write(bytes)
        var got: [UInt8] = []
        var last = TLSSession.Reading.needsInput
        forEachPiece(client.takeOutput()) { piece in
            feedServer(piece)
            (got, last) = readAll(after: got, room: room)
        }
        return (got, last)
    }

    func readAll(after start: [UInt8] = [], room: Int = 20_000) -> ([UInt8], TLSSession.Reading) {
        var got = start
        while true {
            let (bytes, reading) = read(room: room)
            guard case .bytes = reading else { return (got, reading) }
            got += bytes
        }
    }

    /// Makes a single read call.
    func read(room: Int = 20_000) -> (bytes: [UInt8], reading: TLSSession.Reading) {
        var part = [UInt8](repeating: 0, count: room)
        let reading = unsafe part.withUnsafeMutableBytes { unsafe server.read(into: $0) }
        guard case .bytes(let count) = reading else { return ([], reading) }
        return (Array(part[..<count]), reading)
    }

    private func forEachPiece(_ bytes: [UInt8], _ body: ([UInt8]) -> Void) {
        var start = 0
        while start < bytes.count {
            let end = start + min(pieceBytes, bytes.count - start)
            body(Array(bytes[start..<end]))
            start = end
        }
    }
}
#endif
