internal import DavitSystem
internal import Synchronization

/// The actions that reload the settings of a server, in the order in which they were added.
final class ReloadActions: Sendable {
    private let actions = Mutex<[@Sendable () -> Void]>([])

    func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

    /// Runs all actions. Blocks. Actions must handle concurrent runs.
    func run() {
        for action in actions.withLock({ $0 }) { action() }
    }
}

extension Configuration {
    /// Returns the action for SIGHUP, which also notifies systemd of the beginning and the end of the reload,
    /// if enabled.
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
    /// Adds an action that runs when the server reloads its settings: in ``reload()``, and on SIGHUP if
    /// ``Configuration/reloadsOnSIGHUP`` is set. The action can block, must report its own errors, and must
    /// not retain the server.
    public func onReload(_ action: @escaping @Sendable () -> Void) { reloads.add(action) }

    /// Reloads the settings that can change while the server runs: certificates, the access log file, and
    /// everything added with ``onReload(_:)``. Errors are logged, and the previous settings remain in effect.
    /// Blocks.
    public func reload() { reloads.run() }
}
