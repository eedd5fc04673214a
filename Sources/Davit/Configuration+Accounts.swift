public import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

extension Configuration {
    /// Returns the authentication in front of the application, or nil without accounts. Blocks to hash plain
    /// passwords if Basic is the only scheme, because then only hashes are kept.
    /// - Parameter fields: the ``Mountable/announcedFields`` of the application.
    func makeAuthentication(
        announcing fields: HTTPFields, _ pool: BlockingPool, _ log: Log
    ) throws(ServerError) -> Authentication? {
        guard !accounts.isEmpty else { return nil }
        let checked = try Self.checked(accounts, authentication)
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

extension WebServer {
    /// Replaces the accounts. Requests in flight, such as downloads, uploads and event streams, are ended as
    /// by ``endRequests(where:)`` if their account was removed or its password has changed. Other requests
    /// continue.
    ///
    /// A secret in another form counts as another password: a hash instead of the password, or a different
    /// hash of it. Blocks for 50 to 100 ms for each plain password if ``AuthenticationSettings/schemes`` is
    /// only Basic.
    /// - Throws: ``ServerError/accountNotUsable(name:_:)``, ``ServerError/authenticationNotUsable(_:)``, or
    ///   ``ServerError/noAccounts`` if the list is empty or the server was created without accounts. The
    ///   current accounts then remain in effect.
    public func replaceAccounts(_ accounts: [Configuration.Account]) throws(ServerError) {
        guard let authentication, !accounts.isEmpty else { throw .noAccounts }
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
