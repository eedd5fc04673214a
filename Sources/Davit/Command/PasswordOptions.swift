internal import DavitServer

/// What `davit password` was asked to do.
package struct PasswordOptions: Hashable, Sendable {
    static let digest = "--digest"
    static let realm = "--realm"

    /// Nil for the hash alone.
    package var name: String?
    /// Print Digest secrets instead of a hash.
    package var isDigest = false
    /// What the server calls itself; Digest secrets are good for one realm.
    package var realm: String

    package init(name: String? = nil, isDigest: Bool = false, realm: String? = nil) {
        self.name = name
        self.isDigest = isDigest
        self.realm = realm ?? AuthenticationSettings().realm
    }
}
