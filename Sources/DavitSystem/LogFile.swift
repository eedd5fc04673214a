internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that lines are appended to by a thread of its own, so that nobody who has a line waits for a disk.
///
/// The lines that wait have a limit: beyond it they are dropped and counted, and the log says so.
public final class LogFile: Sendable {
    /// Where lines go.
    public enum Destination: Hashable, Sendable {
        /// Made with mode 0640 if it is missing; what is in it stays.
        case file(String)
        case standardError
    }

    private struct State {
        var waiting: [UInt8] = []
        var isWriting = false
        var wantsReopening = false
        var dropped = 0
        var isEnded = false

        /// True if a thread has to be set to work.
        mutating func beginWriting() -> Bool {
            if isWriting { return false }
            isWriting = true
            return true
        }
    }

    private let destination: Destination
    private let limit: Int
    private let log: Log
    private let state = Mutex(State())
    /// Touched by the thread that writes alone; nil after an attempt to open it that failed.
    private let file: Mutex<FileDescriptor?>
    private let hasFailed = Atomic<Bool>(false)
    private let writer = BlockingPool(threads: 1)

    /// - Parameters:
    ///   - limit: bytes that may wait to be written.
    ///   - log: is told of lines that were lost.
    /// - Throws: what the system says where the file cannot be opened.
    public init(_ destination: Destination, limit: Int = 1 << 20, log: Log) throws(SystemError) {
        self.destination = destination
        self.limit = limit
        self.log = log
        file = Mutex(try Self.open(destination))
    }

    /// Appends a line. Never waits for the file; costs a lock, and the wake-up of a thread where that has nothing to
    /// do.
    /// - Parameter compose: appends the line and its end; called at once, or not if there is no room.
    public func append(_ compose: (inout [UInt8]) -> Void) {
        let mustStart = state.withLock { state -> Bool in
            guard !state.isEnded else { return false }
            guard state.waiting.count < limit else {
                state.dropped += 1
                return false
            }
            compose(&state.waiting)
            return state.beginWriting()
        }
        if mustStart { startWriting() }
    }

    /// Closes the file and opens its name again, after the lines that wait: for programs that rename logs.
    public func reopen() {
        let mustStart = state.withLock { state -> Bool in
            guard !state.isEnded else { return false }
            state.wantsReopening = true
            return state.beginWriting()
        }
        if mustStart { startWriting() }
    }

    /// Takes lines again after ``finish()``.
    public func takeLines() {
        writer.reopen()
        state.withLock { $0.isEnded = false }
    }

    /// Takes no more lines, and returns when those that wait are written. Blocks.
    public func finish() {
        state.withLock { $0.isEnded = true }
        writer.shutdown()
        reportDropped(state.withLock { $0.dropped })
    }

    private func startWriting() {
        if !writer.start({ [self] in FileFaults.uncounted { write() } }) {
            state.withLock { $0.isWriting = false }
        }
    }

    /// The work of the thread: until nothing waits.
    private func write() {
        var lines: [UInt8] = []
        while true {
            lines.removeAll(keepingCapacity: true)
            var dropped = 0
            let reopens = state.withLock { state -> Bool? in
                guard !state.waiting.isEmpty || state.wantsReopening || state.dropped > 0 else {
                    state.isWriting = false
                    return nil
                }
                swap(&lines, &state.waiting)
                dropped = state.dropped
                state.dropped = 0
                let reopens = state.wantsReopening
                state.wantsReopening = false
                return reopens
            }
            guard let reopens else { return }
            write(lines)
            reportDropped(dropped)
            if reopens { openAgain() }
        }
    }

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        do throws(SystemError) {
            try file.withLock { (file) throws(SystemError) in
                if file == nil { file = try Self.open(destination) }
                let result = unsafe lines.withUnsafeBytes { bytes in
                    Result { () throws(SystemError) in try unsafe file?.writeAll(bytes) }
                }
                try result.get()
            }
            hasFailed.store(false, ordering: .relaxed)
        } catch {
            report(error)
        }
    }

    private func reportDropped(_ lines: Int) {
        guard lines > 0 else { return }
        log.warning("lines of the access log were dropped: it is written too slowly", ["lines": "\(lines)"])
    }

    /// Once, until it works again: a full disk is not made better by a line for each request.
    private func report(_ error: SystemError) {
        if hasFailed.exchange(true, ordering: .relaxed) { return }
        log.error("the access log cannot be written", ["reason": error.description])
    }

    private func openAgain() {
        do throws(SystemError) {
            try file.withLock { (file) throws(SystemError) in
                file = nil
                file = try Self.open(destination)
            }
        } catch {
            report(error)
        }
    }

    private static func open(_ destination: Destination) throws(SystemError) -> FileDescriptor {
        switch destination {
        case .file(let path):
            let number = try checked("open") {
                openFile(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
            }
            return FileDescriptor(owning: number)
        case .standardError:
            return FileDescriptor(owning: try checked("dup") { dup(2) })
        }
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe open(path, flags, mode)
}
