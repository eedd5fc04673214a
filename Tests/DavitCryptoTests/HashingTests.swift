#if TLS
import DavitCrypto
import DavitHTTP
import Testing

struct HashingTests {
    static func hex(_ bytes: [UInt8]) -> String { String(decoding: HexText.encode(bytes), as: UTF8.self) }

    static let digests: [(text: String, algorithm: Digest.Algorithm, digest: String)] = [
        // RFC 1321 appendix A.5.
        ("", .md5, "d41d8cd98f00b204e9800998ecf8427e"),
        ("message digest", .md5, "f96b697d7cb7938d525a2f31aaf161d0"),
        // FIPS 180-2 appendices A, B and C, and the empty text.
        ("", .sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", .sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("", .sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", .sha256,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abc", .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ]

    @Test(arguments: digests)
    func digestsMatchTheStandards(text: String, algorithm: Digest.Algorithm, digest: String) throws {
        #expect(Self.hex(try Digest.of(Array(text.utf8), algorithm)) == digest)
    }

    @Test(arguments: Digest.Algorithm.allCases)
    func incrementalDigestEqualsTheWhole(algorithm: Digest.Algorithm) throws {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let whole = try Digest.of(bytes, algorithm)
        #expect(whole.count == algorithm.byteCount)
        for position in 0...bytes.count {
            var digest = try Digest(algorithm)
            try digest.update(bytes.span.extracting(0..<position))
            try digest.update(bytes.span.extracting(position..<bytes.count))
            #expect(try digest.finish() == whole)
        }
    }

    static let codes: [(key: [UInt8], message: [UInt8], code: String)] = [
        // RFC 4231 §4.2 to §4.4, §4.7, §4.8.
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131),
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        // An empty key and an empty message.
        ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test(arguments: codes)
    func authenticationCodesMatchTheRFC(key: [UInt8], message: [UInt8], code: String) throws {
        #expect(Self.hex(try HMACSHA256.make(for: message.span, key: key.span)) == code)
    }

    /// RFC 2202 §3.
    static let sha1Codes: [(key: [UInt8], message: String, code: String)] = [
        ([UInt8](repeating: 0x0b, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            [UInt8](repeating: 0xaa, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ]

    @Test(arguments: sha1Codes)
    func sha1CodesMatchTheRFC(key: [UInt8], message: String, code: String) throws {
        #expect(Self.hex(try HMACSHA1.make(for: Array(message.utf8).span, key: key.span)) == code)
    }
}
#endif
