import Davit
import DavitCommand
import DavitRecording
import DavitSystem
import DavitTesting
import Testing

/// Records sessions with one share and replays them against others.
struct ReplayTests {
    /// Plays transcripts against a share that contains these files and records its connections. Returns the
    /// folder of the recording.
    static func record(
        _ recordings: [String], files: [String: String] = [:], user: ServeOptions.User? = nil
    ) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let share = try RecordedShare(files: files) {
            $0.recordingFolder = folder.path + "/session"
            if let user { $0.accounts = [.init(name: user.name, password: user.password)] }
        }
        _ = try Self.replay(recordings, share, user: user)
        share.stop()
        return folder
    }

    static func replay(
        _ recordings: [String], _ share: RecordedShare, user: ServeOptions.User? = nil
    ) throws -> ReplayReport {
        var options = ReplayOptions(server: share.address)
        options.recordings = recordings
        options.user = user
        return try ReplayCommand(options: options).result().report
    }

    /// Requests and responses are recorded in files (W075 in docs/coming-from-gcdwebserver.md). A replay
    /// compares the status, the fields except dates and entity tags, and the content.
    @Test func w075RecordedSessionsReplayWithoutDifferences() async throws {
        try await blocking {
            let clients = TemporaryFolder.names(in: Repository.recordings).filter { !$0.contains(".") }
                .sorted()
            let chosen = TestExtent.sample(of: clients, every: 4).map { Repository.recordings + "/" + $0 }
            let folder = try Self.record(chosen)
            let report = try Self.replay([folder.path + "/session"], try RecordedShare())
            #expect(report.lines == [])
            #expect(report.skipped.map(\.text) == [])
            #expect(report.exchangeCount > (TestExtent.isComplete ? 400 : 20))
        }
    }

    @Test func credentialsAreMaskedAndReplacedOnReplay() async throws {
        try await blocking {
            let user = ServeOptions.User(name: "anna", password: "secret")
            let folder = try Self.record([Repository.recordings + "/davfs2"], user: user)
            let text = try SmallFile(reading: folder.path + "/session/000001.txt").bytes
            // YW5uYTpzZWNyZXQ= is anna:secret.
            #expect(!String(decoding: text, as: UTF8.self).contains("YW5uYTpzZWNyZXQ="))
            #expect(String(decoding: text, as: UTF8.self).contains("> Authorization: Basic ***"))
            let share = try RecordedShare { $0.accounts = [.init(name: "anna", password: "secret")] }
            #expect(try Self.replay([folder.path], share, user: user).lines == [])
            // Without credentials, every response differs.
            let refused = try Self.replay([folder.path], share)
            #expect(refused.differences.count == refused.exchangeCount)
            #expect(refused.differences.allSatisfy { $0.subject == "status" })
        }
    }

    /// A transcript whose requests change nothing.
    static let reading = """
        WIRE-TRANSCRIPT 1
        === content
        > GET ${PARENT}a.txt
        === the same tag twice
        > HEAD ${PARENT}a.txt
        === properties
        > PROPFIND ${PARENT}
        > Depth: 1
        === conditional
        > GET ${PARENT}a.txt
        > If-None-Match: "never"
        === absent
        > GET ${PARENT}b.txt
        """

    @Test func onlyTheChangedBehaviorIsReported() async throws {
        try await blocking {
            let transcript = try TemporaryFolder()
            try PrivateFolder(making: transcript.path).make("t.txt", content: Array(Self.reading.utf8))
            let folder = try Self.record([transcript.path], files: ["a.txt": "one"])
            let same = try RecordedShare(files: ["a.txt": "one"])
            #expect(try Self.replay([folder.path], same).lines == [])
            let other = try RecordedShare(files: ["a.txt": "two!", "b.txt": ""])
            let lines = try Self.replay([folder.path], other).lines
            #expect(
                lines == [
                    "GET /a.txt: content: at byte 0: recorded 'one', now 'two!'",
                    "HEAD /a.txt: field content-length: recorded '3', now '4'",
                    "PROPFIND /: response /b.txt: not recorded",
                    "PROPFIND /: property getcontentlength of /a.txt: recorded "
                        + "'<D:getcontentlength xmlns:D=\"DAV:\">3</D:getcontentlength>', now "
                        + "'<D:getcontentlength xmlns:D=\"DAV:\">4</D:getcontentlength>'",
                    "GET /a.txt: content: at byte 0: recorded 'one', now 'two!'",
                    "GET /b.txt: status: recorded 404, now 200",
                ])
        }
    }

    /// The nonce in the policy and in the page may differ from the recorded one. It must be new in each
    /// response, and the rest of the policy must be equal. The free space may differ, too.
    @Test func nonceAndFreeSpaceDifferInEachResponse() async throws {
        try await blocking {
            let transcript = try TemporaryFolder()
            let step = "> GET ${PARENT}\n> Accept: text/html\n"
            let text = "WIRE-TRANSCRIPT 1\n=== one\n\(step)=== two\n\(step)"
            try PrivateFolder(making: transcript.path).make("t.txt", content: Array(text.utf8))
            let folder = try Self.record([transcript.path])
            let bytes = try SmallFile(reading: folder.path + "/session/000001.txt").bytes
            let recorded = String(decoding: bytes, as: UTF8.self)
            func lines(_ text: String) throws -> [String] {
                let recording = try TranscriptParser.parse(Array(text.utf8))
                let share = try RecordedShare()
                return try withExtendedLifetime(share) {
                    try RecordingReplay([("r", recording)], target: ReplayTarget(share.address)).run().lines
                }
            }
            #expect(try lines(recorded) == [])
            let other = recorded.replacing(/simple-free">([^<]*)/) { match in
                let text = match.output.1.map { $0.wholeNumberValue.map { "\(($0 + 1) % 10)" } ?? "\($0)" }
                return "simple-free\">" + text.joined()
            }
            #expect(other != recorded)
            #expect(try lines(other) == [])
            #expect(try lines(recorded.replacing("simple-free", with: "simple-full")).count == 2)
            let nonces = recorded.matches(of: /'nonce-([a-z0-9]+)'/).map { String($0.output.1) }
            try #require(nonces.count == 2 && nonces[0] != nonces[1])
            let repeated = try lines(recorded.replacing(nonces[1], with: nonces[0]))
            #expect(repeated.first?.contains("field content-security-policy: the counterpart of") == true)
            let unsafe = try lines(recorded.replacing("'strict-dynamic'", with: "'unsafe-inline'"))
            #expect(unsafe.count == 2)
            let none = try lines(recorded.replacing(/'nonce-[a-z0-9]+'/, with: "'self'"))
            #expect(none.contains { $0.contains("field content-security-policy") })
        }
    }

    @Test func readOnlyServerDiffersInStatuses() async throws {
        try await blocking {
            let folder = try Self.record([Repository.recordings + "/cadaver"])
            let report = try Self.replay([folder.path], try RecordedShare(isReadOnly: true))
            #expect(
                report.differences.contains {
                    $0.request.hasPrefix("MKCOL") && $0.detail.hasSuffix("now 403")
                })
        }
    }

    /// Content that the recording omits is replaced by filler, which is recognized in responses.
    @Test func omittedContentIsReplacedAndRecognized() async throws {
        try await blocking {
            let transcript = try TemporaryFolder()
            let lines = (0..<9000).map { "| line \($0)" }.joined(separator: "\n")
            let text = """
                WIRE-TRANSCRIPT 1
                === large
                > PUT ${PARENT}large
                \(lines)
                === in chunks
                > PUT ${PARENT}chunked
                ~ framing chunked 7000
                \(lines)
                === large again
                > GET ${PARENT}large
                === chunked again
                > GET ${PARENT}chunked
                === a part
                > GET ${PARENT}large
                > Range: bytes=70001-70010
                """
            try PrivateFolder(making: transcript.path).make("t.txt", content: Array(text.utf8))
            let folder = try Self.record([transcript.path])
            let file = try SmallFile(reading: folder.path + "/session/000001.txt").bytes
            #expect(file.count < 10_000)
            #expect(try Self.replay([folder.path], try RecordedShare()).lines == [])
            let bystander = try RecordedShare(files: ["large": "other"], isReadOnly: true)
            #expect(
                try Self.replay([folder.path], bystander).lines.contains {
                    $0.hasPrefix("GET /large: content: recorded 88889 bytes")
                })
        }
    }

    @Test func recordingFolderInsideTheShareIsRefused() throws {
        let share = try TemporaryFolder()
        var configuration = Configuration()
        configuration.recordingFolder = share.path + "/recording"
        let state = try TemporaryFolder()
        let mounted = WebDAVShare(share.path, stateFolder: state.path + "/s")
        let error = #expect(throws: ServerError.self) {
            try WebServer(configuration: configuration) { $0.mount("/files", mounted) }
        }
        #expect(error == .recordingFolderInsideShare(path: share.path + "/recording"))
    }
}
