import DavitSystem
import Testing

/// Programs get their input, and their status and output are returned.
struct ChildProcessTests {
    init() { Signals.ignoreBrokenPipes() }

    /// Runs a shell script, with input in pieces.
    private static func run(
        _ script: String, input: [[UInt8]] = [], environment: [String] = [], seconds: Int64 = 3_600,
        isCancelled: () -> Bool = { false }
    ) throws(ChildProcess.Failure) -> ChildProcess.Ending {
        let process = ChildProcess("/bin/sh", arguments: ["-c", script], seconds: seconds)
        var pieces = input[...]
        return try process.run(environment: environment, isCancelled: isCancelled) { bytes in
            if let piece = pieces.popFirst() { bytes = piece }
            return true
        }
    }

    @Test(arguments: [0, 1, 2, 75, 255])
    func statusIsReturned(status: Int) throws {
        let ending = try Self.run("exit \(status)")
        #expect(ending.status == status)
        #expect(ending.output.isEmpty)
    }

    @Test func inputIsPassedInPieces() throws {
        let pieces = (0..<40).map { [UInt8](repeating: UInt8(ascii: "a") + UInt8($0 % 26), count: 10_000) }
        let ending = try Self.run("wc -c; wc -c", input: pieces)
        let counts = String(decoding: ending.output, as: UTF8.self).split { $0 == "\n" || $0 == " " }
        #expect(counts == ["400000", "0"])
    }

    /// A program that does not read all of its input is not an error.
    @Test func inputNeedNotBeRead() throws {
        let pieces = [[UInt8]](repeating: [UInt8](repeating: 1, count: 100_000), count: 20)
        #expect(try Self.run("exec <&-; exit 3", input: pieces).status == 3)
        #expect(try Self.run("head -c 1 >/dev/null; exit 4", input: pieces).status == 4)
    }

    @Test func outputIsLimited() throws {
        let ending = try Self.run("head -c 1000000 /dev/zero; echo error >&2; exit 5")
        #expect(ending.status == 5)
        #expect(ending.output == [UInt8](repeating: 0, count: ChildProcess.outputLimit))
        #expect(try Self.run("echo error >&2").output == Array("error\n".utf8))
    }

    /// A program that never stops writing can be ended, also if it writes faster than it is read.
    @Test func endlessOutputHoldsUpNothing() throws {
        #expect(throws: ChildProcess.Failure.late) { try Self.run("yes", seconds: 1) }
        var calls = 0
        #expect(throws: ChildProcess.Failure.cancelled) {
            try Self.run(
                "yes",
                isCancelled: {
                    calls += 1
                    return calls == 100
                })
        }
        // It is in a session of its own, so it is not killed, but ends when its output is closed.
        let ending = try Self.run("setsid yes & exit 6")
        #expect(ending.status == 6)
        #expect(ending.output.count <= ChildProcess.outputLimit)
    }

    @Test func environmentIsNotInherited() throws {
        let ending = try Self.run("env | sort", environment: ["A=1", "B=a b\nc"])
        let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n").filter {
            !$0.hasPrefix("_=") && !$0.hasPrefix("PWD=") && !$0.hasPrefix("SHLVL=")
                && !$0.hasPrefix("OLDPWD=")
        }
        #expect(lines.prefix(2) == ["A=1", "B=a b"])
        #expect(lines.count == 4)
        #expect(lines.contains { $0.hasPrefix("PATH=/usr/local/sbin:") })
    }

    @Test func failuresAreReported() throws {
        #expect(throws: ChildProcess.Failure.killed(signal: 9)) { try Self.run("kill -9 $$") }
        #expect(throws: ChildProcess.Failure.late) { try Self.run("exec sleep 100000", seconds: 0) }
        #expect(throws: ChildProcess.Failure.cancelled) {
            try Self.run("exec sleep 100000", isCancelled: { true })
        }
        let missing = ChildProcess("/nonexistent", seconds: 1)
        guard case .notStarted(let error)? = failure(missing) else {
            Issue.record("started")
            return
        }
        #expect(error.code == .noEntry)
        let unread = ChildProcess("/bin/cat", seconds: 3_600)
        #expect(throws: ChildProcess.Failure.noInput) { try unread.run { _ in false } }
    }

    private func failure(_ process: ChildProcess) -> ChildProcess.Failure? {
        do throws(ChildProcess.Failure) {
            _ = try process.run { _ in true }
            return nil
        } catch {
            return error
        }
    }

    /// A process that the program leaves behind is killed, and does not hold up the result.
    @Test func nothingIsLeftBehind() throws {
        let folder = try Folder()
        let fifo = folder.path + "/fifo"
        // The second reader ends when the sleeping process, which has the FIFO open for writing, has been killed.
        let ending = try Self.run("mkfifo \(fifo); sleep 100000 >\(fifo) & exec 3<\(fifo); exit 7")
        #expect(ending.status == 7)
        #expect(try Self.run("cat \(fifo) & : >\(fifo); wait; exit 8").status == 8)
    }
}
