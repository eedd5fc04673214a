import DavitHTTP
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// Messages that implementations interpret differently, sent to a complete server over a socket (RFC 9112
/// §11.2). Each is refused or interpreted in exactly one way, regardless of how it is split, and nothing is
/// executed after a refusal.
///
/// Serialized, because the tests block on sockets on threads that other tests need.
@Suite(.serialized)
struct MessageCorpusTests {
    static let all =
        CorpusMessage.requestLines + CorpusMessage.fields + CorpusMessage.lengths
        + CorpusMessage.transferCodings + CorpusMessage.chunks + CorpusMessage.connections

    @Test func corpusMessagesAreDistinct() {
        #expect(Set(Self.all.map(\.bytes)).count == Self.all.count)
        #expect(Self.all.count { $0.refusal != nil } >= 100)
    }

    @Test(arguments: all)
    func messageHasOneInterpretation(message: CorpusMessage) throws {
        let witness = Witness()
        let server = try TestServer(handler: witness.echo)
        try expect(message, sent: [Self.whole(message)], to: server, witness)
    }

    /// Requests that are answered without a task are interpreted in the same way.
    @Test(arguments: all)
    func interpretationIsTheSameInline(message: CorpusMessage) throws {
        let witness = Witness()
        let server = try TestServer(ready: witness.echoInline, handler: witness.echo)
        try expect(message, sent: [Self.whole(message)], to: server, witness)
    }

    @Test(arguments: all)
    func interpretationIsTheSameSplitAnywhere(message: CorpusMessage) throws {
        let witness = Witness()
        let server = try TestServer(ready: witness.echoInline, handler: witness.echo)
        let bytes = Self.whole(message)
        // Long messages are uniform in the middle, and with TLS each handshake is expensive, so in these
        // cases not every position is tested.
        let step = bytes.count > 1000 ? 997 : Wire.isSecure ? 13 : 1
        // The message is followed by a plain request, whose splitting is covered by other tests.
        let end = bytes.count - CorpusMessage.second.utf8.count + 3
        for position in stride(from: 1, to: end, by: step) {
            let pieces = [Array(bytes[..<position]), Array(bytes[position...])]
            try expect(message, sent: pieces, to: server, witness)
        }
        if bytes.count <= 1000 { try expect(message, sent: bytes.map { [$0] }, to: server, witness) }
    }

    /// Parses only the head, without a socket, which might join the pieces again.
    @Test(arguments: all)
    func headParsesIdenticallyInPieces(message: CorpusMessage) {
        let bytes = Self.whole(message)
        guard bytes.count <= 1000 else { return }
        let whole = HeadFeed().whole(bytes)
        #expect(whole != .incomplete)
        #expect(HeadFeed().byteByByte(bytes) == whole)
        for position in 0...bytes.count { #expect(HeadFeed().split(bytes, at: position) == whole) }
    }

    private static func whole(_ message: CorpusMessage) -> [UInt8] {
        let parts = message.bytes.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        return Array(parts.joined(separator: [UInt8](repeating: UInt8(ascii: "a"), count: 40_000)))
    }

    private func expect(
        _ message: CorpusMessage, sent pieces: [[UInt8]], to server: TestServer, _ witness: Witness
    ) throws {
        witness.forget()
        let peer = try server.connect()
        var responses: [Response] = []
        do {
            for piece in pieces { try peer.send(piece) }
            peer.shutDownWriting()
        } catch Peer.Failure.failed where message.endsWithoutRefusal {
            // The server has already closed the connection as requested.
        }
        while let response = try Self.next(from: peer, of: message) { responses.append(response) }

        let sizes = pieces.map(\.count)
        let texts = responses.filter { $0.status == 200 }.map(\.text)
        #expect(texts == message.answers, "in pieces of \(sizes)")
        #expect(witness.answered == message.answers, "in pieces of \(sizes)")
        #expect(responses.dropFirst(texts.count).map(\.status) == [message.refusal].compactMap(\.self))
        if message.refusal != nil {
            #expect(responses.last?["connection"] == "close")
            #expect(responses.last?["content-length"] != nil)
        }
    }

    /// Returns the next final response; nil if the connection was closed.
    private static func next(from peer: Peer, of message: CorpusMessage) throws -> Response? {
        do {
            while true {
                let response = try peer.response()
                if response.status != 100 { return response }
            }
        } catch Peer.Failure.closed {
            return nil
        } catch Peer.Failure.failed where message.endsWithoutRefusal {
            // Input that arrives after the close resets the connection; the responses sent before have
            // arrived.
            return nil
        }
    }

    /// An echo handler that records its responses.
    private final class Witness: Sendable {
        private let texts = Mutex<[String]>([])

        var answered: [String] { texts.withLock { $0 } }

        func forget() { texts.withLock { $0.removeAll() } }

        @Sendable func echo(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            answer(request, try await TestServer.read(request))
        }

        @Sendable func echoInline(_ request: HTTPRequest) -> HTTPResponse? {
            if request.framing == .none { return answer(request, []) }
            return request.body.arrived.map { answer(request, $0) }
        }

        private func answer(_ request: HTTPRequest, _ content: [UInt8]) -> HTTPResponse {
            let path = String(decoding: request.target.rawPath, as: UTF8.self)
            let text = "\(request.method.rawValue) \(path) \(String(decoding: content, as: UTF8.self))"
            texts.withLock { $0.append(text) }
            return HTTPResponse(status: .ok, body: .bytes(Array(text.utf8)))
        }
    }
}
