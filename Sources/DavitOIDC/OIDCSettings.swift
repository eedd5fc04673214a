internal import DavitHTTP
internal import DavitWebClient

/// How users sign in at an OpenID Connect provider.
public struct OIDCSettings: Hashable, Sendable {
    /// The URL that identifies the provider, exactly as in its tokens, such as `https://login.example.org/realms/main`. Must
    /// be an https URL; http is allowed for a provider on this machine.
    public var issuer: String
    /// The name of davit at the provider.
    public var clientID: String
    /// The secret of davit at the provider; nil if it is a public client, which only PKCE (RFC 7636) protects.
    public var clientSecret: String?
    /// The name of the provider on the button of the sign-in page.
    public var name = "OpenID Connect"
    /// The claim of the ID token that contains the name of the user, to which rules refer. Users must not be able to choose
    /// it at the provider. With `email`, the provider must have verified the address (`email_verified`).
    public var userClaim = "preferred_username"
    /// The claim that contains the groups of the user, an array of strings. Users without the claim have no groups.
    public var groupsClaim = "groups"
    /// The scopes to request in addition to `openid`, separated by spaces.
    public var scopes = "profile"
    /// A file with the authorities that may have issued the certificate of the provider, in PEM; nil for those of the system.
    public var authorities: String?

    /// Creates settings with the defaults of the other properties.
    public init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// The reason why settings cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The issuer is not an https URL, or has a query or a fragment (OpenID Connect Discovery §2).
        case badIssuer(String)
        /// The client ID or secret is empty, too long, or contains characters other than printable ASCII.
        case badClient
        /// The name of a claim or of the provider is empty, too long, or contains control characters.
        case badName(String)
        /// The scopes contain other characters than those of RFC 6749 §3.3.
        case badScopes(String)
        /// This build does not include OpenID Connect (package trait `OIDC`).
        case notIncluded
    }

    /// Maximum length of a text in bytes.
    private static let limitBytes = 1024

    /// The first problem with these settings; nil if they can be used.
    package var problem: Problem? {
        guard ServiceURL.isUsable(issuer, allowsLoopback: true), !issuer.utf8.contains(UInt8(ascii: "?"))
        else {
            return .badIssuer(issuer)
        }
        for text in [clientID, clientSecret ?? "-"]
        where !(1...Self.limitBytes ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }) {
            return .badClient
        }
        for text in [userClaim, groupsClaim, name]
        where !(1...Self.limitBytes ~= text.utf8.count) || text.utf8.contains(where: \.isControl) {
            return .badName(text)
        }
        guard scopes.utf8.count <= Self.limitBytes,
            scopes.utf8.allSatisfy({
                0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            })
        else { return .badScopes(scopes) }
        return nil
    }

    /// Whether the provider may be reached without TLS.
    var allowsLoopback: Bool { issuer.utf8.starts(with: "http:".utf8) }
}
