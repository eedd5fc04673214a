import DavitRecording
import Testing

struct TranscriptParserTests {
    static let transcript = """
        WIRE-TRANSCRIPT 1
        Name: a session
        Setup: dir a%20b
        Setup: file a%20b/c text two words
        Setup: file d fill 0x41 12
        # a comment

        === first: with a body
        > PUT ${ROOT}x
        > If: (<${TOKEN}>)
        > Keep-Alive:
        ~ framing chunked 7
        ~ expect
        ~ new-connection
        ~ wait 2
        | one
        |  two
        |
        < 201 204
        ? header ETag matches ^"[^ ]+ "$
        ?~ dav prop ${ROOT}x D:getetag is "a b"
        ! TAG = header ETag ^(.+)$

        === second
        > GET ${ROOT}x
        < 200
        """

    @Test func everyKindOfLineIsParsed() throws {
        let parsed = try TranscriptParser.parse(Array(Self.transcript.utf8))
        #expect(parsed.kind == .expectations)
        #expect(parsed[fact: "Name"] == "a session")
        #expect(
            parsed.setups == [
                .init(path: "a%20b", content: .folder),
                .init(path: "a%20b/c", content: .text("two words")),
                .init(path: "d", content: .fill(0x41, count: 12)),
            ])
        let first = parsed.exchanges[0]
        #expect(first.title == "first: with a body")
        #expect((first.method, first.target) == ("PUT", "${ROOT}x"))
        #expect(
            first.fields == [.init(name: "If", value: "(<${TOKEN}>)"), .init(name: "Keep-Alive", value: "")])
        #expect(first.content == .bytes(Array("one\n two\n".utf8)))
        #expect(first.framing == .chunked(7))
        #expect(first.awaitsContinue && first.opensConnection && first.waitSeconds == 2)
        #expect(first.statuses == [201, 204])
        #expect(first.checks.map(\.isAdvice) == [false, true])
        #expect(first.checks[0].subject == .field("ETag", .value(.matches("^\"[^ ]+ \"$"))))
        #expect(first.captures.map(\.source) == [.field("ETag", pattern: "^(.+)$")])
        #expect(parsed.exchanges[1].content == .bytes([]))
    }

    static let malformed: [(String, line: Int)] = [
        ("", 1), ("HTTP", 1), ("WIRE-TRANSCRIPT 3", 1),
        ("WIRE-TRANSCRIPT 1\nSetup: link a", 2),
        ("WIRE-TRANSCRIPT 1\n=== a\n< 200", 2),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET", 3),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n> no field", 4),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n< OK", 4),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n< 200\n? header", 5),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n< 200\n? dav prop / Q:x present", 5),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n< 200\n| late", 5),
        ("WIRE-TRANSCRIPT 1\n=== a\n> GET /\n~ framing chunked 0", 4),
        ("WIRE-TRANSCRIPT 2\n=== a\n> GET /", 2),
        ("WIRE-TRANSCRIPT 2\n=== 1\n> GET /\n: \\q", 4),
        ("WIRE-TRANSCRIPT 2\n=== 1\n> GET /\n| a\n: b", 5),
    ]

    @Test(arguments: malformed)
    func errorNamesTheLine(text: String, line: Int) {
        let error = #expect(throws: TranscriptError.self) { try TranscriptParser.parse(Array(text.utf8)) }
        #expect(error?.line == line)
    }

    @Test func fileSplitAnywhereParsesIdentically() throws {
        let bytes = Array(RecordingFormatTests.recording.utf8)
        let whole = "\(try TranscriptParser.parse(bytes))"
        for split in 0...bytes.count {
            var parser = TranscriptParser()
            try parser.feed(bytes[..<split])
            try parser.feed(bytes[split...])
            #expect("\(try parser.finish())" == whole)
        }
    }
}
