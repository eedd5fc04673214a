internal import DavitEngine
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// What a server, or a command in its place, does with the locks of a share for who administers it. Calls block.
struct LockDesk: Sendable {
    /// How often it is tried while somebody changes what is locked, and what is waited between.
    private static let attempts = 200
    private static let restMilliseconds = 10

    let share: Share
    /// Who asks, for the log.
    let origin: String

    /// As many locks as an answer holds.
    func list(from skipped: Int) -> ControlAnswer {
        do throws(StoreError) {
            let locks = try share.heldLocks().dropFirst(skipped).prefix(ControlAnswer.limitLines)
            return .lines(locks.map { ListedLock($0).line })
        } catch {
            return .refused(reason: "the locks cannot be read: \(error)")
        }
    }

    func end(_ selection: LockSelection) -> ControlAnswer {
        guard let choice = LockChoice(selection) else { return .lines([]) }
        do throws(StoreError) {
            for _ in 0..<Self.attempts {
                if let locks = try share.breakLocks(choice, from: origin) {
                    return .lines(locks.map { ListedLock($0).line })
                }
                Thread.sleep(milliseconds: Self.restMilliseconds)
            }
            return .refused(reason: "what is locked is being changed all the time")
        } catch {
            return .refused(reason: "the locks cannot be ended: \(error)")
        }
    }
}

extension LockChoice {
    /// Nil for a path that nothing can have.
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
