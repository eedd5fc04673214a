import DavitHTTP
import DavitServer
import DavitTesting
import DavitTransport
import DavitZlib
import Synchronization
import Testing

/// Compressed responses, as sent over a connection.
struct CompressedStreamTests {
    /// A stream of text lines that is not live; from line `closedFrom` on, it waits for the gate.
    private final class GatedLines: BodyStream {
        private let gate: AsyncStream<Void>
        private let closedFrom: Int
        private let count: Int
        private var line = 0

        init(_ count: Int, closedFrom: Int, gate: AsyncStream<Void>) {
            self.count = count
            self.closedFrom = closedFrom
            self.gate = gate
        }

        func next(into buffer: IOBuffer) async throws(HTTPError) {
            if line == closedFrom { for await _ in gate { break } }
            let end = line < closedFrom ? closedFrom : count
            while line < end, buffer.freeCount >= 40 {
                _ = buffer.append(Array("this is a line, and its number is \(line)\n".utf8.prefix(40)))
                line += 1
            }
        }
    }

    private static let head = "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"

    /// The client can read the beginning before the rest is generated.
    @Test(arguments: [2_000, 10_000])
    func beginningArrivesBeforeTheEnd(closedFrom: Int) async throws {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let server = try TestServer { _ in
        } handler: { request async throws(HTTPError) in
            let lines = Answer {
                .stream(GatedLines(20_000, closedFrom: closedFrom, gate: gate))
            }
            return try await lines.applying(Compression()).respond(to: request).response()
        }
        let peer = try server.connect()
        try peer.send(Self.head)
        let head = try peer.readHead()
        #expect(head["transfer-encoding"] == "chunked")
        #expect(head["content-encoding"] == "gzip")
        let first = try #require(try peer.chunk())
        var inflater = try Inflater(.gzip, limit: ExpansionLimit(bytes: 1 << 30, ratio: 2000))
        var text = try Gzip.decode(first, &inflater)
        #expect(text.starts(with: Array("this is a line, and its number is 0".utf8)))
        // The gate is still closed here.
        opening.yield()
        while let chunk = try peer.chunk() { text += try Gzip.decode(chunk, &inflater) }
        try inflater.finish()
        #expect(text.split(separator: 10).count == 20_000)
    }

    /// Short content has a Content-Length.
    @Test func shortContentIsSentWithItsLength() async throws {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        opening.yield()
        let server = try TestServer { _ in
        } handler: { request async throws(HTTPError) in
            let lines = Answer { .stream(GatedLines(1000, closedFrom: 0, gate: gate)) }
            return try await lines.applying(Compression()).respond(to: request).response()
        }
        let peer = try server.connect()
        try peer.send(Self.head)
        let response = try peer.response()
        #expect(response["content-length"] == "\(response.content.count)")
        #expect(response["content-encoding"] == "gzip")
        #expect(try Gzip.decode(response.content).split(separator: 10).count == 1000)
    }
}

private struct Answer: Handler {
    let make: @Sendable () -> HTTPBody

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        var response = HTTPResponse(status: .ok, body: make())
        response.fields.append(.contentType, "text/plain")
        return .ready(response)
    }
}
