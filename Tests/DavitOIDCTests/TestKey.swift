#if TLS
import COpenSSL
import DavitCrypto
import DavitHTTP
import Testing

/// A key pair that signs tokens.
@safe final class TestKey: Sendable {
    let algorithm: String
    let id: String
    nonisolated(unsafe) private let handle: OpaquePointer

    /// - Parameter algorithm: RS256, ES256 or EdDSA.
    init(_ algorithm: String, id: String) throws {
        self.algorithm = algorithm
        self.id = id
        let type =
            switch algorithm {
            case "RS256": "RSA"
            case "ES256": "EC"
            default: "ED25519"
            }
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try #require(unsafe EVP_PKEY_keygen_init(context) == 1)
        if type == "RSA" { try #require(unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1) }
        if type == "EC" { try #require(unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1) }
        var key: OpaquePointer?
        try #require(unsafe EVP_PKEY_generate(context, &key) == 1)
        unsafe handle = try #require(unsafe key)
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// The key as a JSON Web Key.
    /// - Parameter members: further members, such as `"use":"enc"`.
    func json(id: String? = nil, members: String = "") -> String {
        let rest = members.isEmpty ? "" : ",\(members)"
        let name = "\"kid\":\"\(id ?? self.id)\""
        switch algorithm {
        case "RS256":
            return """
                {"kty":"RSA",\(name),"n":"\(number("n"))","e":"\(number("e"))"\(rest)}
                """
        case "ES256":
            return """
                {"kty":"EC","crv":"P-256",\(name),"x":"\(number("qx", 32))","y":"\(number("qy", 32))"\(rest)}
                """
        default:
            var bytes = [UInt8](repeating: 0, count: 32)
            var count = bytes.count
            unsafe EVP_PKEY_get_raw_public_key(handle, &bytes, &count)
            return """
                {"kty":"OKP","crv":"Ed25519",\(name),"x":"\(Base64URL.encode(bytes))"\(rest)}
                """
        }
    }

    private func number(_ name: String, _ length: Int? = nil) -> String {
        var value: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(handle, name, &value) == 1 else { return "" }
        defer { unsafe BN_free(value) }
        let count = unsafe length ?? Int((BN_num_bits(value) + 7) / 8)
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe BN_bn2binpad(value, &bytes, Int32(count))
        return Base64URL.encode(bytes)
    }

    /// Returns a token with these claims.
    /// - Parameter header: nil for the usual header of the key.
    func token(_ claims: String, header: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"\#(algorithm)","kid":"\#(id)","typ":"JWT"}"#
        let content = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
        return "\(content).\(Base64URL.encode(try sign(Array(content.utf8))))"
    }

    private func sign(_ message: [UInt8]) throws -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest: String? = algorithm == "EdDSA" ? nil : "SHA256"
        try #require(unsafe EVP_DigestSignInit_ex(context, nil, digest, nil, nil, handle, nil) == 1)
        var signature = [UInt8](repeating: 0, count: 1024)
        var count = signature.count
        try #require(unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1)
        signature.removeLast(signature.count - count)
        return algorithm == "ES256" ? Self.joined(signature) : signature
    }

    /// Returns the two numbers of an ASN.1 sequence in 32 bytes each (RFC 7518 §3.4).
    private static func joined(_ sequence: [UInt8]) -> [UInt8] {
        var rest = sequence[2...]
        var joined: [UInt8] = []
        for _ in 0..<2 {
            let end = rest.startIndex + 2 + Int(rest[rest.startIndex + 1])
            let digits = rest[(rest.startIndex + 2)..<end].drop { $0 == 0 }
            joined += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest[end...]
        }
        return joined
    }
}
#endif
