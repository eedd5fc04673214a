import Davit
import DavitCommand
import DavitRecording
import Testing

/// Replays the sessions of real clients against a share.
struct TranscriptTests {
    @Test func clientTranscriptsReplayWithoutFailures() async throws {
        try await blocking {
            // One transcript contains requests from a web page of this origin.
            let share = try RecordedShare { $0.cors = CORS(origins: ["https://app.example"]) }
            var options = ReplayOptions(server: share.address)
            options.recordings = [Repository.recordings]
            options.expectedDifferences = Repository.recordings + "/expected-differences.txt"
            let result = try ReplayCommand(options: options).result()
            #expect(result.unexpected.map(\.text) == [])
            #expect(result.outdated == [])
            #expect(result.report.exchangeCount > 400)
        }
    }

    static let wrong: [(check: String, subject: String)] = [
        ("< 404", "status"), ("? header ETag absent", "header ETag absent"),
        ("? header Content-Length is 4", "header Content-Length is 4"),
        ("? header Nothing present", "header Nothing present"), ("? body is on", "body is on"),
        ("? body matches ^n", "body matches ^n"), ("? body lacks n", "body lacks n"),
        ("? body bytes 2", "body bytes 2"), ("? body empty", "body empty"),
        ("? wire interim 100", "wire interim 100"), ("? dav responses 1", "dav responses 1"),
        ("? lock count is 1", "lock count is 1"), ("! X = header Nothing (.)", "X = header Nothing (.)"),
    ]

    /// Every check must be able to fail.
    @Test(arguments: wrong)
    func failedCheckIsReported(check: String, subject: String) async throws {
        try await blocking {
            let share = try RecordedShare(files: ["a": "one"])
            let text = "WIRE-TRANSCRIPT 1\n=== a\n> GET ${PARENT}a\n\(check)\n"
            let transcript = try TranscriptParser.parse(Array(text.utf8))
            let replay = TranscriptReplay(transcript, file: "t", target: ReplayTarget(share.address))
            #expect(try replay.run().differences.map(\.subject) == [subject])
        }
    }

    static let wrongOfFolders = [
        "? dav responses 3", "? dav first ${PARENT}a", "? dav href ${PARENT}b", "? dav no-href ${PARENT}a",
        "? dav raw-href a", "? dav collection ${PARENT} no", "? dav collection ${PARENT}a yes",
        "? dav status ${PARENT}a 404", "? dav prop ${PARENT}a D:getetag missing",
        "? dav prop ${PARENT}a D:getetag absent", "? dav prop ${PARENT}a D:getetag status 404",
        "? dav prop ${PARENT}a D:getcontentlength is 4",
        "? dav prop ${PARENT}a D:getcontentlength matches ^4",
        "? dav prop ${PARENT}a T:none present", "? dav prop ${PARENT}a T:none once",
    ]

    @Test(arguments: wrongOfFolders)
    func failedListingCheckIsReported(check: String) async throws {
        try await blocking {
            let share = try RecordedShare(files: ["a": "one"])
            let root = "davit-replay-1"
            let text = "WIRE-TRANSCRIPT 1\nSetup: file a text one\n=== a\n> PROPFIND ${ROOT}\n> Depth: 1\n"
            let own = check.replacing("${PARENT}", with: "${ROOT}")
            let transcript = try TranscriptParser.parse(Array((text + own + "\n").utf8))
            let replay = TranscriptReplay(transcript, file: "t", target: ReplayTarget(share.address))
            let report = try replay.run()
            #expect(report.differences.map(\.subject) == [String(own.dropFirst(2))])
            #expect(report.differences.allSatisfy { $0.request.contains(root) })
        }
    }

    @Test func replayFolderIsRemovedWithItsLocks() async throws {
        try await blocking {
            let share = try RecordedShare()
            let text = """
                WIRE-TRANSCRIPT 1
                === a lock that stays
                > LOCK ${ROOT}a
                | <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>
                < 201
                ? lock count is 1
                """
            let transcript = try TranscriptParser.parse(Array(text.utf8))
            for _ in 0..<2 {
                let replay = TranscriptReplay(transcript, file: "t", target: ReplayTarget(share.address))
                let report = try replay.run()
                #expect(report.lines == [])
                #expect(report.advice.map(\.text) == [])
            }
        }
    }

    @Test func knownDifferencesThatDisappearAreReported() throws {
        var report = ReplayReport()
        func difference(_ subject: String) -> ReplayReport.Difference {
            .init(file: "f", step: "s", request: "GET /", subject: subject, detail: "d")
        }
        report.differences = [difference("body matches a | b"), difference("status")]
        report.advice = [difference("advice")]
        let list = """
            # known
            f | s | body matches a | b | not yet
            f | s | gone | was it ever
            f | s | rare | at times: who knows
            """
        let expected = try ExpectedDifferences(parsing: Array(list.utf8))
        let result = ReplayResult(report, expected: expected)
        #expect(result.unexpected.map(\.subject) == ["status", "advice"])
        #expect(result.outdated.map(\.subject) == ["gone"])
        #expect(!result.isAsExpected)
        #expect(ReplayResult(report, expected: nil).unexpectedCount == 2)
        #expect(throws: TranscriptError.self) { try ExpectedDifferences(parsing: Array("f | s | x".utf8)) }
    }
}
