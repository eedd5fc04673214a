#if TLS
internal import DavitCrypto
internal import DavitSQLite
internal import DavitWebClient

/// The keys with which a provider signs tokens (RFC 7517 §5), as far as they can be used.
struct JSONWebKeys: Sendable {
    /// A key; RFC 7517 §4.
    private struct Key: Sendable {
        let id: String?
        let algorithm: SigningAlgorithm
        let key: PublicKey
    }

    static let limitBytes = 256 << 10
    /// Maximum number of keys; further ones are ignored.
    static let limit = 64

    private var keys: [Key] = []

    /// Reads a set. Keys of other kinds, and malformed ones, are ignored (RFC 7517 §5).
    /// - Throws: ``OIDCError/invalid(_:)`` if the set is malformed.
    init(parsing bytes: [UInt8]) throws(OIDCError) {
        guard let object = JSONObject(parsing: bytes, limitBytes: Self.limitBytes),
            let list = object["keys"]?.elements
        else { throw .invalid("the keys of the provider are malformed") }
        keys = list.prefix(Self.limit).compactMap { Self.key(of: $0) }
    }

    private static func key(of value: JSONValue) -> Key? {
        guard let key = JSONObject(value), let type = key.text("kty") else { return nil }
        if let use = key.text("use"), use != "sig" { return nil }
        if let uses = key["key_ops"], uses.elements?.contains("verify") != true { return nil }
        let (algorithm, made): (SigningAlgorithm, PublicKey?)
        switch (type, key.text("crv")) {
        case ("RSA", _):
            (algorithm, made) = (
                .rs256,
                key.bytes("n").flatMap { n in
                    key.bytes("e").flatMap { PublicKey.rsa(modulus: n, exponent: $0) }
                }
            )
        case ("EC", "P-256"):
            (algorithm, made) = (
                .es256, key.bytes("x").flatMap { x in key.bytes("y").flatMap { PublicKey.p256(x: x, y: $0) } }
            )
        case ("OKP", "Ed25519"):
            (algorithm, made) = (.edDSA, key.bytes("x").flatMap { PublicKey.ed25519($0) })
        default: return nil
        }
        // The key may be for another algorithm, such as RSA with PSS.
        if let name = key.text("alg"), SigningAlgorithm(named: name) != algorithm { return nil }
        return made.map { Key(id: key.text("kid"), algorithm: algorithm, key: $0) }
    }

    /// Returns the key for tokens with this identifier and algorithm; nil if there is none. Without an identifier, it must be
    /// the only one for the algorithm (OpenID Connect Core §10.1).
    func key(_ id: String?, _ algorithm: SigningAlgorithm) -> PublicKey? {
        let found = keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
        return found.count == 1 ? found[0].key : nil
    }
}

/// The algorithms with which tokens may be signed. Never `none`, or one whose key the client knows (HS256).
enum SigningAlgorithm: Hashable, Sendable {
    /// RFC 7518 §3.3.
    case rs256
    /// RFC 7518 §3.4.
    case es256
    /// RFC 8037 §3.1, with Ed25519.
    case edDSA

    init?(named name: String) {
        switch name {
        case "RS256": self = .rs256
        case "ES256": self = .es256
        // RFC 9864 names the curve.
        case "EdDSA", "Ed25519": self = .edDSA
        default: return nil
        }
    }
}
#endif
