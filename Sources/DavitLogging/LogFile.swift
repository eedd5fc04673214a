public import DavitSystem
internal import Synchronization

/// A file to which a background thread appends lines, so that callers of `append` never wait for the disk.
///
/// A line after a pause is written immediately; the background thread then sleeps for a few milliseconds, so
/// that many lines cost one write and one wake-up. The buffer of pending lines is limited; further lines are
/// dropped and counted, and the count is logged.
public final class LogFile: Sendable {
    /// The destination of the lines.
    public enum Destination: Hashable, Sendable {
        /// A file, created with mode 0640 if it is missing. Lines are appended to existing content.
        case file(String)
        /// The standard error of the process.
        case standardError
    }

    private struct State {
        /// The pending lines.
        var lines: [UInt8] = []
        var dropped = 0
        var wantsReopening = false
        var isEnded = false
        var hasThread = false
        /// Whether the background thread waits for a signal.
        var isIdle = false

        var hasWork: Bool { !lines.isEmpty || dropped > 0 || wantsReopening }

        /// Returns what the caller must do so that the background thread handles new work.
        mutating func wake() -> Wake {
            if !hasThread {
                hasThread = true
                return .start
            }
            guard isIdle else { return .nothing }
            isIdle = false
            return .signal
        }
    }

    private enum Wake { case nothing, signal, start }

    /// The pause between two writes. Without it, each line under load would wake the thread, which costs more
    /// than the line itself.
    private static let restMilliseconds = 5

    private let destination: Destination
    private let limit: Int
    private let log: Log
    private let monitor = Monitor(State())
    /// Used only by the background thread; nil after a failed attempt to open the file.
    private let file: Mutex<FileDescriptor?>
    private let hasFailed = Atomic<Bool>(false)
    /// The maximum capacity of a buffer that is reused; larger buffers are released after a burst of lines.
    private static let keptBytes = 64 << 10

    /// - Parameters:
    ///   - limit: the number of pending bytes from which further lines are dropped.
    ///   - log: receives reports of dropped lines and of write errors.
    /// - Throws: the system error if the file cannot be opened.
    public init(_ destination: Destination, limit: Int = 1 << 20, log: Log) throws(SystemError) {
        self.destination = destination
        self.limit = limit
        self.log = log
        file = Mutex(try Self.open(destination))
    }

    /// Appends a line without waiting for the file. Costs a lock, and the wake-up of the thread if it is
    /// idle.
    /// - Parameter compose: appends the line and its line end to the buffer. Called synchronously; not called
    ///   if the buffer is full, or after ``finish()``.
    public func append(_ compose: (inout [UInt8]) -> Void) {
        let wake = monitor.withLock { state -> Wake in
            guard !state.isEnded else { return .nothing }
            guard state.lines.count < limit else {
                state.dropped += 1
                return state.wake()
            }
            compose(&state.lines)
            return state.wake()
        }
        perform(wake)
    }

    /// Reopens the file by its path after the pending lines are written, for programs that rotate logs.
    public func reopen() {
        let wake = monitor.withLock { state -> Wake in
            guard !state.isEnded else { return .nothing }
            state.wantsReopening = true
            return state.wake()
        }
        perform(wake)
    }

    /// Accepts lines again after ``finish()``.
    public func takeLines() { monitor.withLock { $0.isEnded = false } }

    /// Stops accepting lines and blocks until the pending ones are written: a few milliseconds, unless the
    /// disk is slow.
    public func finish() {
        monitor.withLock { $0.isEnded = true }
        monitor.broadcast()
        monitor.wait { $0.hasThread ? nil : () }
        // If the thread could not be started, the dropped lines have not been reported yet.
        reportDropped(monitor.withLock { $0.dropped })
    }

    private func perform(_ wake: Wake) {
        switch wake {
        case .nothing: break
        case .signal: monitor.signal()
        case .start:
            do throws(SystemError) {
                try SystemThread.start(named: "davit-log") { [self] in FileFaults.uncounted { run() } }
            } catch {
                // The next line tries again.
                monitor.withLock { $0.hasThread = false }
            }
        }
    }

    /// The main function of the background thread: writes lines until ``finish()`` is called and none is left.
    private func run() {
        // Exchanged with the buffer of the pending lines, so that neither is allocated for each write.
        var lines: [UInt8] = []
        while true {
            lines.removeAll(keepingCapacity: lines.capacity <= Self.keptBytes)
            var (dropped, reopens) = (0, false)
            let isEnded = monitor.wait { state -> Bool? in
                guard state.hasWork else {
                    state.isIdle = !state.isEnded
                    state.hasThread = !state.isEnded
                    return state.isEnded ? true : nil
                }
                state.isIdle = false
                swap(&lines, &state.lines)
                (dropped, state.dropped) = (state.dropped, 0)
                (reopens, state.wantsReopening) = (state.wantsReopening, false)
                return false
            }
            if isEnded { return monitor.broadcast() }
            write(lines)
            reportDropped(dropped)
            if reopens { openAgain() }
            if !monitor.withLock({ $0.isEnded }) { SystemThread.sleep(milliseconds: Self.restMilliseconds) }
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
        log.warning("access log lines dropped: the buffer was full", ["lines": "\(lines)"])
    }

    /// Reports the error once until writing works again, so that a full disk does not produce a log line for
    /// each request.
    private func report(_ error: SystemError) {
        if hasFailed.exchange(true, ordering: .relaxed) { return }
        log.error("cannot write access log", ["reason": error.description])
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
        case .file(let path): try .appending(to: path)
        case .standardError: try .duplicateOfStandardError()
        }
    }
}
