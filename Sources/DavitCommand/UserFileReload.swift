internal import Davit
internal import DavitControl
internal import Synchronization

/// Reads the user file of a running server without a configuration file again, and puts the accounts and the certificates
/// into effect, all or none.
final class UserFileReload: Sendable {
    private let command: ServeCommand
    /// A hash of the accounts in effect; see ``ServeReload``.
    private let current: Mutex<Int>

    /// - Parameter accounts: those with which the server was started.
    init(_ command: ServeCommand, accounts: [Configuration.Account]) {
        self.command = command
        current = Mutex(accounts.hashValue)
    }

    /// Reloads the accounts and logs whether they have changed. Blocks. Concurrent calls run one after another.
    func run(_ server: WebServer) -> ReloadReport {
        current.withLock { current in
            do throws(CommandFailure) {
                let accounts = try command.accounts()
                let isOther = accounts.hashValue != current
                do throws(ServerError) {
                    try server.replaceSettings(accounts: isOther ? accounts : nil, logLevel: nil)
                } catch {
                    throw CommandFailure(error, folder: command.options.folder)
                }
                guard isOther else { return ReloadReport() }
                current = accounts.hashValue
                server.log.info("setting changed", ["setting": SettingChange.contentOfUserFile.difference])
                return ReloadReport(changes: [SettingChange.contentOfUserFile.text])
            } catch {
                return ReloadReport(error, loggedBy: server)
            }
        }
    }
}
