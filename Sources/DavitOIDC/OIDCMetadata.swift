#if TLS
internal import DavitSQLite
internal import DavitWebClient

/// What a provider publishes about itself (OpenID Connect Discovery §3).
struct OIDCMetadata: Hashable, Sendable {
    /// The path of the metadata below the issuer (§4).
    static let path = "/.well-known/openid-configuration"
    static let limitBytes = 128 << 10

    /// Where users sign in.
    let authorizationURL: String
    /// Where codes are exchanged for tokens.
    let tokenURL: String
    /// Where the keys are.
    let keysURL: String
    /// Whether answers always contain `iss` (RFC 9207 §3).
    let namesIssuer: Bool

    /// Returns the URL of the metadata of an issuer.
    static func url(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + path
    }

    /// - Throws: ``OIDCError/invalid(_:)`` if the document is malformed, is that of another issuer, or contains a URL that
    ///   cannot be used.
    init(parsing bytes: [UInt8], issuer: String, allowsLoopback: Bool) throws(OIDCError) {
        guard let object = JSONObject(parsing: bytes, limitBytes: Self.limitBytes) else {
            throw .invalid("the metadata of the provider is malformed")
        }
        // §4.3
        guard object.text("issuer") == issuer else {
            throw .invalid("the metadata of the provider names another issuer")
        }
        func url(_ name: String) throws(OIDCError) -> String {
            guard let url = object.text(name), ServiceURL.isUsable(url, allowsLoopback: allowsLoopback) else {
                throw .invalid("the metadata of the provider has no usable \(name)")
            }
            return url
        }
        authorizationURL = try url("authorization_endpoint")
        tokenURL = try url("token_endpoint")
        keysURL = try url("jwks_uri")
        namesIssuer = object["authorization_response_iss_parameter_supported"] == true
    }
}
#endif
