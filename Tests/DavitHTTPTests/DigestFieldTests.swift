import DavitHTTP
import Testing

/// RFC 9530, and the checksums sent by ownCloud clients.
struct DigestFieldTests {
    private static let hello = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let helloSHA1 = "qvTGHdzF6KLavt4PO0gs2a6pQ00="

    static let fields: [(field: String, digests: [DigestAlgorithm])] = [
        ("", []), ("sha-256=:\(hello):", [.sha256]), (" sha-256=:\(hello): ", [.sha256]),
        ("sha-256=:\(hello):,sha=:\(helloSHA1):", [.sha256, .sha1]),
        ("sha=:\(helloSHA1):\t,  sha-256=:\(hello):", [.sha256, .sha1]),
        // §2: unknown algorithms are ignored. RFC 9651 §3.1.2: parameters are ignored.
        ("crc32c=:AAAAAA==:", []), ("id-sha-256=:\(hello):, sha-256=:\(hello):;a=\"x,y\";b", [.sha256]),
        // RFC 9651 §4.2.7: padding is optional.
        ("sha-256=:\(hello.dropLast()):", [.sha256]),
        // A digest of the wrong length is parsed, but never matches the content.
        ("md5=::", [.md5]),
    ]

    @Test(arguments: fields)
    func knownDigestsAreParsed(field: String, algorithms: [DigestAlgorithm]) throws {
        #expect(try DigestField.parse(Array(field.utf8).span).map(\.algorithm) == algorithms)
    }

    @Test func bytesRoundTrip() throws {
        let field = "sha-256=:\(Self.hello):"
        let digest = try #require(try DigestField.parse(Array(field.utf8).span).first)
        #expect(digest.bytes.prefix(4) == [0x2c, 0xf2, 0x4d, 0xba] && digest.bytes.count == 32)
        #expect(DigestField.encode(digest) == field)
        #expect(
            ChecksumList.encode([digest])
                == "SHA256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }

    /// RFC 9651 §4.2: the last value of a repeated key applies.
    @Test func lastValueOfARepeatedKeyApplies() throws {
        let field = "md5=:AAAA:, md5=:AAAB:"
        #expect(
            try DigestField.parse(Array(field.utf8).span) == [ContentDigest(.md5, [0, 0, 1])])
    }

    @Test(arguments: [
        "sha-256", "sha-256=", "sha-256=abc", "sha-256=1", "sha-256=:abc", "sha-256=:a*b=:", "SHA-256=:AAAA:",
        "=:AAAA:", "sha-256=:AAAA: x", "sha-256=:AAAA:,", "sha-256=:AAAA:;", "sha-256=\"AAAA\"",
        "sha-256 =:AAAA:", "sha-256=:AAAA:;A", ":AAAA:", "md5=\"\\", "md5=:A:",
    ])
    func malformedFieldsAreRefused(field: String) {
        #expect(throws: DigestError.malformed) { try DigestField.parse(Array(field.utf8).span) }
    }

    static let preferences: [(field: String, algorithms: [DigestAlgorithm])] = [
        ("", []), ("sha-256=1", [.sha256]), ("sha-256=3, sha-512=10, unixsum=9", [.sha512, .sha256]),
        // §4: 0 means unwanted; for equal preferences the stronger algorithm is used.
        ("sha-256=0, md5=1", [.md5]), ("md5=5, sha=5, sha-512=5", [.sha512, .sha1, .md5]),
        ("sha-256=11", []), ("sha-256", []), ("sha-256=-1", []), ("sha-256=0.5", []),
        ("sha-256=1;q=2", [.sha256]),
        // A malformed preference is ignored.
        ("sha-256=1,", []), ("sha-256=", []), ("?", []),
    ]

    @Test(arguments: preferences)
    func algorithmsAreSortedByPreference(field: String, algorithms: [DigestAlgorithm]) {
        #expect(DigestField.parsePreference(Array(field.utf8).span) == algorithms)
    }

    static let lists: [(list: String, digests: [ContentDigest])] = [
        ("", []), ("MD5:5d41402abc4b2a76b9719d911017c592", [ContentDigest(.md5, md5)]),
        ("md5:5D41402ABC4B2A76B9719D911017C592", [ContentDigest(.md5, md5)]),
        ("SHA3-256:00 ADLER32:062c0215", [ContentDigest(.adler32, [6, 0x2c, 2, 0x15])]),
        ("Adler32:62c0215,crc:1", [ContentDigest(.adler32, [6, 0x2c, 2, 0x15])]),
    ]
    private static let md5: [UInt8] = [
        0x5d, 0x41, 0x40, 0x2a, 0xbc, 0x4b, 0x2a, 0x76, 0xb9, 0x71, 0x9d, 0x91, 0x10, 0x17, 0xc5, 0x92,
    ]

    @Test(arguments: lists)
    func checksumListsRoundTrip(list: String, digests: [ContentDigest]) throws {
        #expect(try ChecksumList.parse(Array(list.utf8).span) == digests)
        let written = ChecksumList.encode(digests)
        #expect(try ChecksumList.parse(Array(written.utf8).span) == digests)
    }

    @Test(arguments: [
        "5d41402abc4b2a76b9719d911017c592", ":00", "MD5:", "MD5:5d", "MD5:5d41402abc4b2a76b9719d911017c59g",
        "SHA1:5d41402abc4b2a76b9719d911017c592", "ADLER32:", "ADLER32:123456789", "ADLER32:x",
    ])
    func malformedChecksumListsAreRefused(list: String) {
        #expect(throws: DigestError.malformed) { try ChecksumList.parse(Array(list.utf8).span) }
    }
}
