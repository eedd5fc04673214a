internal import DavitSystem
internal import Synchronization

/// What a server reads again when it is asked to, in the order of its making.
final class ReloadActions: Sendable {
    private let actions = Mutex<[@Sendable () -> Void]>([])

    func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

    /// Blocks. One run at a time is the business of the actions.
    func run() {
        for action in actions.withLock({ $0 }) { action() }
    }
}

extension Configuration {
    /// What SIGHUP does; systemd is told when it begins and when it is done, if it is told anything.
    func reload(_ actions: ReloadActions) -> @Sendable () -> Void {
        guard notifiesServiceManager else { return { actions.run() } }
        return {
            ServiceManager.reloading()
            actions.run()
            ServiceManager.ready()
        }
    }
}

extension WebServer {
    /// Has `action` run whenever the server is to read its settings again: after SIGHUP, if
    /// ``Configuration/reloadsOnHangUp`` says so, and in ``reload()``. It may block, and says itself what went wrong. It
    /// must not hold the server strongly.
    public func onReload(_ action: @escaping @Sendable () -> Void) { reloads.add(action) }

    /// Reads again what can change while the server runs: certificates, the file of the access log, and what ``onReload(_:)`` was told. What is
    /// broken is logged, and stays as it was. Blocks.
    public func reload() { reloads.run() }
}
