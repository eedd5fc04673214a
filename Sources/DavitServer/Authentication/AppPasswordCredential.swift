internal import DavitAccess
internal import Synchronization

/// An app password of an account, as ``Authentication`` uses it.
final class AppPasswordCredential: Sendable {
    let id: String
    let secret: AppPasswordSecret
    /// The principal of requests with this password.
    let identity: IdentityDetails
    /// When the password expires, in seconds since 1970; nil if it does not.
    let expiry: Int64?
    /// See ``HTTPRequest/credentialNumber``.
    let number: UInt64
    /// When a use was last reported, in nanoseconds of the clock of ``Authentication``.
    private let reported = Atomic<Int64>(.min)

    /// How often uses are reported, in nanoseconds.
    static let reportInterval: Int64 = 300_000_000_000

    init(
        _ entry: Accounts.AppPasswordEntry, account: String, realm: [UInt8], number: UInt64
    ) throws(Accounts.Problem) {
        id = entry.id
        secret = try AppPasswordSecret(parsing: entry.secret, realm: realm)
        identity = IdentityDetails(
            Principal(.appPassword, account, limit: entry.limit), credentialID: entry.id)
        expiry = entry.expiry
        self.number = number
    }

    func isExpired(at seconds: Int64) -> Bool { expiry.map { $0 <= seconds } ?? false }

    /// Whether both are the same password with the same rights, so that requests in flight may continue.
    func isSame(as other: AppPasswordCredential) -> Bool {
        id == other.id && secret == other.secret && expiry == other.expiry
            && identity.principal == other.identity.principal
    }

    /// Whether a use is to be reported: at most once per ``reportInterval``.
    func isReportDue(now: Int64) -> Bool {
        let last = reported.load(ordering: .relaxed)
        guard last == .min || now - last >= Self.reportInterval else { return false }
        return reported.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    }
}

/// A use of an app password.
package struct AppPasswordUse: Sendable {
    /// The name of the account.
    package let account: String
    /// The ID of the app password.
    package let id: String
    /// The numeric address of the client.
    package let address: String
    /// See ``HTTPRequest/credentialNumber``.
    package let number: UInt64
    /// When the password expires, in seconds since 1970; nil if it does not.
    package let expiry: Int64?
}

/// What ``Authentication`` needs to accept app passwords.
package struct AppPasswordServices: Sendable {
    /// Returns the current time in seconds since 1970, with which expiry is compared.
    let seconds: @Sendable () -> Int64
    /// Called when an app password is used, at most once in five minutes for each. Must not block.
    let didUse: @Sendable (AppPasswordUse) -> Void

    package init(
        seconds: @escaping @Sendable () -> Int64, didUse: @escaping @Sendable (AppPasswordUse) -> Void
    ) {
        self.seconds = seconds
        self.didUse = didUse
    }
}
