internal import DavitEngine
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Lists and removes locks for an administrator, in the server or, if none is running, in the command. Calls
/// block.
struct LockAdmin: Sendable {
    /// The maximum number of attempts while other requests change the locked resource, and the delay between
    /// attempts.
    private static let attempts = 200
    private static let restMilliseconds = 10

    let share: Share
    /// The origin of the request, for the log.
    let origin: String

    /// Returns one page of locks, without the first `skipped` locks.
    func list(from skipped: Int) -> ControlResponse {
        do throws(StoreError) {
            return .lines(try locks(from: skipped, limit: ControlResponse.limitLines).map(\.line))
        } catch {
            return .refused(reason: "cannot read locks: \(error.text)")
        }
    }

    func locks(from skipped: Int, limit: Int) throws(StoreError) -> [ListedLock] {
        try share.locks.heldLocks().dropFirst(skipped).prefix(limit).map { ListedLock($0) }
    }

    func end(_ selection: LockSelection) -> ControlResponse {
        guard let choice = BreakLockTarget(selection) else { return .lines([]) }
        do throws(StoreError) {
            for _ in 0..<Self.attempts {
                if let locks = try share.locks.breakLocks(choice, from: origin) {
                    return .lines(locks.map { ListedLock($0).line })
                }
                SystemThread.sleep(milliseconds: Self.restMilliseconds)
            }
            return .refused(reason: "the locked resource is busy; try again")
        } catch {
            return .refused(reason: "cannot remove locks: \(error.text)")
        }
    }
}

extension BreakLockTarget {
    /// Returns nil for an invalid path.
    fileprivate init?(_ selection: LockSelection) {
        switch selection {
        case .token(let token): self = .token(token)
        case .path(let path):
            guard let path = ResourcePath(segments: path.split(separator: UInt8(ascii: "/"))) else {
                return nil
            }
            self = .root(path)
        }
    }
}
