#if TLS
import DavitCrypto
import DavitHTTP
import Testing

struct ScryptTests {
    // RFC 7914 §12.
    static let vectors: [(password: String, salt: String, logN: Int, r: Int, p: Int, key: String)] = [
        (
            "", "", 4, 1, 1,
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "password", "NaCl", 10, 8, 16,
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        ),
        (
            "pleaseletmein", "SodiumChloride", 14, 8, 1,
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
        ),
    ]

    @Test(arguments: vectors)
    func derivedKeysMatchTheRFC(
        password: String, salt: String, logN: Int, r: Int, p: Int, key: String
    ) throws {
        let cost = try #require(Scrypt.Cost(logN: logN, r: r, p: p))
        let derived = try Scrypt.derive(
            from: Array(password.utf8), salt: Array(salt.utf8), cost: cost, count: 64)
        #expect(HexText.encode(derived) == Array(key.utf8))
    }

    static let costs: [(logN: Int, r: Int, p: Int, isGood: Bool)] = [
        (15, 8, 1, true), (1, 1, 1, true), (17, 8, 1, true), (15, 8, 4, true), (15, 1, 32, true),
        // The fourth vector of §12 takes 1 GiB.
        (20, 8, 1, false),
        (17, 8, 2, false), (18, 8, 1, false), (15, 8, 5, false), (15, 33, 1, false),
        // §2: N is greater than 1 and less than 2^(128 · r / 8).
        (0, 8, 1, false), (-1, 8, 1, false), (15, 1, 1, true), (16, 1, 1, false),
        (15, 0, 1, false), (15, 8, 0, false), (15, -8, -1, false),
        (1, .max, .max, false), (63, 8, 1, false), (.max, 1, 1, false), (10, 1 << 20, 1 << 20, false),
    ]

    @Test(arguments: costs)
    func costsAreBounded(logN: Int, r: Int, p: Int, isGood: Bool) {
        #expect((Scrypt.Cost(logN: logN, r: r, p: p) != nil) == isGood)
    }
}
#endif
