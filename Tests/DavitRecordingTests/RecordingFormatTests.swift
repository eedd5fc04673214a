import DavitRecording
import Testing

struct RecordingFormatTests {
    static let recording = """
        WIRE-TRANSCRIPT 2
        Name: connection 1
        Client: 127.0.0.1

        === 7 after 12 ms
        > PUT /a HTTP/1.0
        > Host: h:1
        > X: back\\\\slash \\xff
        : \\x00\\r\\n
        : end
        < 201
        < ETag: "1"

        === 9 after 13 ms
        > GET /a
        < 200
        < Content-Length: 3
        | ab
        |
        """

    @Test func responsesAreParsed() throws {
        let parsed = try TranscriptParser.parse(Array(Self.recording.utf8))
        #expect(parsed.kind == .recording)
        #expect(parsed.exchanges.map(\.order) == [7, 9])
        let first = parsed.exchanges[0]
        #expect(first.minorVersion == 0)
        #expect(first.fields[1].value == "back\\slash \u{FF}")
        #expect(first.content == .bytes([0, 13, 10] + Array("end".utf8)))
        #expect(first.statuses == [201])
        #expect(first.answer?.fields["etag"] == "\"1\"")
        #expect(parsed.exchanges[1].answer?.content == .bytes(Array("ab\n".utf8)))
    }
}
