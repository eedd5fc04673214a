public import DavitHTTP

/// The sender of a request, and how it was authenticated.
public struct Principal: Hashable, Sendable {
    /// How the client has signed in.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// With the password of an account.
        case account
        /// With an app password.
        case appPassword = "app-password"
        /// With a link that an account has made.
        case link
        /// With a TLS certificate.
        case certificate
        /// Not at all.
        case anonymous
    }

    public let kind: Kind
    /// The account; for a link, the account of its maker. Nil for anonymous clients.
    public let name: String?
    /// The groups that the identity provider reports for this login, in addition to those that the policy knows.
    public let groups: Set<String>
    /// What the credential is limited to; nil if it may do what its account may do.
    public let limit: AccessLimit?

    /// A client that has not signed in.
    public static let anonymous = Principal(kind: .anonymous, name: nil)

    private init(kind: Kind, name: String?) {
        self.kind = kind
        self.name = name
        groups = []
        limit = nil
    }

    /// - Parameter kind: every kind except `anonymous`.
    public init(_ kind: Kind, _ name: String, groups: Set<String> = [], limit: AccessLimit? = nil) {
        precondition(kind != .anonymous, "An anonymous client has no name.")
        self.kind = kind
        self.name = name
        self.groups = groups
        self.limit = limit
    }
}

/// The limit of a credential, such as an app password: rights in one folder, and nothing outside of it.
public struct AccessLimit: Hashable, Sendable {
    /// A canonical path.
    public let path: ResourcePath
    /// The rights that remain; the credential never has a right that its account does not have.
    public let rights: Rights

    public init(path: ResourcePath, rights: Rights) {
        self.path = path
        self.rights = rights
    }
}
