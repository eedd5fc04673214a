internal import DavitAccounts
public import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

extension Configuration {
    /// Returns the authentication in front of the application, or nil without accounts. Blocks to hash plain
    /// passwords if Basic is the only scheme, because then only hashes are kept.
    /// - Parameters:
    ///   - directory: the database of accounts, if there is one. Authentication is then required even while
    ///     the database is empty.
    ///   - fields: the ``Mountable/announcedFields`` of the application.
    func makeAuthentication(
        with directory: AccountDirectory?, announcing fields: HTTPFields, _ pool: BlockingPool, _ log: Log
    ) throws(ServerError) -> Authentication? {
        if directory != nil, !accounts.isEmpty { throw .accountsInTwoPlaces }
        if directory == nil, accounts.isEmpty {
            try checkExposure()
            return nil
        }
        let checked = try Self.checked(directory?.usableAccounts ?? accounts, authentication)
        do throws(Accounts.Problem) {
            return try Authentication(
                accounts: checked, optionsFields: fields, work: PooledWorkRunner(pool: pool),
                // Leave threads of the pool and half of the cores to other work.
                hashesAtATime: min(4, SystemThread.coreCount / 2),
                report: { address, seconds in
                    log.warning("too many wrong passwords", ["address": address, "seconds": "\(seconds)"])
                },
                limitLog: LimitLog { log.warning("request refused by a limit", $0.details) },
                now: { Clock.coarseNow() })
        } catch {
            throw .authenticationNotUsable(error)
        }
    }

    static func checked(
        _ accounts: [Account], _ settings: AuthenticationSettings, replacing previous: Accounts? = nil
    ) throws(ServerError) -> Accounts {
        if let problem = settings.problem { throw .authenticationNotUsable(problem) }
        var checked =
            previous.map { Accounts(settings, reusingSecretsOf: $0) } ?? Accounts(settings)
        for account in accounts {
            do throws(Accounts.Problem) {
                switch account.secret {
                case .password(let password): try checked.add(name: account.name, password: password)
                case .hash(let hash): try checked.add(name: account.name, hash: hash)
                }
            } catch {
                throw .accountNotUsable(name: account.name, error)
            }
        }
        return checked
    }
}

extension AccountDirectory {
    /// The accounts with which clients can sign in.
    fileprivate var usableAccounts: [Configuration.Account] {
        contents.accounts.filter(\.isEnabled).map { Configuration.Account(name: $0.name, hash: $0.secret) }
    }
}

extension WebServer {
    /// Puts the accounts of a database into effect, now and after each change. Requests in flight of accounts
    /// that were removed or disabled, or whose password has changed, are ended.
    func follow(_ directory: AccountDirectory, log: Log) {
        directory.onChange { [weak self, weak directory] in
            guard let self, let directory, let authentication else { return }
            let revoked: Set<UInt64>
            do {
                let checked = try Configuration.checked(
                    directory.usableAccounts, configuration.authentication,
                    replacing: authentication.accounts)
                revoked = try authentication.replace(with: checked)
            } catch {
                // An account that was removed must not remain usable.
                log.error("accounts cannot be used; refusing all clients", ["reason": "\(error)"])
                let none = Accounts(configuration.authentication)
                revoked = (try? authentication.replace(with: none)) ?? []
            }
            if !revoked.isEmpty { endRequests { revoked.contains($0.credentialNumber) } }
        }
    }

    /// Replaces the accounts. Requests in flight, such as downloads, uploads and event streams, are ended as
    /// by ``endRequests(where:)`` if their account was removed or its password has changed. Other requests
    /// continue.
    ///
    /// A secret in another form counts as another password: a hash instead of the password, or a different
    /// hash of it. Blocks for 50 to 100 ms for each plain password if ``AuthenticationSettings/schemes`` is
    /// only Basic.
    /// - Throws: ``ServerError/accountNotUsable(name:_:)``, ``ServerError/authenticationNotUsable(_:)``, or
    ///   ``ServerError/noAccounts`` if the list is empty or the server was created without accounts, or
    ///   ``ServerError/accountsInTwoPlaces`` if its accounts are in a database. The current accounts then
    ///   remain in effect.
    public func replaceAccounts(_ accounts: [Configuration.Account]) throws(ServerError) {
        guard let authentication, !accounts.isEmpty else { throw .noAccounts }
        if hasAccountDatabase { throw .accountsInTwoPlaces }
        let checked = try Configuration.checked(
            accounts, configuration.authentication, replacing: authentication.accounts)
        let revoked: Set<UInt64>
        do throws(Accounts.Problem) { revoked = try authentication.replace(with: checked) } catch {
            throw .authenticationNotUsable(error)
        }
        if !revoked.isEmpty { endRequests { revoked.contains($0.credentialNumber) } }
    }

    /// Ends requests in flight: cancels their tasks and closes their connections. Returns immediately.
    ///
    /// For applications with their own authentication: first make sure that no further request is admitted,
    /// then call this method to end those that were. Finds all requests that were admitted before the call
    /// and have not been answered.
    /// - Parameter isRevoked: called on the event loops for each request in flight; must not block or retain
    ///   the request.
    public func endRequests(where isRevoked: @escaping @Sendable (HTTPRequest) -> Bool) {
        http.endRequests(where: isRevoked)
    }
}
