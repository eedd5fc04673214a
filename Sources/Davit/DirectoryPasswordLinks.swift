#if TLS
internal import DavitAccess
internal import DavitAccounts
internal import DavitServer

/// The links in the database of accounts.
struct DirectoryPasswordLinks: PasswordLinkStore {
    let directory: AccountDirectory
    /// Nil without an audit log.
    let audit: (any AuditTrail)?
    let log: ServerEnvironment.LogLine

    func link(of account: String) -> PasswordLink? {
        directory.credentials(of: account).flatMap { found in
            found.account.isEnabled ? PasswordLink.split(found.account.secret).link : nil
        }
    }

    func set(
        _ password: String, of account: String, by link: PasswordLink, from address: String
    ) throws(SessionStoreError) -> Bool {
        let secret: String
        do throws(Accounts.Problem) { secret = try Accounts.scryptText(password: password) } catch {
            throw SessionStoreError(reason: error.text)
        }
        if let audit, audit.admission() != .admitted {
            throw SessionStoreError(reason: "the audit log of the server cannot be written")
        }
        do throws(AccountError) {
            try directory.commit(
                [.setSecret(account: account, secret: secret)], if: { self.link(of: account) == link })
        } catch {
            if case .credentialChanged = error { return false }
            throw SessionStoreError(reason: error.text)
        }
        let change = "set password of \(account) with a link"
        log(.info, "accounts changed", ["change": change, "by": address])
        var event = AuditEvent(.administration)
        (event.detail, event.origin) = (change, address)
        audit?.record(event)
        return true
    }
}
#endif
