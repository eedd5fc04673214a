import DavitLogging
import DavitRecording
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Tests the recorder without a server: bytes are fed in, and the files are compared.
struct RecorderTests {
    /// A piece of data from one side of a connection.
    enum Said {
        case client(String)
        case server(String)
    }

    /// Records one connection, and returns the text of its file; nil if no file was written.
    static func file(
        _ said: [Said], pieceBytes: Int = .max, limits: Recorder.Limits = .init(), closes: Bool = true
    ) throws -> String? {
        let folder = try TemporaryFolder()
        let recorder = try Recorder(folder: folder.path, limits: limits, log: Log(level: .error))
        let tap = try #require(recorder.tap(for: "192.0.2.1"))
        for part in said {
            switch part {
            case .client(let text):
                for piece in pieces(text, pieceBytes) {
                    unsafe piece.withUnsafeBytes { unsafe tap.received($0) }
                }
            case .server(let text):
                for piece in pieces(text, pieceBytes) { unsafe piece.withUnsafeBytes { unsafe tap.sent($0) } }
            }
        }
        if closes { tap.closed() }
        recorder.stop()
        guard let names = try PrivateFolder.names(in: folder.path), let name = names.first else { return nil }
        let file = try SmallFile(reading: folder.path + "/" + name)
        #expect(name == "000001.txt")
        #expect(file.mode == 0o600)
        return String(decoding: file.bytes, as: UTF8.self)
    }

