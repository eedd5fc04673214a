#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitSQLite
internal import DavitWebClient

/// An ID token (OpenID Connect Core §2) in the compact form of RFC 7515 §3.1.
struct IDToken: Sendable {
    /// The reason why a token is refused.
    enum Problem: Error, Hashable, Sendable {
        case tooLong
        case malformed
        /// The algorithm is not permitted.
        case algorithm
        /// No key has the identifier in the token and fits the algorithm.
        case unknownKey
        case signature
        /// A claim is missing, or has another value than required.
        case claim(String)

        var text: String {
            switch self {
            case .tooLong: "the ID token is too long"
            case .malformed: "the ID token is malformed"
            case .algorithm: "the ID token is not signed with RS256, ES256 or EdDSA"
            case .unknownKey: "the provider has no key for the signature of the ID token"
            case .signature: "the signature of the ID token is wrong"
            case .claim(let name): "the claim '\(name)' of the ID token is missing or wrong"
            }
        }
    }

    /// What the claims must contain.
    struct Expectation: Sendable {
        let issuer: String
        let clientID: String
        let nonce: String
        /// Seconds since 1970.
        let now: Int64
    }

    static let limitBytes = 64 << 10
    private static let headerBytes = 4 << 10
    /// How far the clock of the provider may differ, in seconds.
    static let skew: Int64 = 60

    private let algorithm: SigningAlgorithm
    private let keyID: String?
    private let claims: JSONObject
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// Parses a token without verifying it.
    init(parsing text: String) throws(Problem) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.limitBytes else { throw .tooLong }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]),
            let header = JSONObject(parsing: head, limitBytes: Self.headerBytes),
            let content = Base64URL.decode(parts[1]),
            let claims = JSONObject(parsing: content, limitBytes: Self.limitBytes),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        guard let algorithm = header.text("alg").flatMap(SigningAlgorithm.init(named:)) else {
            throw .algorithm
        }
        // RFC 7515 §4.1.11: extensions that must be understood. `b64` changes what is signed.
        guard header["crit"] == nil, header["b64"] == nil else { throw .malformed }
        // Other types, such as `at+jwt` and `logout+jwt`, are not ID tokens (RFC 8725 §3.11).
        if let type = header["typ"], type.text?.lowercased() != "jwt" { throw .malformed }
        if let id = header["kid"], id.text == nil { throw .malformed }
        self.algorithm = algorithm
        keyID = header.text("kid")
        self.claims = claims
        signedBytes = Array(bytes[..<parts[1].endIndex])
        self.signature = signature
    }

    /// Whether there is a key for the signature.
    func hasKey(in keys: JSONWebKeys) -> Bool { keys.key(keyID, algorithm) != nil }

    /// Returns the claims, after the signature and all claims that limit the use of the token have been verified
    /// (OpenID Connect Core §3.1.3.7).
    func verified(with keys: JSONWebKeys, _ expected: Expectation) throws(Problem) -> JSONObject {
        guard let key = keys.key(keyID, algorithm) else { throw .unknownKey }
        let isSigned: Bool
        do throws(CryptoError) { isSigned = try key.accepts(signature, for: signedBytes) } catch {
            throw .signature
        }
        guard isSigned else { throw .signature }
        guard claims.text("iss") == expected.issuer else { throw .claim("iss") }
        try checkAudience(expected.clientID)
        guard claims.text("nonce") == expected.nonce else { throw .claim("nonce") }
        guard claims.text("sub").map({ !$0.isEmpty }) == true else { throw .claim("sub") }
        let now = expected.now
        guard let expiry = claims.seconds("exp"), expiry > now - Self.skew else { throw .claim("exp") }
        guard let issued = claims.seconds("iat"), issued <= now + Self.skew else { throw .claim("iat") }
        if claims["nbf"] != nil {
            guard let start = claims.seconds("nbf"), start <= now + Self.skew else { throw .claim("nbf") }
        }
        return claims
    }

    /// The token must be for this client. If it is also for others, it must have been issued to this one.
    private func checkAudience(_ clientID: String) throws(Problem) {
        guard let audience = claims.text("aud").map({ [$0] }) ?? claims.texts("aud"),
            audience.contains(clientID)
        else { throw .claim("aud") }
        if claims["azp"] != nil || audience.count > 1 {
            guard claims.text("azp") == clientID else { throw .claim("azp") }
        }
    }
}
#endif
