internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Fault injection: kills the process or fails a call at a chosen step, to test crash recovery. Empty in
/// release builds.
///
/// Controlled by five environment variables, which ``arm(_:)`` reads: `DAVIT_KILL_AT=N` kills the process
/// before step N, `DAVIT_STOP_AT=N` stops it there until it gets SIGCONT, and `DAVIT_FAIL_AT=N:ERRNO` fails
/// step N, all counted from when the server is ready; `DAVIT_KILL_START_AT=N` kills the process before step N
/// of the startup; `DAVIT_FAIL_CALL=NAME:ERRNO[,NAME:ERRNO…]` fails every call with one of these names,
/// including during startup. The steps are most file-system calls and the points marked by
/// ``step(_:ending:)``, counted across all threads from 1.
public enum FileFaults {
    public enum Phase {
        /// The startup, including the opening of the stores and the recovery from an earlier crash.
        case start
        case ready
    }

    #if DAVIT_FAULTS
    private static let processPlan = Mutex<FaultPlan?>(nil)

    /// The faults of a single test, which take precedence over the environment.
    @TaskLocal package static var plan: FaultPlan?

    /// Enables the faults that the environment specifies for a phase, and counts steps from 1.
    public static func arm(_ phase: Phase) {
        let isStart = phase == .start
        let plan = FaultPlan(
            killAt: variable(isStart ? "DAVIT_KILL_START_AT" : "DAVIT_KILL_AT").flatMap { Int($0) },
            stopAt: isStart ? nil : variable("DAVIT_STOP_AT").flatMap { Int($0) },
            failAt: isStart
                ? nil
                : variable("DAVIT_FAIL_AT").flatMap(pair).flatMap { pair in
                    Int(pair.0).map { ($0, pair.1) }
                },
            failCalls: variable("DAVIT_FAIL_CALL").map(pairs) ?? [:])
        processPlan.withLock { $0 = plan }
    }

    /// Runs background work without counting its calls, which would otherwise interleave nondeterministically
    /// with those of a request.
    public static func uncounted(_ body: () -> Void) {
        $plan.withValue(FaultPlan(), operation: body)
    }

    /// Marks a step that is not a file-system call, such as the commit of a transaction.
    ///
    /// - Parameter ending: called before the process is killed or stopped, to send what is buffered.
    public static func step(_ name: SystemError.StaticName, ending: () -> Void = {}) {
        // No failure can be injected here, because the caller has no system error to report.
        _ = try? pass(name, ending: ending)
    }

    static func pass(_ name: SystemError.StaticName, ending: () -> Void = {}) throws(SystemError) {
        guard let plan = plan ?? processPlan.withLock({ $0 }) else { return }
        switch plan.next(name) {
        case .proceed: return
        case .fail(let number): throw SystemError(errno: number, call: name)
        case .kill:
            ending()
            StandardStreams.writeError("davit: killed before step: \(name.text)\n")
            kill(getpid(), SIGKILL)
        case .stop:
            ending()
            StandardStreams.writeError("davit: stopped before step: \(name.text)\n")
            kill(getpid(), SIGSTOP)
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func pairs(_ text: String) -> [String: Int32] {
        Dictionary(text.split(separator: ",").compactMap { pair(String($0)) }) { first, _ in first }
    }

    /// Parses `text:ERRNO`, where ERRNO is a number or a symbolic name.
    private static func pair(_ text: String) -> (String, Int32)? {
        let parts = text.split(separator: ":")
        guard parts.count == 2 else { return nil }
        let names: [Substring: Int32] = [
            "ENOSPC": ENOSPC, "EDQUOT": EDQUOT, "EXDEV": EXDEV, "EIO": EIO, "EACCES": EACCES, "EPERM": EPERM,
            "EROFS": EROFS, "EMFILE": EMFILE, "ENOENT": ENOENT, "EINVAL": EINVAL, "ENOSYS": ENOSYS,
            "ENOTSUP": ENOTSUP,
        ]
        return (names[parts[1]] ?? Int32(parts[1])).map { (String(parts[0]), $0) }
    }
    #else
    @inlinable public static func arm(_ phase: Phase) {}
    @inlinable public static func uncounted(_ body: () -> Void) { body() }
    @inlinable public static func step(_ name: SystemError.StaticName, ending: () -> Void = {}) {}
    #endif
}

#if DAVIT_FAULTS
/// The steps that fail or kill the process, and the number of steps so far.
package final class FaultPlan: Sendable {
    enum Verdict {
        case proceed
        case fail(Int32)
        case kill
        case stop
    }

    private let killAt: Int?
    private let stopAt: Int?
    private let failAt: (Int, Int32)?
    private let failCalls: [String: Int32]
    /// Whether to simulate a volume that stores whole seconds only: times are truncated when they are set.
    package let cutsTimes: Bool
    /// The simulated free space of every volume; nil for the real value.
    package let availableBytes: Int64?
    /// The simulated volume that ignores case; nil for the real volume.
    package let folding: CaseInsensitiveVolume?
    private let steps = Atomic<Int>(0)
    private let names = Mutex<[String]>([])

    package init(
        killAt: Int? = nil, stopAt: Int? = nil, failAt: (Int, Int32)? = nil,
        failCalls: [String: Int32] = [:],
        cutsTimes: Bool = false, availableBytes: Int64? = nil, folding: CaseInsensitiveVolume? = nil
    ) {
        self.killAt = killAt
        self.stopAt = stopAt
        self.failAt = failAt
        self.failCalls = failCalls
        self.cutsTimes = cutsTimes
        self.availableBytes = availableBytes
        self.folding = folding
    }

    /// The number of steps so far.
    package var count: Int { steps.load(ordering: .relaxed) }

    /// The names of the steps so far, in order; recorded only while a test has set ``FileFaults/plan``.
    package var calls: [String] { names.withLock { $0 } }

    func next(_ name: SystemError.StaticName) -> Verdict {
        let step = steps.add(1, ordering: .relaxed).newValue
        if FileFaults.plan != nil { names.withLock { $0.append(name.text) } }
        if step == killAt { return .kill }
        if step == stopAt { return .stop }
        if let failAt, failAt.0 == step { return .fail(failAt.1) }
        if let number = failCalls[name.text] { return .fail(number) }
        return .proceed
    }
}
#endif
