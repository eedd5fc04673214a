public import DavitHTTP
internal import DavitServer
internal import DavitSystem

extension Configuration {
    /// What stands in front of the application; nil without accounts. Hashes passwords, where hashes alone are kept.
    /// - Parameter fields: what ``Mountable/announcedFields`` says of everything behind.
    func makeAuthentication(
        announcing fields: HTTPFields, _ pool: BlockingPool, _ log: Log
    ) throws(ServerError) -> Authentication? {
        guard !accounts.isEmpty else { return nil }
        let checked = try Self.checked(accounts, authentication)
        do throws(Accounts.Problem) {
            return try Authentication(
                accounts: checked, optionsFields: fields, work: PoolWork(pool: pool),
                // Fewer than the pool has threads, and than there are cores: others have work, too.
                hashesAtATime: min(4, Thread.coreCount / 2),
                report: { address, seconds in
                    log.warning("too many wrong passwords", ["address": address, "seconds": "\(seconds)"])
                },
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
    /// Replaces the accounts, and ends requests in flight of accounts that are gone or whose password has changed, as
    /// ``endRequests(where:)`` does: downloads, uploads and event streams. Other requests go on.
    ///
    /// A line of another form counts as another password: a hash in place of the password, or another hash of it.
    /// Blocks for 50 to 100 ms for each plain password, where ``AuthenticationSettings/schemes`` is Basic alone.
    /// - Throws: ``ServerError/accountNotUsable(name:_:)``, ``ServerError/authenticationNotUsable(_:)``, and
    ///   ``ServerError/noAccounts`` for an empty list and for a server that was made without accounts; those there were
    ///   go on to count then.
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

    /// Ends requests in flight: their tasks are cancelled, and their connections are cut. Returns immediately.
    ///
    /// For applications that authenticate by themselves: first see to it that no further request is admitted, then end
    /// those that were. A request that has been admitted when this is called, and not answered, is found.
    /// - Parameter isRevoked: called on the event loops, for each request in flight; must not block, nor keep the request.
    public func endRequests(where isRevoked: @escaping @Sendable (HTTPRequest) -> Bool) {
        http.endRequests(where: isRevoked)
    }
}
