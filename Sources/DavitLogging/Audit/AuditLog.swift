public import DavitAccess
internal import DavitHTTP
public import DavitSystem
internal import Synchronization

/// An audit log: JSON lines in a file, or records of syslog or of systemd's journal.
///
/// A background thread writes the records, so that callers never wait for the disk; a record after a pause is written
/// immediately. Records are kept in memory until they are written. While records cannot be written, or if more than
/// ``waitingBytes`` are waiting, changes are refused or, with ``FailurePolicy/count``, records are left out and counted. For
/// a file on Linux, space for further records is reserved on the volume in advance, so that a full volume is noticed before
/// a record is lost.
public final class AuditLog: AuditTrail {
    /// The destination of the records.
    public enum Destination: Hashable, Sendable {
        /// A file, created with mode 0640 if it is missing. Records are appended to existing content.
        case file(String)
        /// The local syslog daemon, with the facility `authpriv` and the tag `davit-audit`.
        case syslog
        /// systemd's journal, with the identifier `davit-audit`.
        case journal
    }

    /// What happens to changes whose records cannot be written.
    public enum FailurePolicy: String, Hashable, Sendable, CaseIterable {
        /// They are refused.
        case refuse
        /// They are permitted; missing records are counted and reported once.
        case count
    }

    /// When a file is replaced by a new one.
    public struct Rotation: Hashable, Sendable {
        /// The size in bytes that a file does not exceed, except if a single write is larger.
        public var bytes: Int64
        /// The number of former files to keep, at least 1: `PATH.1` is the newest.
        public var count: Int

        /// Creates a rule.
        public init(bytes: Int64, count: Int = 10) {
            self.bytes = bytes
            self.count = max(1, count)
        }
    }

    /// The numbers of records since the log was opened.
    public struct Statistics: Hashable, Sendable {
        /// Records that were written, or are waiting to be written.
        public var records = 0
        /// Records that were left out, because they could not be written.
        public var lost = 0
        /// Whether records cannot be written now.
        public var isFailing = false
    }

    private struct State {
        /// The waiting records.
        var lines: [UInt8] = []
        var lineCount = 0
        var throttle = AuditThrottle()
        var records = 0
        var lost = 0
        var wantsReopening = false
        var isEnded = false
        var hasThread = false
        /// Whether the background thread waits for a signal.
        var isIdle = false

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

    /// The size of waiting records, in bytes, from which further changes are refused.
    public static let waitingBytes = 1 << 20
    /// The pause between two writes; see ``LogFile``.
    private static let restMilliseconds = 5
    /// The pause before the next attempt after a failure.
    private static let retryMilliseconds = 200
    private static let keptBytes = 64 << 10

    private let policy: FailurePolicy
    private let log: Log
    private let memberBytes: Int
    private let monitor = Monitor(State())
    /// Used only by the background thread, and while there is none.
    private let output: Mutex<any AuditOutput>
    /// The number of an ``AuditAdmission``.
    private let state = Atomic<UInt8>(0)

    /// - Parameters:
    ///   - rotation: only for files; nil to let the file grow.
    ///   - log: receives reports of failures.
    /// - Throws: the system error if the destination cannot be opened.
    public init(
        _ destination: Destination, policy: FailurePolicy = .refuse, rotation: Rotation? = nil, log: Log
    ) throws(SystemError) {
        self.policy = policy
        self.log = log
        switch destination {
        case .file(let path):
            var file = try AuditFile(path, rotation)
            try file.reserve()
            output = Mutex(file)
            memberBytes = 256 << 10
        case .syslog:
            // The priority is that of authpriv.info (RFC 3164 §4.1.1).
            output = Mutex(
                try AuditSocket(
                    to: "/dev/log", head: Array("<86>davit-audit[\(ProcessPrivileges.processID)]: ".utf8)))
            // Daemons truncate messages of more than 8 KiB.
            memberBytes = 5 << 10
        case .journal:
            output = Mutex(
                try AuditSocket(
                    to: "/run/systemd/journal/socket",
                    head: Array(
                        "PRIORITY=6\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=davit-audit\nMESSAGE=".utf8)))
            memberBytes = 40 << 10
        }
    }

    // MARK: Records

    /// Costs one atomic load.
    public func admission() -> AuditAdmission {
        if policy == .count { return .admitted }
        return switch state.load(ordering: .relaxed) {
        case 0: .admitted
        case 1: .outOfSpace
        default: .unavailable
        }
    }

    /// Costs a lock, the encoding of the record, and the wake-up of the thread if it is idle.
    public func record(_ event: AuditEvent) {
        let now = Clock.wallNow()
        let wake = monitor.withLock { state -> Wake in
            if event.isFrequent, !state.throttle.admits(event.throttleKey, now: now) { return .nothing }
            // Changes have been admitted before; whatever else there is must not use memory without limit.
            let mustKeep = policy == .refuse && event.isChange
            guard !state.isEnded, mustKeep || state.lines.count < Self.waitingBytes else {
                state.lost += 1
                return .nothing
            }
            AuditRecord.append(
                event, time: now, suppressed: state.throttle.takeSuppressed(), memberBytes: memberBytes,
                to: &state.lines)
            state.lines.append(UInt8(ascii: "\n"))
            state.lineCount += 1
            state.records += 1
            if state.lines.count >= Self.waitingBytes {
                _ = self.state.compareExchange(expected: 0, desired: 2, ordering: .relaxed)
            }
            return state.wake()
        }
        perform(wake)
    }

