import DavitRecording
import DavitTesting
import Testing

/// Replays recordings that davit cannot produce. Entity tags are not compared by value, but by whether they
/// change between responses.
struct ReplayComparisonTests {
    /// Returns the differences that a replay finds. The share contains a file `a` at the start.
    static func lines(_ exchanges: String) async throws -> [String] {
        try await blocking {
            let share = try RecordedShare(files: ["a": "one"])
            let recording = try TranscriptParser.parse(Array("WIRE-TRANSCRIPT 2\n\(exchanges)\n".utf8))
            return try RecordingReplay([("r", recording)], target: ReplayTarget(share.address)).run().lines
        }
    }

    /// Returns a HEAD request and its response; fields that are not specified have the values that davit
    /// sends.
    static func head(_ number: Int, _ fields: String, tag: String, more: String = "") -> String {
        """
        === \(number)
        > HEAD /a
        > Host: recorded\(fields.isEmpty ? "" : "\n" + fields)
        < \(more.isEmpty ? "200" : more)
        < Date: Sat, 21 Nov 2026 12:00:00 GMT
        < ETag: \(tag)
        """ + "\n"
    }

    static let put = """
        === 2
        > PUT /a
        > Host: recorded
        > Content-Length: 3
        | two
        < 204
        """ + "\n"

    static func tagFindings(_ lines: [String]) -> [String] {
        lines.filter { $0.contains("field etag") && !$0.hasPrefix("PUT") }
    }

    @Test func equivalentTagChangesAreNotReported() async throws {
        let same = Self.head(1, "", tag: "\"x\"") + Self.head(3, "", tag: "\"x\"")
        #expect(Self.tagFindings(try await Self.lines(same)) == [])
        let changed = Self.head(1, "", tag: "\"x\"") + Self.put + Self.head(3, "", tag: "\"y\"")
        #expect(Self.tagFindings(try await Self.lines(changed)) == [])
    }

    @Test func unexpectedTagChangeIsReported() async throws {
        let recording = Self.head(1, "", tag: "\"x\"") + Self.put + Self.head(3, "", tag: "\"x\"")
        #expect(
            Self.tagFindings(try await Self.lines(recording)) == [
                "HEAD /a: field etag: unchanged when recorded, now changed"
            ])
    }

    @Test func missingTagChangeIsReported() async throws {
        let recording = Self.head(1, "", tag: "\"x\"") + Self.head(3, "", tag: "\"y\"")
        #expect(
            Self.tagFindings(try await Self.lines(recording)) == [
                "HEAD /a: field etag: changed when recorded, now unchanged"
            ])
    }

    @Test func changedTagWeaknessIsReported() async throws {
        let lines = try await Self.lines(Self.head(1, "", tag: "W/\"x\""))
        #expect(Self.tagFindings(lines).count == 1)
    }

    /// RFC 9110 §13.1: conditional requests are sent with the counterpart of the recorded tag.
    @Test func preconditionsUseCurrentTags() async throws {
        let recording =
            Self.head(1, "", tag: "\"x\"")
            + Self.head(2, "> If-None-Match: \"other\", W/\"x\"", tag: "\"x\"", more: "304")
            + Self.head(3, "> If-Match: \"x\"", tag: "\"x\"")
        #expect(try await Self.lines(recording).filter { $0.contains("status") } == [])
    }

    @Test func missingAndUnknownFieldsAreReported() async throws {
        let recording = """
            === 1
            > GET /a
            > Host: recorded
            < 200
            < X-Gone: 1
            | one
            """
        let lines = try await Self.lines(recording)
        #expect(lines.contains("GET /a: field x-gone: recorded '1', now missing"))
        #expect(lines.contains { $0.hasPrefix("GET /a: field etag: not recorded, now '") })
        #expect(!lines.contains { $0.contains("content-length") || $0.contains("server") })
    }

    @Test func truncatedRequestsAreNotSent() async throws {
        try await blocking {
            let share = try RecordedShare()
            let text = """
                WIRE-TRANSCRIPT 2
                === 1
                > PUT /cut
                > Content-Length: 9
                ~ gap request
                === 2
                > GET /cut
                ~ gap answer
                """
            let recording = try TranscriptParser.parse(Array(text.utf8))
            let report = try RecordingReplay([("r", recording)], target: ReplayTarget(share.address)).run()
            #expect(report.exchangeCount == 0)
            #expect(report.skipped.map(\.detail) == ["incomplete request", "incomplete response"])
        }
    }

    @Test func unreachableServerIsReported() async throws {
        try await blocking {
            let share = try RecordedShare()
            share.stop()
            let recording = try TranscriptParser.parse(Array("WIRE-TRANSCRIPT 2\n=== 1\n> GET /\n< 200".utf8))
            #expect(throws: ReplayError.self) {
                try RecordingReplay([("r", recording)], target: ReplayTarget(share.address)).run()
            }
        }
    }
}
