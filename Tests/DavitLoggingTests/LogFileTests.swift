import DavitLogging
import DavitSystem
import DavitTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct LogFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/access.log" }

    init() throws { folder = try TemporaryFolder() }

    private func lines(of path: String) throws -> [Substring] {
        String(decoding: try SmallFile(reading: path).bytes, as: UTF8.self).split(separator: "\n")
    }

    private static func append(_ text: String, to file: LogFile) {
        file.append { $0.append(contentsOf: (text + "\n").utf8) }
    }

    @Test func appendedLinesAreWrittenBeforeTheEnd() throws {
        let file = try LogFile(.file(path), log: Log(level: .error))
        for number in 0..<10_000 { Self.append("\(number)", to: file) }
        file.finish()
        #expect(try lines(of: path) == (0..<10_000).map { "\($0)" }[...].map { Substring($0) })
        // Lines after the end are ignored.
        Self.append("late", to: file)
        file.reopen()
        #expect(try lines(of: path).count == 10_000)
    }

    @Test func linesOfSeveralThreadsAreNotMixed() throws {
        let file = try LogFile(.file(path), log: Log(level: .error))
        let ended = Latch(count: 4)
        for thread in 0..<4 {
            try SystemThread.start(named: "appends") {
                for number in 0..<2_000 { Self.append("\(thread) \(number) end", to: file) }
                ended.countDown()
            }
        }
        ended.wait()
        file.finish()
        let lines = try lines(of: path)
        for thread in 0..<4 {
            let own = lines.filter { $0.hasPrefix("\(thread) ") }
            #expect(own == (0..<2_000).map { "\(thread) \($0) end" })
        }
    }

    @Test func existingLinesAreKept() throws {
        for text in ["first", "second"] {
            let file = try LogFile(.file(path), log: Log(level: .error))
            Self.append(text, to: file)
            file.finish()
        }
        #expect(try lines(of: path) == ["first", "second"])
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 & ~0o640 == 0)
    }

    /// Like logrotate: rename the file, then reopen the log.
    @Test func renamedFileIsReplacedByANewOne() throws {
        let file = try LogFile(.file(path), log: Log(level: .error))
        for round in 0..<20 {
            Self.append("round \(round)", to: file)
            try #require(unsafe rename(path, "\(path).\(round)") == 0)
            file.reopen()
            // Waits until the line has been written to the old file and the new one is open.
            file.finish()
            file.takeLines()
            #expect(try lines(of: "\(path).\(round)") == ["round \(round)"])
        }
        Self.append("last", to: file)
        file.finish()
        #expect(try lines(of: path) == ["last"])
    }

    @Test func droppedLinesAreCounted() throws {
        let warnings = Mutex<[String]>([])
        let log = Log(level: .warning, sink: .custom { entry in warnings.withLock { $0.append(entry.text) } })
        let file = try LogFile(.file(path), limit: 0, log: log)
        for _ in 0..<3 { Self.append("lost", to: file) }
        file.finish()
        #expect(try lines(of: path).isEmpty)
        // The thread of the file may report some lines before the others are dropped.
        let prefix = "access log lines dropped: the buffer was full lines="
        let texts = warnings.withLock { $0 }
        #expect(texts.allSatisfy { $0.hasPrefix(prefix) })
        #expect(texts.compactMap { Int($0.dropFirst(prefix.count)) }.reduce(0, +) == 3)
    }

    #if os(Linux)
    @Test func fullDiskIsReportedOnce() throws {
        let errors = Mutex<[String]>([])
        let log = Log(level: .error, sink: .custom { entry in errors.withLock { $0.append(entry.message) } })
        let file = try LogFile(.file("/dev/full"), log: log)
        for number in 0..<1_000 { Self.append("\(number)", to: file) }
        file.finish()
        #expect(errors.withLock { $0 } == ["cannot write access log"])
    }
    #endif

    @Test func fileThatCannotBeOpenedIsAnErrorAtStartup() {
        let error = #expect(throws: SystemError.self) {
            _ = try LogFile(.file(folder.path + "/missing/access.log"), log: Log(level: .error))
        }
        #expect(error?.errno == ENOENT)
    }

    /// A line is accepted while fewer bytes than the limit are queued.
    @Test func queuedLinesAreLimited() throws {
        let file = try LogFile(.file(path), limit: 1, log: Log(level: .error, sink: .custom { _ in }))
        Self.append("first", to: file)
        file.finish()
        #expect(try lines(of: path) == ["first"])
    }
}
