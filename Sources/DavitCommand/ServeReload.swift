internal import Davit
internal import DavitAccess
internal import DavitControl
internal import DavitSystem
internal import Synchronization

/// Reads the configuration file of a running server again, and puts the changes into effect, all or none.
final class ServeReload: Sendable {
    private let sources: ServeSources
    /// The plan with which the server was started. Settings that need a restart have its values.
    private let started: ServePlan
    private let current: Mutex<State>
    /// The rules of the shares that have some, by the path of the share.
    private let rules: [String: ReloadableRules]

    private struct State {
        /// The last plan that was put into effect.
        var plan: ServePlan
        /// A hash of the accounts in effect, of which those of the user file are not in the plan. Replacing accounts that
        /// have not changed would hash all of their passwords.
        var accounts: Int
    }

    /// - Parameter accounts: those with which the server was started.
    init(
        _ sources: ServeSources, _ plan: ServePlan, _ rules: [String: ReloadableRules],
        accounts: [Configuration.Account]
    ) {
        self.sources = sources
        self.rules = rules
        started = plan
        current = Mutex(State(plan: plan, accounts: accounts.hashValue))
    }

    /// Reloads the settings and logs what has changed. Blocks. Concurrent calls run one after another.
    func run(_ server: WebServer) -> ReloadReport {
        current.withLock { state in
            do throws(CommandFailure) {
                let new = try ServePlan(sources)
                let accounts = try ServeCommand(options: new.options).accounts()
                let canReplace = server.canReplaceAccounts(withEmptyList: accounts.isEmpty)
                let isOther = accounts.hashValue != state.accounts
                let abilities = ReloadAbilities(
                    canLogAccess: server.canLogAccess, canReplaceAccounts: canReplace)
                var changes = changes(to: new, from: state.plan, abilities)
                // The file names the accounts in another way, or again those that are still in effect.
                if !isOther {
                    changes.removeAll { $0.name == FileKey.users.rawValue && $0.reload == .takesEffect }
                }
                if isOther, canReplace, !changes.contains(where: { Self.accountKeys.contains($0.name) }) {
                    changes.insert(.contentOfUserFile, at: 0)
                }
                try apply(new, isOther && canReplace ? accounts : nil, to: server)
                state.plan = new
                if canReplace { state.accounts = accounts.hashValue }
                for change in changes { log(change, server) }
                return ReloadReport(changes: changes.map(\.text))
            } catch {
                return ReloadReport(error, loggedBy: server)
            }
        }
    }

    private static let accountKeys = [
        ServeOption.user.key, ServeOption.userFile.key, FileKey.users.rawValue,
    ]

    private func changes(
        to new: ServePlan, from plan: ServePlan, _ abilities: ReloadAbilities
    ) -> [SettingChange] {
        let waiting = started.changes(to: new, abilities).filter { $0.reload == .restart }
        let names = Set(waiting.map(\.name))
        return plan.changes(to: new, abilities).filter {
            $0.reload == .takesEffect && !names.contains($0.name)
        } + waiting
    }

    /// - Parameter accounts: nil if they have not changed.
    /// - Throws: a failure before which nothing has changed.
    private func apply(
        _ new: ServePlan, _ accounts: [Configuration.Account]?,
        to server: WebServer
    ) throws(CommandFailure) {
        var prepared: [(ReloadableRules, AccessRules)] = []
        for (path, options) in new.placedOptions {
            guard let given = options.accessRules, let target = rules[path] else { continue }
            prepared.append((target, try AccessRules(of: given, options.groups)))
        }
        do throws(ServerError) {
            try server.replaceSettings(
                accounts: accounts, logLevel: new.options.logLevel.level)
        } catch {
            throw CommandFailure(error, folder: new.options.folder)
        }
        for (target, rules) in prepared { target.replace(with: rules) }
    }

    private func log(_ change: SettingChange, _ server: WebServer) {
        switch change.reload {
        case .takesEffect: server.log.info("setting changed", ["setting": change.text])
        case .restart:
            server.log.warning(
                "setting changed in the configuration file; restart the server to use it",
                ["setting": change.difference])
        }
    }
}

extension ReloadReport {
    /// The report of a reload that has failed, which the server logs.
    init(_ failure: CommandFailure, loggedBy server: WebServer) {
        let lines = if case .configuration(let lines) = failure { lines } else { [failure.message] }
        for line in lines {
            server.log.error("configuration reload failed; keeping the current settings", ["reason": line])
        }
        self.init(errors: lines)
    }
}

extension ServePlan {
    /// The options of each share, by its path, which is empty for the only share.
    var placedOptions: [(path: String, options: ServeOptions)] {
        shares.isEmpty ? [("", options)] : shares.map { ($0.path, $0.options) }
    }
}

extension AccessRules {
    /// Creates the rules of a configuration file, which were verified when it was read.
    convenience init(
        of rules: [AccessRule], _ groups: [String: Set<String>]
    ) throws(CommandFailure) {
        do throws(Problem) { try self.init(rules, groups: groups) } catch {
            throw .other("the rules cannot be used")
        }
    }
}
