internal import DavitHTTP
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
                report: { address, seconds in
                    log.warning("too many wrong passwords", ["address": address, "seconds": "\(seconds)"])
                },
                now: { Clock.coarseNow() })
        } catch {
            throw .authenticationNotUsable(error)
        }
    }

    static func checked(
        _ accounts: [Account], _ settings: AuthenticationSettings
    ) throws(ServerError) -> Accounts {
        if let problem = settings.problem { throw .authenticationNotUsable(problem) }
        var checked = Accounts(settings)
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
    /// From now on these accounts count and no others. Requests that are in the middle are not cut off.
    ///
    /// Blocks for 50 to 100 ms for each plain password, where ``AuthenticationSettings/schemes`` is Basic alone.
    /// - Throws: ``ServerError/accountNotUsable(name:_:)``, ``ServerError/authenticationNotUsable(_:)``, and
    ///   ``ServerError/noAccounts`` for an empty list and for a server that was made without accounts; those there were
    ///   go on to count then.
    public func replaceAccounts(_ accounts: [Configuration.Account]) throws(ServerError) {
        guard let authentication, !accounts.isEmpty else { throw .noAccounts }
        let checked = try Configuration.checked(accounts, configuration.authentication)
        do throws(Accounts.Problem) { try authentication.replaceAccounts(checked) } catch {
            throw .authenticationNotUsable(error)
        }
    }
}