    private static func pieces(_ text: String, _ size: Int) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        if size >= bytes.count { return [bytes] }
        return stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
    }

    static func parsed(_ text: String?) throws -> Transcript {
        try TranscriptParser.parse(Array(try #require(text).utf8))
    }

    static let session: [Said] = [
        .client("PUT /a%20b HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nfirst\r\n\u{0}\n"),
        .server("HTTP/1.1 201 Created\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n"),
        .client("GET /a%20b HTTP/1.1\r\nHost: h\r\n\r\nHEAD /c HTTP/1.0\r\nHost: h\r\n\r\n"),
        .server("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nlines\nof"),
        .server("HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\n"),
    ]

    @Test(arguments: [Int.max, 1, 2, 3, 7, 64])
    func exchangesAreWrittenInOrder(pieceBytes: Int) throws {
        let recording = try Self.parsed(try Self.file(Self.session, pieceBytes: pieceBytes))
        #expect(recording.kind == .recording)
        #expect(recording[fact: "Client"] == "192.0.2.1")
        #expect(recording.exchanges.map(\.method) == ["PUT", "GET", "HEAD"])
        #expect(recording.exchanges.map(\.order) == [1, 2, 3])
        #expect(recording.exchanges.map(\.statuses) == [[201], [200], [404]])
        #expect(recording.exchanges[0].content == .bytes(Array("first\r\n\u{0}\n".utf8)))
        #expect(recording.exchanges[1].answer?.content == .bytes(Array("lines\nof".utf8)))
        #expect(recording.exchanges[2].minorVersion == 0)
        #expect(recording.exchanges[2].answer?.fields["Content-Length"] == "7")
        #expect(recording.exchanges.allSatisfy { $0.gap == nil })
    }

    struct Content: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        var testDescription: String {
            "\(bytes.count) bytes: \(String(decoding: bytes.prefix(8), as: UTF8.self).debugDescription)"
        }
    }

    static let contents: [Content] =
        [
            "\n", " ", "  a", "a\n", "a\n\n", "\n\na", "|", ": x", "< 200", "=== 3", "\\n", "a\r\nb\r\n", "é",
            "\t", "\u{85}",
        ]
        .map { Content(bytes: Array($0.utf8)) }
        + [[0], [0xFF, 0x0A, 0xFE], [0xC3], Array(0...255), Array(repeating: 10, count: 200)]
        .map { Content(bytes: $0) }

    @Test(arguments: contents)
    func contentRoundTrips(row: Content) throws {
        let content = row.bytes
        let text = String(decoding: content.map { $0 < 128 ? $0 : 63 }, as: UTF8.self)
        #expect(try Self.roundTrip(Array(text.utf8)) == Array(text.utf8))
        #expect(try Self.roundTrip(content) == content)
    }

    @Test func randomContentRoundTrips() throws {
        var generator = SeededGenerator(seed: 75)
        for count in 1...60 {
            let content = (0..<(count * 7)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(try Self.roundTrip(content) == content)
        }
    }

    private static func roundTrip(_ content: [UInt8]) throws -> [UInt8]? {
        let head = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(content.count)\r\n\r\n"
        let folder = try TemporaryFolder()
        let recorder = try Recorder(folder: folder.path + "/r", log: Log(level: .error))
        let tap = try #require(recorder.tap(for: "192.0.2.1"))
        unsafe (Array(head.utf8) + content).withUnsafeBytes { unsafe tap.received($0) }
        unsafe Array("HTTP/1.1 204 No Content\r\n\r\n".utf8).withUnsafeBytes { unsafe tap.sent($0) }
        tap.closed()
        recorder.stop()
        let recording = try TranscriptParser.parse(SmallFile(reading: folder.path + "/r/000001.txt").bytes)
        switch recording.exchanges.first?.content {
        case .bytes(let bytes): return bytes
        case .fill(let byte, let count): return Array(repeating: byte, count: count)
        default: return nil
        }
    }

    static let secrets = [
        "Authorization: Basic c2VjcmV0", "authorization : Digest response=\"secret\"",
        "Authorization: secret",
        "PROXY-AUTHORIZATION: Bearer secret", "Cookie: id=secret; b=secret", "Cookie:\r\n\tsecret",
        "X-Api-Key: secret", "Destination: http://anna:secret@h/b",
        "If: <http://a@secret@h/x> (<urn:a>) <https://secret@h/y> (<urn:b>)",
    ]

    @Test(arguments: secrets)
    func credentialsAreMasked(line: String) throws {
        let text = try #require(
            try Self.file([
                .client("GET http://anna:secret@h/a HTTP/1.1\r\nHost: h\r\n\(line)\r\n\r\n"),
                .server(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: id=secret\r\nAuthentication-Info: rspauth=\"secret\"\r\n\r\n"
                ),
            ]))
        #expect(!text.contains("secret") && !text.contains("c2VjcmV0"))
        #expect(text.contains("***"))
        #expect(text.contains("Set-Cookie: ***"))
    }

    /// The forms of the account pages and the interface for administration contain passwords, and the responses recovery
    /// codes and app passwords.
    @Test(arguments: ["/?account", "/a/b.txt?account&lang=de", "/?accounts", "/?app-passwords"])
    func accountFormsAreOmitted(target: String) throws {
        let text = try #require(
            try Self.file([
                .client("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 15\r\n\r\npassword=secret"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"),
                .client("POST /?accountant HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nplain"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]))
        #expect(!text.contains("secret"))
        #expect(text.contains("~ omitted 15 -\n") && text.contains("~ omitted 6 -\n"))
        #expect(text.contains("plain"))
    }

    @Test func schemeOfCredentialsIsKept() throws {
        let request = "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Basic c2VjcmV0\r\n\r\n"
        let text = try Self.file([.client(request), .server("HTTP/1.1 204 No Content\r\n\r\n")])
        #expect(text?.contains("> Authorization: Basic ***\n") == true)
    }

    @Test func invalidRequestsAreNotWritten() throws {
        let text = try Self.file([
            .client("Authorization: Basic secret\r\nGET /secret\r\n\r\n"),
            .server("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        ])
        #expect(text?.contains("secret") == false)
        #expect(text?.contains("# The server sent 400 without a request.") == true)
        #expect(text?.contains("bytes of this connection are not in this file") == true)
    }

    @Test func longContentIsRecordedByLengthAndDigest() throws {
        var limits = Recorder.Limits()
        limits.contentBytes = 100
        let content = String(repeating: "ab", count: 500)
        let recording = try Self.parsed(
            try Self.file(
                [
                    .client("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n\(content)"),
                    .server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n\(content.prefix(100))"),
                ], pieceBytes: 64, limits: limits))
        #if TLS
        // printf 'ab%.0s' {1..500} | sha256sum
        let digest: String? = "bd224a350e0aa49ca9e089f136c4dc8fc22c785afb474b5abe0e94d0e9f60aee"
        #else
        let digest: String? = nil
        #endif
        #expect(recording.exchanges[0].content == .omitted(count: 1000, digest: digest))
        #expect(recording.exchanges[0].answer?.content == .bytes(Array(content.prefix(100).utf8)))
    }

    @Test func longUniformContentIsRecordedCompletely() throws {
        var limits = Recorder.Limits()
        limits.contentBytes = 100
        let content = String(repeating: "a", count: 1000)
        let recording = try Self.parsed(
            try Self.file(
                [
                    .client("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n\(content)"),
                    .server("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
                ], pieceBytes: 64, limits: limits))
        #expect(recording.exchanges[0].content == .fill(0x61, count: 1000))
    }

    @Test func droppedContentIsCountedAndRecordingContinues() throws {
        var limits = Recorder.Limits()
        limits.queueBytes = 200
        let head = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"
        let recording = try Self.parsed(
            try Self.file(
                [
                    .client(head), .client(String(repeating: "a", count: 1000)),
                    .server("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
                ], limits: limits))
        // Content above the queue limit: only its length is recorded.
        #expect(recording.exchanges[0].content == .omitted(count: 1000, digest: nil))
        #expect(recording.exchanges[0].statuses == [201])
    }

    @Test func droppedHeadEndsTheRecordingOfItsConnection() throws {
        var limits = Recorder.Limits()
        limits.queueBytes = 60
        let text = try #require(
            try Self.file(
                [
                    .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .server("HTTP/1.1 204 No\r\n\r\n"),
                    .client("GET /b HTTP/1.1\r\nX: \(String(repeating: "x", count: 60))\r\n\r\n"),
                    .server("HTTP/1.1 204 No\r\n\r\n"), .client("GET /c HTTP/1.1\r\nHost: h\r\n\r\n"),
                ], limits: limits))
        #expect(text.contains("GET /a") && !text.contains("GET /b") && !text.contains("GET /c"))
        #expect(text.contains("bytes of this connection are not in this file"))
    }

    /// RFC 9110 §10.1.1: the client waits for 100 (Continue), and sends no content after a refusal.
    @Test func interimResponsesAndUnsentContentAreRecorded() throws {
        let head = "PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        let continued = try Self.parsed(
            try Self.file([
                .client(head), .server("HTTP/1.1 100 Continue\r\n\r\n"), .client("ab"),
                .server("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
            ]))
        #expect(continued.exchanges[0].awaitsContinue && !continued.exchanges[0].isContentWithheld)
        #expect(continued.exchanges[0].content == .bytes(Array("ab".utf8)))
        let refused = try Self.parsed(
            try Self.file([
                .client(head),
                .server("HTTP/1.1 423 Locked\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
            ]))
        #expect(refused.exchanges[0].isContentWithheld)
        #expect(refused.exchanges[0].gap == nil)
        #expect(refused.exchanges[0].statuses == [423])
    }

    static let cuts: [(said: [Said], gap: RecordedExchange.Gap)] = [
        ([.client("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc")], .request),
        ([.client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")], .answer),
        (
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
            ], .answer
        ),
    ]

    @Test(arguments: cuts)
    func truncationIsRecorded(said: [Said], gap: RecordedExchange.Gap) throws {
        let recording = try Self.parsed(try Self.file(said))
        #expect(recording.exchanges.map(\.gap) == [gap])
    }

    @Test func responseThatEndsWithTheConnectionIsComplete() throws {
        let said: [Said] = [
            .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .server("HTTP/1.1 200 OK\r\n\r\nuntil here"),
        ]
        let recording = try Self.parsed(try Self.file(said))
        #expect(recording.exchanges[0].gap == nil)
        #expect(recording.exchanges[0].answer?.content == .bytes(Array("until here".utf8)))
    }

    @Test func connectionWithoutARequestLeavesNoFile() throws {
        #expect(try Self.file([]) == nil)
    }

    @Test func openConnectionsAreWrittenWhenTheServerStops() throws {
        let recording = try Self.parsed(try Self.file(Self.session, closes: false))
        #expect(recording.exchanges.map(\.statuses) == [[201], [200], [404]])
    }

    @Test func folderThatIsNotEmptyIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.makeFile("x")
        let error = #expect(throws: Recorder.Failure.self) {
            try Recorder(folder: folder.path, log: Log(level: .error))
        }
        #expect(error == .notEmpty)
    }

    /// Content of exactly the limit is recorded; content that is one byte longer is not.
    @Test func contentIsRecordedUpToTheLimit() throws {
        var limits = Recorder.Limits()
        limits.contentBytes = 100
        for (count, isWhole) in [(100, true), (101, false)] {
            let content = String(repeating: "ab", count: 51).prefix(count)
            let head = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n"
            let recording = try Self.parsed(
                try Self.file(
                    [.client(head + content), .server("HTTP/1.1 204 No Content\r\n\r\n")], limits: limits))
            #expect((recording.exchanges[0].content == .bytes(Array(content.utf8))) == isWhole)
        }
    }

    /// A message of exactly the size of the queue is recorded; one that is a byte larger is not.
    @Test func queuedBytesAreLimited() throws {
        let head = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
        for (bytes, isRecorded) in [(head.utf8.count, true), (head.utf8.count - 1, false)] {
            var limits = Recorder.Limits()
            limits.queueBytes = bytes
            let text = try Self.file([.client(head)], limits: limits)
            #expect((text?.contains("GET /a") ?? false) == isRecorded)
        }
    }

    @Test func queuedItemsAreLimited() throws {
        for (items, isRecorded) in [(1, true), (0, false)] {
            let folder = try TemporaryFolder()
            var limits = Recorder.Limits()
            limits.queueItems = items
            let recorder = try Recorder(folder: folder.path, limits: limits, log: Log(level: .error))
            #expect((recorder.tap(for: "192.0.2.1") != nil) == isRecorded)
            recorder.stop()
        }
    }
}
