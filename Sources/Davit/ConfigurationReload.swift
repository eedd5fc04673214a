package import DavitControl
public import DavitLogging
internal import DavitSystem
internal import Synchronization

/// The actions that reload the settings of a server, in the order in which they were added.
final class ReloadActions: Sendable {
    private struct State {
        /// Replaces the certificates and other settings, all or none.
        var main: (@Sendable () -> ReloadReport)?
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    func add(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.actions.append(action) } }

    func setMain(_ action: @escaping @Sendable () -> ReloadReport) { state.withLock { $0.main = action } }

    /// Runs all actions. Blocks. Actions must handle concurrent runs.
    @discardableResult
    func run() -> ReloadReport {
        let (main, actions) = state.withLock { ($0.main, $0.actions) }
        let report = main?() ?? ReloadReport()
        for action in actions { action() }
        return report
    }
}

extension Configuration {
    /// Returns the action for SIGHUP and `davit reload`, which also notifies systemd of the beginning and the end of the
    /// reload, if enabled.
    func reload(_ actions: ReloadActions) -> @Sendable () -> ReloadReport {
        guard notifiesServiceManager else { return { actions.run() } }
        return {
            ServiceManager.reloading()
            defer { ServiceManager.ready() }
            return actions.run()
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

    /// Does the same as ``reload()``, and returns what has happened.
    package func reloadAndReport() -> ReloadReport { reloads.run() }

    /// Replaces what a reload does, except that it still reopens the access log and runs the actions of ``onReload(_:)``.
    /// The action also has to replace the certificates, with ``replaceSettings(accounts:logLevel:)``. It must not retain the server.
    package func handleReload(_ action: @escaping @Sendable () -> ReloadReport) {
        reloads.setMain { [weak self] in
            self?.reopenLogs()
            return action()
        }
    }

    /// Sets the most detailed level of the log, from now on. The lines of level `access` need a server that was created
    /// with this level or a more detailed one, or with an access log.
    public func setLogLevel(_ level: Log.Level) { log.setLevel(level) }

    /// Whether ``replaceAccounts(_:)`` accepts a list of this length: a server without authentication cannot get accounts, and
    /// one whose users are all accounts cannot lose them.
    package func canReplaceAccounts(withEmptyList isEmpty: Bool) -> Bool {
        authentication != nil && (!isEmpty || configuration.authenticatesElsewhere)
    }

    /// Whether ``setLogLevel(_:)`` can turn on the lines of level `access`.
    package var canLogAccess: Bool { configuration.accessLog != nil || configuration.logLevel >= .access }

    /// Replaces accounts, log level and certificates, all or none: certificates are read again, from the files of the
    /// configuration with which the server was created. Blocks, see ``replaceAccounts(_:)``.
    /// - Parameters:
    ///   - accounts: nil to keep the current ones.
    ///   - logLevel: nil to keep the current one.
    /// - Throws: ``ServerError``; all current settings then remain in effect.
    package func replaceSettings(
        accounts: [Configuration.Account]?, logLevel: Log.Level?
    ) throws(ServerError) {
        #if TLS
        if let certificates {
            try certificates.reloading.withLock { (_) throws(ServerError) in
                let loaded = try certificates.load()
                if let accounts { try replaceAccounts(accounts) }
                http.replaceTLS(certificates.use(loaded))
            }
            if let logLevel { log.setLevel(logLevel) }
            return
        }
        #endif
        if let accounts { try replaceAccounts(accounts) }
        if let logLevel { log.setLevel(logLevel) }
    }

    /// Reads the certificates again, and logs an error if they cannot be used.
    func reloadCertificatesAndReport() -> ReloadReport {
        do throws(ServerError) {
            try reloadCertificates()
            return ReloadReport()
        } catch {
            log.error(
                "certificate reload failed; keeping the current certificates",
                ["reason": error.certificateReason])
            return ReloadReport(errors: ["certificate reload failed: \(error.certificateReason)"])
        }
    }
}
