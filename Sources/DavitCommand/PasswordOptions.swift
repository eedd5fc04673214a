internal import DavitServer

/// The arguments of `davit password`.
package struct PasswordOptions: Hashable, Sendable {
    static let digest = "--digest"
    static let realm = "--realm"

    /// The account name; nil to print only the hash.
    package var name: String?
    /// Whether to print Digest secrets instead of a password hash.
    package var isDigest = false
    /// The authentication realm; Digest secrets are valid for one realm.
    package var realm: String

    package init(name: String? = nil, isDigest: Bool = false, realm: String? = nil) {
        self.name = name
        self.isDigest = isDigest
        self.realm = realm ?? AuthenticationSettings().realm
    }
}