    /// The numbers of records since the log was opened.
    public var statistics: Statistics {
        let isFailing = state.load(ordering: .relaxed) != 0
        return monitor.withLock { Statistics(records: $0.records, lost: $0.lost, isFailing: isFailing) }
    }

    // MARK: Life cycle

    /// Reopens the file by its path after the waiting records are written, for programs that rotate logs.
    public func reopen() {
        let wake = monitor.withLock { state -> Wake in
            guard !state.isEnded else { return .nothing }
            state.wantsReopening = true
            return state.wake()
        }
        perform(wake)
    }

    /// Accepts records again after ``finish()``.
    public func takeRecords() { monitor.withLock { $0.isEnded = false } }

    /// Stops accepting records and blocks until the waiting ones are written. If they cannot be written now, they are
    /// counted as lost and reported.
    public func finish() {
        monitor.withLock { $0.isEnded = true }
        monitor.broadcast()
        monitor.wait { $0.hasThread ? nil : () }
        let left = monitor.withLock { state in
            defer { (state.lineCount, state.lines) = (0, []) }
            return state.lineCount
        }
        if left > 0 { reportLost(left) }
        output.withLock { $0.release() }
    }

    private func perform(_ wake: Wake) {
        switch wake {
        case .nothing: break
        case .signal: monitor.signal()
        case .start:
            do throws(SystemError) {
                try SystemThread.start(named: "davit-audit") { [self] in FileFaults.uncounted { run() } }
            } catch {
                // The next record tries again; until then, no change is admitted.
                monitor.withLock { $0.hasThread = false }
                failed(error)
            }
        }
    }

    // MARK: The background thread

    private struct Batch {
        var lines: [UInt8] = []
        var count = 0
        var written = 0
        var reopens = false
    }

    /// The main function of the background thread: writes records until ``finish()`` is called and none is left.
    private func run() {
        var batch = Batch()
        while next(&batch) {
            do throws(SystemError) {
                try output.withLock { (output) throws(SystemError) in
                    try output.write(batch.lines, from: &batch.written)
                    if batch.reopens { try output.reopen() }
                    batch.reopens = false
                    try output.reserve()
                }
                succeeded()
            } catch {
                failed(error)
                if endIfFailing(&batch) { return }
                SystemThread.sleep(milliseconds: Self.retryMilliseconds)
                continue
            }
            if !monitor.withLock({ $0.isEnded }) { SystemThread.sleep(milliseconds: Self.restMilliseconds) }
        }
    }

    /// Waits for records, unless some of the last ones are not written yet or the last attempt has failed.
    /// - Returns: false if the thread must end.
    private func next(_ batch: inout Batch) -> Bool {
        if batch.written < batch.lines.count || batch.reopens { return true }
        batch.lines.removeAll(keepingCapacity: batch.lines.capacity <= Self.keptBytes)
        batch.written = 0
        let isFailing = state.load(ordering: .relaxed) != 0
        var lines = batch.lines
        batch.lines = []
        var (count, reopens) = (0, false)
        let isEnded = monitor.wait { state -> Bool? in
            guard !state.lines.isEmpty || state.wantsReopening || (isFailing && !state.isEnded) else {
                state.isIdle = !state.isEnded
                state.hasThread = !state.isEnded
                return state.isEnded ? true : nil
            }
            state.isIdle = false
            swap(&lines, &state.lines)
            (count, state.lineCount) = (state.lineCount, 0)
            (reopens, state.wantsReopening) = (state.wantsReopening, false)
            return false
        }
        batch = Batch(lines: lines, count: count, reopens: reopens)
        if isEnded { monitor.broadcast() }
        return !isEnded
    }

    /// Ends the thread if the log is to end although records are left.
    private func endIfFailing(_ batch: inout Batch) -> Bool {
        let count = batch.written < batch.lines.count ? batch.count : 0
        let ends = monitor.withLock { state -> Bool in
            guard state.isEnded else { return false }
            state.lineCount += count
            state.hasThread = false
            return true
        }
        if ends { monitor.broadcast() }
        return ends
    }

    private func succeeded() {
        if state.exchange(0, ordering: .relaxed) == 0 { return }
        let lost = monitor.withLock { $0.lost }
        log.warning("audit log is written again", ["lost_records": "\(lost)"])
    }

    /// Reports the error once until writing works again.
    private func failed(_ error: SystemError) {
        let number: UInt8 =
            switch error.code {
            case .noSpace, .overQuota, .fileTooBig: 1
            default: 2
            }
        if state.exchange(number, ordering: .relaxed) != 0 { return }
        log.error(
            policy == .refuse
                ? "cannot write audit log; changes are refused"
                : "cannot write audit log; records will be lost",
            ["reason": error.description])
    }

    private func reportLost(_ count: Int) {
        monitor.withLock { $0.lost += count }
        log.error("audit log records lost", ["records": "\(count)"])
    }
}

extension AuditEvent {
    /// Whether clients can cause the event as often as they like.
    fileprivate var isFrequent: Bool {
        if case .refused = result { return true }
        return operation == .login || operation == .failedLogin
    }

    /// Whether something was changed, so that the record must not be left out.
    fileprivate var isChange: Bool { !isFrequent }

    fileprivate var throttleKey: Int {
        var hasher = Hasher()
        hasher.combine(operation)
        hasher.combine(result)
        hasher.combine(principal ?? request?.principal)
        hasher.combine(request?.peerAddress ?? origin)
        hasher.combine(path)
        return hasher.finalize()
    }
}
