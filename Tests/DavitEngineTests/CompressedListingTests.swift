import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import DavitZlib
import Synchronization
import Testing

/// Multistatus responses compressed with gzip.
struct CompressedListingTests {
    static let fields = [("Depth", "infinity"), ("Accept-Encoding", "gzip")]

    /// Creates a share with two folders of `count` files each.
    private func share(_ count: Int) throws -> TestShare {
        let share = try TestShare()
        #expect(
            share.shell(
                "for f in a b; do mkdir $f; cd $f; seq -f 'member-%04g' \(count) | xargs touch; cd ..; done")
                == 0)
        return share
    }

    @Test func decompressedListingEqualsTheUncompressedListing() async throws {
        let share = try share(300)
        let plain = try await share.client.send("PROPFIND", "/", [("Depth", "infinity")])
        let client = TestClient(WebDAVHandler(share: share.share, page: nil).applying(Compression()))
        let coded = try await client.send("PROPFIND", "/", Self.fields)
        #expect(coded.status == 207)
        #expect(coded["Content-Encoding"] == "gzip")
        #expect(try Gzip.decode(coded.body) == plain.body)
        #expect(coded.body.count * 5 < plain.body.count)
        #expect(try await client.send("PROPFIND", "/", [("Depth", "infinity")]).body == plain.body)
    }

    /// The first members can be read before the store has listed the others.
    @Test func responseBeginsBeforeTheListingIsComplete() async throws {
        let share = try share(500)
        let gate = Latch(count: 1)
        let entered = Mutex(0)
        share.resources.watch { call in
            guard case .members = call else { return nil }
            // List the root and one of the folders; block the listing of the other folder.
            let isLast = entered.withLock { count in
                count += 1
                return count == 3
            }
            if isLast { gate.wait() }
            return nil
        }
        let handler = WebDAVHandler(share: share.share, page: nil).applying(Compression())
        let text = try await TestClient(Reading(handler: handler) { gate.countDown() })
            .send("PROPFIND", "/", Self.fields).text
        let parts = text.split(separator: "|")
        #expect(try #require(Int(parts[0])) > 50)
        #expect(parts[1] == "1003")
    }

    /// Stored files are never compressed (requirement 83 in docs/clients.md).
    @Test func storedFilesAreNotCompressed() async throws {
        let share = try TestShare()
        #expect(share.shell("yes text | head -n 5000 > file.txt") == 0)
        let client = TestClient(WebDAVHandler(share: share.share, page: nil).applying(Compression()))
        for method in ["GET", "HEAD"] {
            let plain = try await share.client.send(method, "/file.txt")
            let asked = try await client.send(method, "/file.txt", [("Accept-Encoding", "gzip")])
            #expect(asked.fields.encoded == plain.fields.encoded)
            #expect(asked.body == plain.body)
            #expect(asked["Content-Encoding"] == nil)
            #expect(asked["Vary"] == nil)
        }
    }
}

/// Reads the first piece of a response, runs a closure, and reads the rest. Replaces the body with the
/// counts of `response` elements in the first piece and in total.
private struct Reading<Next: Handler>: Handler {
    let handler: Next
    let between: @Sendable () -> Void

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        .pending { () async throws(HTTPError) in
            try await read(try await handler.respond(to: request).response())
        }
    }

    private func read(_ response: HTTPResponse) async throws(HTTPError) -> HTTPResponse {
        guard case .stream(let stream) = response.body, var inflater = try? Self.inflater() else {
            return .text("no stream")
        }
        let buffer = IOBuffer(capacity: 64 << 10)
        try await stream.next(into: buffer)
        var text = try Self.decode(buffer, &inflater)
        let first = Self.count(text)
        between()
        while true {
            buffer.removeAll()
            try await stream.next(into: buffer)
            if buffer.count == 0 { return .text("\(first)|\(Self.count(text))") }
            text += try Self.decode(buffer, &inflater)
        }
    }

    private static func inflater() throws -> Inflater {
        try Inflater(.gzip, limit: ExpansionLimit(bytes: 1 << 30, ratio: 2000))
    }

    private static func decode(_ buffer: IOBuffer, _ inflater: inout Inflater) throws(HTTPError) -> [UInt8] {
        let bytes = unsafe buffer.withBytes { unsafe Array($0) }
        do { return try Gzip.decode(bytes, &inflater) } catch {
            throw HTTPError(.internalServerError, "\(error)")
        }
    }

    private static func count(_ text: [UInt8]) -> Int {
        String(decoding: text, as: UTF8.self).ranges(of: "</D:response>").count
    }
}
