internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Kills the process or fails a call at a chosen step, to prove what survives a crash. Empty in release
/// builds.
///
/// Four variables of the environment, read by ``arm(_:)``: `DAVIT_KILL_AT=N` kills before the N-th step and
/// `DAVIT_FAIL_AT=N:ERRNO` fails the N-th one, both counted from when the server is ready;
/// `DAVIT_KILL_START_AT=N` kills before the N-th step of the start;
/// `DAVIT_FAIL_CALL=NAME:ERRNO[,NAME:ERRNO…]` fails every call of these names, from the start on.
/// Each file-system call is a step, counted over all threads, from 1.
public enum FileFaults {
    public enum Phase {
        /// Before the stores are opened: what an earlier crash left is put right.
        case start
        case ready
    }

    #if DAVIT_FAULTS
    private static let processPlan = Mutex<FaultPlan?>(nil)

    /// What happens to the calls of one test, instead of what the environment says.
    @TaskLocal package static var plan: FaultPlan?

    /// Starts counting, from 1 in each phase: from here on the environment's faults of that phase happen.
    public static func arm(_ phase: Phase) {
        let isStart = phase == .start
        let plan = FaultPlan(
            killAt: variable(isStart ? "DAVIT_KILL_START_AT" : "DAVIT_KILL_AT").flatMap { Int($0) },
            failAt: isStart
                ? nil
                : variable("DAVIT_FAIL_AT").flatMap(pair).flatMap { pair in
                    Int(pair.0).map { ($0, pair.1) }
                },
            failCalls: variable("DAVIT_FAIL_CALL").map(pairs) ?? [:])
        processPlan.withLock { $0 = plan }
    }

    /// Runs what goes on in the background without counting its calls: it would come between those of a request,
    /// each time elsewhere.
    public static func uncounted(_ body: () -> Void) {
        $plan.withValue(FaultPlan(), operation: body)
    }

    /// A step that is not a file-system call, such as the commit of a transaction.
    public static func step(_ name: SystemError.StaticName) {
        // Only a kill can happen here: who takes this step has no system error to report.
        _ = try? pass(name)
    }

    static func pass(_ name: SystemError.StaticName) throws(SystemError) {
        guard let plan = plan ?? processPlan.withLock({ $0 }) else { return }
        switch plan.next(name) {
        case .proceed: return
        case .fail(let number): throw SystemError(errno: number, call: name)
        case .kill:
            StandardStreams.writeError("davit: killed before a step: \(name.text)\n")
            kill(getpid(), SIGKILL)
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func pairs(_ text: String) -> [String: Int32] {
        Dictionary(text.split(separator: ",").compactMap { pair(String($0)) }) { first, _ in first }
    }

    /// `text:ERRNO`, where ERRNO is a number or one of the usual names.
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
    @inlinable public static func step(_ name: SystemError.StaticName) {}
    #endif
}

#if DAVIT_FAULTS
/// Which steps fail, and how many there were.
package final class FaultPlan: Sendable {
    enum Verdict {
        case proceed
        case fail(Int32)
        case kill
    }

    private let killAt: Int?
    private let failAt: (Int, Int32)?
    private let failCalls: [String: Int32]
    /// The volume keeps whole seconds only: times are cut when they are set.
    package let cutsTimes: Bool
    /// What every volume has left; nil for what it really has.
    package let availableBytes: Int64?
    /// The volume ignores the case of letters.
    package let folding: FoldingVolume?
    private let steps = Atomic<Int>(0)
    private let names = Mutex<[String]>([])

    package init(
        killAt: Int? = nil, failAt: (Int, Int32)? = nil, failCalls: [String: Int32] = [:],
        cutsTimes: Bool = false, availableBytes: Int64? = nil, folding: FoldingVolume? = nil
    ) {
        self.killAt = killAt
        self.failAt = failAt
        self.failCalls = failCalls
        self.cutsTimes = cutsTimes
        self.availableBytes = availableBytes
        self.folding = folding
    }

    /// Steps so far.
    package var count: Int { steps.load(ordering: .relaxed) }

    /// The calls so far, in order.
    package var calls: [String] { names.withLock { $0 } }

    func next(_ name: SystemError.StaticName) -> Verdict {
        let step = steps.add(1, ordering: .relaxed).newValue
        if FileFaults.plan != nil { names.withLock { $0.append(name.text) } }
        if step == killAt { return .kill }
        if let failAt, failAt.0 == step { return .fail(failAt.1) }
        if let number = failCalls[name.text] { return .fail(number) }
        return .proceed
    }
}
#endif
