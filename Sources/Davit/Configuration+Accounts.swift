internal import DavitAccess
internal import DavitAccounts
internal import DavitCrypto
internal import DavitEngine
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
    ///   - uses: records the uses of app passwords of the database.
    ///   - authenticators: asked about requests without an Authorization field.
    ///   - didFail: called with the address of the client after each failed login.
    ///   - isShare: whether the application is the share to which the rules of the database apply, and nothing else.
    func makeAuthentication(
        with directory: AccountDirectory?, announcing fields: HTTPFields, _ pool: BlockingPool, _ log: Log,
        _ audit: (any AuditTrail)?, _ uses: AppPasswordUses?,
        asking authenticators: [any RequestAuthenticator] = [], isShare: Bool,
        didFail: @escaping @Sendable (_ address: String) -> Void
    ) throws(ServerError) -> Authentication? {
        guard try requiresAuthentication(hasDatabase: directory != nil) else { return nil }
        let checked: Accounts
        if let directory {
            checked = try directory.usableAccounts(authentication)
        } else {
            checked = try Self.checked(accounts, authentication)
        }
        var anonymous: (@Sendable (HTTPRequest) -> Rights)?
        if isShare, let directory { anonymous = try anonymousRights(directory) }
        do throws(Accounts.Problem) {
            return try Authentication(
                accounts: checked, optionsFields: fields, work: PooledWorkRunner(pool: pool),
                // Leave threads of the pool and half of the cores to other work.
                hashesAtATime: min(4, SystemThread.coreCount / 2),
                report: { address, seconds in
                    log.warning("too many wrong passwords", ["address": address, "seconds": "\(seconds)"])
                },
                didFail: didFail,
                limitLog: LimitLog { log.warning("request refused by a limit", $0.details) },
                audit: audit, authenticators: authenticators,
                admitsForwarded: admitsForwarded, external: try externalLogins(log),
                appPasswords: uses?.services,
                anonymousRights: anonymous,
                now: { Clock.coarseNow() })
        } catch {
            throw .authenticationNotUsable(error)
        }
    }

    /// Whether clients must sign in. Without any accounts, they need not, which is permitted only on addresses of this machine.
    /// - Parameter hasDatabase: whether a state folder contains a database of accounts.
    /// - Throws: ``ServerError/accountsInTwoPlaces`` or ``ServerError/accountsNeeded(host:)``.
    package func requiresAuthentication(hasDatabase: Bool) throws(ServerError) -> Bool {
        if hasDatabase, !accounts.isEmpty { throw .accountsInTwoPlaces }
        if hasDatabase || !accounts.isEmpty || authenticatesElsewhere { return true }
        try checkExposure()
        return false
    }

    /// Whether a trusted proxy authenticates users.
    private var admitsForwarded: Bool { proxies.identityFields != nil && !proxies.trusted.isEmpty }

    /// Whether users without an account can sign in.
    var authenticatesElsewhere: Bool {
        !passwordVerifiers.isEmpty || signInProvider != nil || admitsForwarded
    }

    /// Returns what verifies passwords elsewhere; nil if nothing does.
    private func externalLogins(_ log: Log) throws(Accounts.Problem) -> ExternalLogins? {
        guard !passwordVerifiers.isEmpty else { return nil }
        // Without a cache, each request would be verified.
        guard CryptoLibrary.isAvailable else { throw .needsOpenSSL }
        return ExternalLogins(
            passwordVerifiers,
            report: { report in
                switch report {
                case .unavailable(let service, let reason):
                    log.error(
                        "password service unavailable; refusing users without a local account",
                        ["service": service, "reason": reason])
                case .availableAgain(let service):
                    log.info("password service available again", ["service": service])
                }
            },
            now: { Clock.coarseNow() })
    }

    /// Returns a function that determines the rights of a request without credentials to its target.
    private func anonymousRights(
        _ directory: AccountDirectory
    ) throws(ServerError) -> @Sendable (HTTPRequest) -> Rights {
        let prefix = try pathPrefix().path
        let hosts = AcceptedHosts(names: try publicHosts())
        return { request in
            guard let view = directory.anonymousView,
                let path = try? request.target.resourcePath().path.rebased(from: prefix, to: .root),
                // Over plain HTTP, a page of another site could use the position of its user in the network (DNS rebinding).
                request.isSecure || hosts.accept(request)
            else { return .none }
            return PageFilePath.rest(of: path) == nil ? view.rights(at: path) : .view
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
    /// Returns the accounts with which clients can sign in.
    fileprivate func usableAccounts(_ settings: AuthenticationSettings) throws(ServerError) -> Accounts {
        if let problem = settings.problem { throw .authenticationNotUsable(problem) }
        var usable = Accounts(settings)
        let contents = contents
        for account in contents.accounts {
            guard account.isEnabled else {
                usable.disable(account.name)
                continue
            }
            do throws(Accounts.Problem) {
                try usable.add(
                    Accounts.Entry(
                        account, contents.appPasswords[account.name] ?? [],
                        hasSecondFactor: contents.secondFactors[account.name] != nil))
            } catch {
                throw .accountNotUsable(name: account.name, error)
            }
        }
        return usable
    }
}

extension Accounts.Entry {
    /// - Parameters:
    ///   - appPasswords: those of the account.
    ///   - hasSecondFactor: whether the password of the account does not suffice in an Authorization field.
    fileprivate init(_ account: StoredAccount, _ appPasswords: [StoredAppPassword], hasSecondFactor: Bool) {
        self.init(
            name: account.name, hash: account.secret, allowsAccountPassword: !hasSecondFactor,
            appPasswords: appPasswords.map {
                Accounts.AppPasswordEntry(id: $0.id, secret: $0.secret, limit: $0.limit, expiry: $0.expiry)
            })
    }
}

extension WebServer {
    /// Puts changes of the accounts of a database into effect. Requests in flight with a credential that is no longer valid,
    /// because the account was removed or disabled, its password has changed, or an app password was revoked or has
    /// expired, are ended.
    func follow(_ directory: AccountDirectory, _ uses: AppPasswordUses, log: Log) {
        directory.onChange { [weak self, weak directory] names in
            guard let self, let directory, let authentication else { return }
            var revoked: Set<UInt64> = []
            for name in names {
                let credentials = directory.credentials(of: name)
                let entry = credentials.flatMap { credentials in
                    credentials.account.isEnabled
                        ? Accounts.Entry(
                            credentials.account, credentials.appPasswords,
                            hasSecondFactor: credentials.hasSecondFactor) : nil
                }
                let change = authentication.update(
                    name, to: entry, isDisabled: credentials?.account.isEnabled == false)
                revoked.formUnion(change.revoked)
                if let problem = change.problem {
                    log.error("account cannot be used", ["account": name, "reason": problem.text])
                }
            }
            endSessions(for: authentication)
            end(revoked)
        }
        uses.onExpiry { [weak self] in self?.end($0) }
    }

    /// Ends the requests in flight, and the sessions, of users without an account here whom the service no longer accepts.
    func followExternalLogins(of authentication: Authentication) {
        authentication.onExternalRevocation { [weak self] numbers, names in
            guard let self else { return }
            end(numbers)
            #if TLS
            accountEndpoint?.sessions.endSessions(elsewhere: names)
            #endif
        }
    }

    /// Ends requests in flight that were admitted with one of these credentials.
    private func end(_ revoked: Set<UInt64>) {
        if !revoked.isEmpty { endRequests { revoked.contains($0.credentialNumber) } }
    }

    /// Ends the sessions of accounts that were removed or disabled or have another password or second factor.
    private func endSessions(for authentication: Authentication) {
        #if TLS
        if let accountEndpoint {
            accountEndpoint.sessions.endSessions { accountEndpoint.credential(of: $0, authentication) }
        }
        #endif
    }

    /// Replaces the accounts. Requests in flight, such as downloads, uploads and event streams, are ended as
    /// by ``endRequests(where:)`` if their account was removed or its password has changed. Other requests
    /// continue.
    ///
    /// A secret in another form counts as another password: a hash instead of the password, or a different
    /// hash of it. Blocks for 50 to 100 ms for each plain password if ``AuthenticationSettings/schemes`` is
    /// only Basic.
    /// - Throws: ``ServerError/accountNotUsable(name:_:)``, ``ServerError/authenticationNotUsable(_:)``, or
    ///   ``ServerError/noAccounts`` if the server was created without authentication, or the list is empty although no users
    ///   are authenticated elsewhere, or ``ServerError/accountsInTwoPlaces`` if its accounts are in a database. The current
    ///   accounts then remain in effect.
    public func replaceAccounts(_ accounts: [Configuration.Account]) throws(ServerError) {
        guard let authentication, canReplaceAccounts(withEmptyList: accounts.isEmpty) else {
            throw .noAccounts
        }
        if hasAccountDatabase { throw .accountsInTwoPlaces }
        let checked = try Configuration.checked(
            accounts, configuration.authentication, replacing: authentication.accounts)
        let revoked: Set<UInt64>
        do throws(Accounts.Problem) { revoked = try authentication.replace(with: checked) } catch {
            throw .authenticationNotUsable(error)
        }
        endSessions(for: authentication)
        end(revoked)
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
