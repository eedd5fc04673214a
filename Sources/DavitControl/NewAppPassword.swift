package import DavitAccess
package import DavitHTTP

/// The parameters of a new app password.
package struct NewAppPassword: Hashable, Sendable {
    /// The name of the account.
    package let account: String
    /// The name of the device or program.
    package let label: String
    /// The folder that it is limited to; nil for the whole share.
    package var path: ResourcePath?
    /// The rights that it is limited to; nil for those of the account.
    package let rights: Rights?
    /// How long it is valid; nil if it does not expire.
    package let days: Int?

    package static let dayRange = 1...36_500

    package init(
        account: String, label: String, path: ResourcePath? = nil, rights: Rights? = nil, days: Int? = nil
    ) {
        self.account = account
        self.label = label
        self.path = path
        self.rights = rights
        self.days = days
    }

    /// What it is limited to; nil if it may do what its account may do.
    package var limit: AccessLimit? {
        if path == nil, rights == nil { return nil }
        return AccessLimit(path: path ?? .root, rights: rights ?? .all)
    }
}
