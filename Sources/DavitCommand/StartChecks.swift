internal import Davit
internal import DavitAccess
internal import DavitSystem
internal import DavitYAML

/// What can be examined of a server without starting it, for `davit config check` and `davit doctor`.
extension ServeCommand {
    /// Returns what would prevent the server from starting: folders, files and programs that cannot be used, and missing
    /// accounts. Blocks. Creates nothing.
    func problems() -> [ConfigurationProblem] {
        var failures: [CommandFailure] = []
        for share in options.eachShare where share.sharedDatabase == nil {
            let unusable = share.folders.compactMap(FolderCheck.unusable)
            failures += unusable
            if !unusable.isEmpty { continue }
            do throws(CommandFailure) {
                _ = try StateAccess(folder: share.folder, stateFolder: share.stateFolder, isCreated: true)
            } catch {
                failures.append(error)
            }
        }
        do throws(CommandFailure) { _ = try requiresAuthentication() } catch { failures.append(error) }
        failures += unusableCertificates()
        return failures.map(problem)
    }

    /// Returns a failure with the place of the option that it names.
    private func problem(_ failure: CommandFailure) -> ConfigurationProblem {
        let message = failure.message + (failure.advice.map { ". \($0)" } ?? "")
        let option = ServeOption(rawValue: String(failure.message.prefix { $0 != ":" }))
        var position: YAMLPosition?
        if let option, case .file(let place)? = settings.first(where: { $0.option == option })?.origin {
            position = place
        }
        return ConfigurationProblem(position, option == nil ? message : String(message.dropFirst(2)))
    }

    /// Reads the files that the options name, and returns whether clients must sign in. Blocks.
    func requiresAuthentication() throws(CommandFailure) -> Bool {
        let configuration = try configuration(on: addresses())
        // Whether a database contains accounts is unknown until the server opens it.
        if options.eachShare.contains(where: { $0.sharedDatabase != nil }) { return true }
        do throws(ServerError) {
            // A database of accounts requires authentication, too.
            let databases = options.eachShare.map(DoctorState.hasAccounts)
            return try configuration.requiresAuthentication(hasDatabase: databases.contains(true))
        } catch {
            throw CommandFailure(error, folder: options.folder)
        }
    }

    /// Reads the certificates and keys like the server. Blocks.
    private func unusableCertificates() -> [CommandFailure] {
        var failures: [CommandFailure] = []
        #if TLS
        let tls = options.tls
        for (certificate, key) in zip(tls.certificates, tls.keys) {
            do throws(ServerError) {
                _ = try CertificateFiles(certificate: certificate, key: key).load()
            } catch {
                failures.append(CommandFailure(error, folder: options.folder).naming(tls))
            }
        }
        if let path = tls.clientAuthorities {
            do throws(ServerError) { _ = try CertificateFiles.certificates(in: path) } catch {
                failures.append(CommandFailure(error, folder: options.folder).naming(tls))
            }
        }
        #endif
        return failures
    }

    /// Returns the rules of the configuration file for users that do not exist, which have no effect. Users of a database, a
    /// directory, a proxy, a provider, PAM or a certificate are unknown. Blocks.
    func unknownUsers() -> [ConfigurationProblem] {
        let mayBeElsewhere =
            options.hasOtherUsers
            || options.eachShare.contains { $0.sharedDatabase != nil || DoctorState.hasAccounts($0) }
        guard !mayBeElsewhere, let accounts = try? accounts() else { return [] }
        let names = Set(accounts.map(\.name))
        var problems: [ConfigurationProblem] = []
        let shares = options.shares.isEmpty ? [("", options)] : options.shares.map { ($0.path, $0.options) }
        for (path, share) in shares {
            for rule in share.accessRules ?? [] {
                guard case .user(let name) = rule.subject, !names.contains(name) else { continue }
                problems.append(
                    ConfigurationProblem(
                        rulePosition(path),
                        "rules: unknown \(rule.subject): there is no such account in 'users' or 'user-file'"
                    ))
            }
        }
        return problems
    }
}

extension ServeOptions {
    /// Whether users without an account can sign in.
    fileprivate var hasOtherUsers: Bool {
        ldap.settings != nil || pam.service != nil || oidc.settings != nil || proxies.identityFields != nil
            || tls.clientAuthorities != nil
    }
}
