#if TLS
import DavitCrypto
import DavitHTTP
import DavitWebClient
import Testing

@testable import DavitACME

struct JSONWebSignatureTests {
    /// The key of RFC 7517 appendix A.2.
    static let pem = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIPO9DAeoH7kyeB7VJ1L2DMiaa+XlGTT+AZON21XY93gBoAoGCCqGSM49AwEHoUQDQgAEMKBCTNIcKUSDii11
        ySs3526iDZ8AiTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==
        -----END EC PRIVATE KEY-----
        """

    static func key() throws -> ACMEAccountKey { try ACMEAccountKey(try PrivateKey(pem: Array(pem.utf8))) }

    @Test func keyHasTheCanonicalForm() throws {
        let key = try Self.key()
        // RFC 7638 §3.2: the required members in lexicographic order.
        #expect(
            key.jsonWebKey
                == #"{"crv":"P-256","kty":"EC","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","#
                + #""y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}"#)
        #expect(key.thumbprint == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
        #expect(key.authorization(for: "abc") == "abc.cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
    }

    @Test func digestIsThatOfTheExampleOfRFC7638() throws {
        // §3.1
        let text =
            #"{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxu"#
            + #"hDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2Q"#
            + #"vzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2Nc"#
            + #"Rwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}"#
        #expect(
            Base64URL.encode(try ACMEAccountKey.digest(Array(text.utf8)))
                == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    /// The decoded parts of a signature in the flattened form.
    struct Parts {
        let header: JSONObject
        let payload: [UInt8]
        let signedBytes: [UInt8]
        let signature: [UInt8]

        init(_ bytes: [UInt8]) throws {
            let object = try #require(JSONObject(parsing: bytes, limitBytes: 1 << 20))
            let protected = try #require(object.text("protected"))
            let text = try #require(object.text("payload"))
            let head = try #require(object.bytes("protected"))
            header = try #require(JSONObject(parsing: head, limitBytes: 1 << 20))
            payload = try #require(object.bytes("payload"))
            signature = try #require(object.bytes("signature"))
            signedBytes = Array("\(protected).\(text)".utf8)
        }
    }

    @Test func requestIsSignedWithItsKey() throws {
        let key = try Self.key()
        let url = #"https://acme.example/a?"b""#
        let parts = try Parts(
            JSONWebSignature.make(Array(#"{"a":1}"#.utf8), to: url, nonce: "n-1", key: key, by: .key))
        #expect(parts.header.text("alg") == "ES256")
        #expect(parts.header.text("nonce") == "n-1")
        #expect(parts.header.text("url") == url)
        #expect(parts.header["kid"] == nil)
        let shown = try #require(parts.header["jwk"].flatMap { JSONObject($0) })
        #expect(shown.text("kty") == "EC")
        #expect(parts.payload == Array(#"{"a":1}"#.utf8))
        let x = try #require(shown.bytes("x"))
        let y = try #require(shown.bytes("y"))
        #expect(try PublicKey.p256(x: x, y: y)?.accepts(parts.signature, for: parts.signedBytes) == true)
    }

    @Test func accountReplacesTheKey() throws {
        let parts = try Parts(
            JSONWebSignature.make(
                [], to: "https://acme.example/o", nonce: "n", key: try Self.key(),
                by: .account("https://acme.example/1")))
        #expect(parts.header.text("kid") == "https://acme.example/1")
        #expect(parts.header["jwk"] == nil)
        // POST-as-GET: an empty payload (RFC 8555 §6.3).
        #expect(parts.payload.isEmpty)
    }

    @Test func bindingIsSignedWithTheExternalKey() throws {
        let key = try Self.key()
        let secret = [UInt8](1...32)
        let parts = try Parts(
            JSONWebSignature.binding(
                of: key, to: .init(keyID: "kid-1", key: Base64URL.encode(secret)),
                url: "https://acme.example/new-account"))
        #expect(parts.header.text("alg") == "HS256")
        #expect(parts.header.text("kid") == "kid-1")
        #expect(parts.header.text("url") == "https://acme.example/new-account")
        // RFC 8555 §7.3.4: without a nonce.
        #expect(parts.header["nonce"] == nil)
        #expect(parts.payload == Array(key.jsonWebKey.utf8))
        #expect(try HMACSHA256.make(for: parts.signedBytes.span, key: secret.span) == parts.signature)
    }
}
#endif
