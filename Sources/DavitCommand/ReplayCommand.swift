package import DavitRecording
internal import DavitSystem

/// The arguments of `davit replay`.
package struct ReplayOptions: Hashable, Sendable {
    /// Files and folders, as given on the command line.
    package var recordings: [String] = []
    package var server: ServerAddress
    package var user: ServeOptions.User?
    /// The file that lists known differences.
    package var expectedDifferences: String?

    package init(server: ServerAddress) { self.server = server }
}

extension Arguments {
    /// Parses the arguments after `replay`.
    mutating func replay() throws(UsageError) -> Invocation {
        var server: ServerAddress?
        var user: ServeOptions.User?
        var expected: String?
        var authorities: String?
        var recordings: [String] = []
        var areOptionsOver = false
        while let word = words.popFirst() {
            if areOptionsOver || !word.hasPrefix("-") {
                recordings.append(word)
                continue
            }
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case "--": areOptionsOver = true
            case "--help", "-h": return .help(.replay)
            case "--to":
                let value = try value(of: name, behindSign: behindSign)
                guard let address = ServerAddress(parsing: value) else { throw .badServer(value) }
                server = address
            case "--user": user = try Self.user(try value(of: name, behindSign: behindSign))
            case "--ca": authorities = try value(of: name, behindSign: behindSign)
            case "--expect": expected = try value(of: name, behindSign: behindSign)
            default:
                let known = ["--to", "--user", "--ca", "--expect", "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard !recordings.isEmpty, !recordings.contains("") else { throw .missingRecording }
        guard var server else { throw .missingServer }
        server.authorities = authorities
        var options = ReplayOptions(server: server)
        options.recordings = recordings
        options.user = user
        options.expectedDifferences = expected
        return .replay(options)
    }
}

/// `davit replay`: replays recordings and transcripts, and reports differences.
package struct ReplayCommand {
    package let options: ReplayOptions

    package init(options: ReplayOptions) { self.options = options }

    /// Prints the result. Blocks.
    /// - Throws: ``CommandFailure``, including when there are unexpected differences.
    func run() throws(CommandFailure) {
        Signals.ignoreBrokenPipes()
        let result = try result()
        StandardStreams.writeOutput(result.text)
        if !result.isAsExpected { throw .replayDiffers(count: result.unexpectedCount) }
    }

    /// Replays everything and separates known differences from unexpected ones. Blocks.
    package func result() throws(CommandFailure) -> ReplayResult {
        var expected: ExpectedDifferences?
        if let path = options.expectedDifferences {
            let bytes = try Self.read(path)
            do throws(TranscriptError) {
                expected = try ExpectedDifferences(parsing: bytes)
            } catch {
                throw .recordingUnreadable(path, reason: "line \(error.line): \(error.problem)")
            }
        }
        return ReplayResult(try report(), expected: expected)
    }

    private func report() throws(CommandFailure) -> ReplayReport {
        let user = options.user.map { "\($0.name):\($0.password)" }
        let target = ReplayTarget(options.server, credentials: user)
        var report = ReplayReport()
        for path in options.recordings {
            let sessions = try RecordingFiles.sessions(at: path)
            if sessions.isEmpty { throw .noRecording(path) }
            do throws(ReplayError) {
                for session in sessions { report.add(try session.replay(to: target)) }
            } catch {
                switch error {
                case .cannotConnect(let reason), .setUp(let reason): throw .cannotReplay(reason: reason)
                }
            }
        }
        return report
    }

    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        do throws(SystemError) { return try SmallFile(reading: path, limitBytes: 1 << 30).bytes } catch {
            throw .recordingUnreadable(path, reason: error.description)
        }
    }
}

/// Finds recordings and transcripts.
enum RecordingFiles {
    /// Files that are replayed together: one transcript, or all recordings of a folder.
    struct Session {
        var recordings: [(file: String, recording: Transcript)]

        func replay(to target: ReplayTarget) throws(ReplayError) -> ReplayReport {
            if let first = recordings.first, first.recording.kind == .expectations {
                return try TranscriptReplay(first.recording, file: first.file, target: target).run()
            }
            return try RecordingReplay(recordings, target: target).run()
        }
    }

    /// The maximum depth of nested folders.
    private static let depthLimit = 4

    /// Reads the sessions in `path`.
    ///
    /// - Parameter path: a file, or a folder. In a folder and its subfolders, all `*.txt` files that are
    ///   transcripts are read.
    static func sessions(at path: String) throws(CommandFailure) -> [Session] {
        guard let names = try names(in: path) else {
            let name = String(
                path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
            return [Session(recordings: [(name, try transcript(at: path, try ReplayCommand.read(path)))])]
        }
        return try sessions(of: names, in: path, shown: "", depth: 1)
    }

    private static func sessions(
        of names: [String], in folder: String, shown: String, depth: Int
    ) throws(CommandFailure) -> [Session] {
        var sessions: [Session] = []
        var recorded = Session(recordings: [])
        for name in names where !name.hasPrefix(".") {
            let (path, file) = ("\(folder)/\(name)", shown + name)
            if name.hasSuffix(".txt") {
                let bytes = try ReplayCommand.read(path)
                guard TranscriptParser.isTranscript(bytes) else { continue }
                let transcript = try transcript(at: path, bytes)
                switch transcript.kind {
                case .expectations: sessions.append(Session(recordings: [(file, transcript)]))
                case .recording: recorded.recordings.append((file, transcript))
                }
            } else if depth < depthLimit, let inner = try Self.names(in: path) {
                sessions += try Self.sessions(of: inner, in: path, shown: file + "/", depth: depth + 1)
            }
        }
        return recorded.recordings.isEmpty ? sessions : sessions + [recorded]
    }

    private static func names(in path: String) throws(CommandFailure) -> [String]? {
        do throws(SystemError) { return try PrivateFolder.names(in: path) } catch {
            throw .recordingUnreadable(path, reason: error.description)
        }
    }

    private static func transcript(at path: String, _ bytes: [UInt8]) throws(CommandFailure) -> Transcript {
        do throws(TranscriptError) { return try TranscriptParser.parse(bytes) } catch {
            throw .recordingUnreadable(path, reason: "line \(error.line): \(error.problem)")
        }
    }
}
