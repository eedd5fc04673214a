import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Named files that are pipes.
@Suite(.timeLimit(.minutes(5)))
struct SmallFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/pipe"
        try #require(unsafe mkfifo(path, 0o600) == 0)
    }

    private func text(_ path: String, milliseconds: Int32 = 60_000) throws -> String {
        let file = try SmallFile(reading: path, limitBytes: 100, writerMilliseconds: milliseconds)
        #expect(!file.isRegular)
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test func pipeWithoutWriterIsAnError() {
        let error = SystemError(errno: ENODATA, call: "pipe without a writer")
        #expect(throws: error) { try text(path, milliseconds: 1) }
    }

    /// The writer comes late, and writes later still.
    @Test(arguments: ["printf abc", "sleep 0.1; printf abc", "printf ab; sleep 0.1; printf c"])
    func pipeIsReadToItsEnd(commands: String) throws {
        #expect(
            ShellCommand.run("(sleep 0.1; { \(commands); } >'\(path)') >/dev/null 2>&1 </dev/null &")?.status
                == 0)
        #expect(try text(path) == "abc")
    }

    /// As by `<(…)` of a shell.
    @Test(arguments: ["", "abc"]) func pipeOfAProcessIsRead(content: String) throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        let bytes = Array(content.utf8)
        #expect(unsafe write(ends[1], bytes, bytes.count) == bytes.count)
        close(ends[1])
        #expect(try text("/dev/fd/\(ends[0])") == content)
    }

    @Test func pipeWithoutReaderCannotBeALog() {
        #expect(throws: SystemError(errno: ENXIO, call: "open")) {
            _ = try FileDescriptor.appending(to: path)
        }
    }
}
