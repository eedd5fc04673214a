internal import DavitServer
internal import DavitSystem

/// Makes links with which users choose their passwords.
enum PasswordLinks {
    #if TLS
    static let hourRange = PasswordLink.hourRange
    #else
    static let hourRange = 1...1
    #endif

    /// Returns the secret of an account that has a link, and the query of the URL of the link.
    static func make(
        of account: String, hours: Int
    ) throws(CommandFailure) -> (secret: String, query: String) {
        #if TLS
        if let problem = Accounts.problem(ofName: account) {
            throw .badUser(name: account, problem: problem.text)
        }
        do throws(Accounts.Problem) {
            let (token, secret) = try PasswordLink.make(
                expiry: Clock.wallNow() / 1_000_000_000 + Int64(hours) * 3600)
            return (secret, PasswordLink.query(account: account, token: token))
        } catch {
            throw .badUser(name: account, problem: error.text)
        }
        #else
        throw .badUser(name: account, problem: Accounts.Problem.needsOpenSSL.text)
        #endif
    }
}
