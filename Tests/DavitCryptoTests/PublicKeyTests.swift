#if TLS
import DavitCrypto
import DavitHTTP
import Testing

/// Signatures of other services: the examples of the RFCs, and changed ones.
struct PublicKeyTests {
    struct Example: Sendable {
        let name: String
        let key: PublicKey
        let message: String
        let signature: String
    }

    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8) ?? [] }

    private static let modulus = bytes(
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SF"
            + "d2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-"
            + "UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2e"
            + "thFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ")
    private static let coordinates = (
        x: bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
        y: bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    )

    /// RFC 7515 §A.2 and §A.3, RFC 8037 §A.4.
    static func examples() throws -> [Example] {
        [
            Example(
                name: "RSA", key: try #require(PublicKey.rsa(modulus: modulus, exponent: [1, 0, 1])),
                message: "eyJhbGciOiJSUzI1NiJ9.\(claims)",
                signature:
                    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGb"
                    + "ds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0Ga"
                    + "rZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY"
                    + "9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"),
            Example(
                name: "P-256", key: try #require(PublicKey.p256(x: coordinates.x, y: coordinates.y)),
                message: "eyJhbGciOiJFUzI1NiJ9.\(claims)",
                signature:
                    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
            Example(
                name: "Ed25519",
                key: try #require(PublicKey.ed25519(bytes("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))),
                message: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
                signature:
                    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"),
        ]
    }

    @Test func examplesAreAccepted() throws {
        for example in try Self.examples() {
            let (message, signature) = (Array(example.message.utf8), Self.bytes(example.signature))
            #expect(try example.key.accepts(signature, for: message), "\(example.name)")
            #expect(try !example.key.accepts(signature, for: message + [0]), "\(example.name)")
            for other in try Self.examples() where other.name != example.name {
                #expect(try !other.key.accepts(signature, for: message), "\(other.name) for \(example.name)")
            }
            for index in signature.indices {
                var changed = signature
                changed[index] ^= 0x80
                #expect(try !example.key.accepts(changed, for: message), "\(example.name), byte \(index)")
            }
            for count in signature.indices {
                #expect(
                    try !example.key.accepts(Array(signature[..<count]), for: message),
                    "\(example.name), \(count)")
            }
            #expect(try !example.key.accepts(signature + [0], for: message), "\(example.name)")
            let zeros = [UInt8](repeating: 0, count: signature.count)
            #expect(try !example.key.accepts(zeros, for: message), "\(example.name)")
        }
    }

    @Test func unusableKeysAreRefused() {
        let (modulus, coordinates) = (Self.modulus, Self.coordinates)
        // Leading zeros are not part of a number.
        #expect(PublicKey.rsa(modulus: [0] + modulus, exponent: [0, 3]) != nil)
        for exponent: [UInt8] in [[], [0], [1], [2], [1, 0], [1, 0, 0, 0, 1]] {
            #expect(PublicKey.rsa(modulus: modulus, exponent: exponent) == nil, "\(exponent)")
        }
        #expect(PublicKey.rsa(modulus: Array(modulus.dropLast()), exponent: [3]) == nil)
        #expect(PublicKey.rsa(modulus: [UInt8](repeating: 0xFF, count: 1025), exponent: [3]) == nil)
        #expect(PublicKey.rsa(modulus: [], exponent: [3]) == nil)
        var other = coordinates.y
        other[31] ^= 1
        #expect(PublicKey.p256(x: coordinates.x, y: other) == nil)
        #expect(PublicKey.p256(x: coordinates.x, y: Array(coordinates.y.dropLast())) == nil)
        #expect(PublicKey.p256(x: [0] + coordinates.x, y: coordinates.y) == nil)
        #expect(PublicKey.p256(x: [], y: []) == nil)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(PublicKey.p256(x: zeros, y: zeros) == nil)
        #expect(PublicKey.ed25519([UInt8](repeating: 1, count: 31)) == nil)
        #expect(PublicKey.ed25519([]) == nil)
    }
}
#endif
