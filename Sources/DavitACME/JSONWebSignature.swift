#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer

/// The key of an account at an ACME server: ECDSA on the curve P-256 (RFC 7518 §3.4).
struct ACMEAccountKey: Sendable {
    private let key: PrivateKey
    /// The public key in the canonical form of RFC 7638 §3: required members in lexicographic order, without spaces.
    let jsonWebKey: String
    /// The digest of ``jsonWebKey`` (RFC 7638), in Base64 for URLs.
    let thumbprint: String

    /// - Throws: ``ACMEError/invalid(_:)`` if the key is not on the curve P-256.
    init(_ key: PrivateKey) throws(ACMEError) {
        guard let (x, y) = key.p256Point() else {
            throw .invalid("the account key is not on the curve P-256")
        }
        self.key = key
        jsonWebKey =
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        thumbprint = Base64URL.encode(try ACMEAccountKey.digest(Array(jsonWebKey.utf8)))
    }

    /// Returns the key authorization of a challenge (RFC 8555 §8.1).
    func authorization(for token: String) -> String { "\(token).\(thumbprint)" }

    /// Returns the SHA-256 digest.
    static func digest(_ bytes: [UInt8]) throws(ACMEError) -> [UInt8] {
        try ACMEAccountKey.crypto { () throws(CryptoError) in try Digest.of(bytes, .sha256) }
    }

    func signature(of message: [UInt8]) throws(ACMEError) -> [UInt8] {
        try ACMEAccountKey.crypto { () throws(CryptoError) in try key.signatureP256(of: message) }
    }

    static func crypto<T>(_ body: () throws(CryptoError) -> T) throws(ACMEError) -> T {
        do throws(CryptoError) { return try body() } catch {
            throw .unavailable("\(error.call): \(error.reason)")
        }
    }
}

/// JSON Web Signatures in the flattened form of RFC 7515 §7.2.2, as RFC 8555 §6.2 requires.
enum JSONWebSignature {
    /// How a request names its key.
    enum Signer {
        /// The whole key, for a new account.
        case key
        /// The URL of the account.
        case account(String)
    }

    /// Returns the content of a request.
    /// - Parameter payload: the JSON to send; empty for POST-as-GET (RFC 8555 §6.3).
    static func make(
        _ payload: [UInt8], to url: String, nonce: String, key: ACMEAccountKey, by signer: Signer
    ) throws(ACMEError) -> [UInt8] {
        let header = header("ES256", nonce: nonce, url: url) {
            switch signer {
            case .key: #""jwk":\#(key.jsonWebKey)"#
            case .account(let url): #""kid":\#(string(url))"#
            }
        }
        return try flattened(header, payload) { (message) throws(ACMEError) in
            try key.signature(of: message)
        }
    }

    /// Returns the binding of a new account to an external one (RFC 8555 §7.3.4).
    /// - Parameter url: the URL to which the new account is sent.
    static func binding(
        of key: ACMEAccountKey, to account: ACMESettings.ExternalAccount, url: String
    ) throws(ACMEError) -> [UInt8] {
        guard let secret = Base64URL.decode(account.key.utf8) else {
            throw .invalid("the key of the external account is not in Base64 for URLs")
        }
        let header = header("HS256", nonce: nil, url: url) { #""kid":\#(string(account.keyID))"# }
        return try flattened(header, Array(key.jsonWebKey.utf8)) { (message) throws(ACMEError) in
            try ACMEAccountKey.crypto { () throws(CryptoError) in
                try HMACSHA256.make(for: message.span, key: secret.span)
            }
        }
    }

    private static func header(
        _ algorithm: String, nonce: String?, url: String, _ key: () -> String
    ) -> String {
        let nonce = nonce.map { #","nonce":\#(string($0))"# } ?? ""
        return #"{"alg":"\#(algorithm)",\#(key())\#(nonce),"url":\#(string(url))}"#
    }

    private static func flattened(
        _ header: String, _ payload: [UInt8], _ sign: ([UInt8]) throws(ACMEError) -> [UInt8]
    ) throws(ACMEError) -> [UInt8] {
        let header = Base64URL.encode(Array(header.utf8))
        let payload = Base64URL.encode(payload)
        let signature = Base64URL.encode(try sign(Array("\(header).\(payload)".utf8)))
        return Array(#"{"protected":"\#(header)","payload":"\#(payload)","signature":"\#(signature)"}"#.utf8)
    }

    /// Returns a JSON string.
    private static func string(_ text: String) -> String {
        var writer = JSONWriter()
        writer.object { $0.member("s", text) }
        return String(decoding: writer.bytes.dropFirst(5).dropLast(), as: UTF8.self)
    }
}
#endif
