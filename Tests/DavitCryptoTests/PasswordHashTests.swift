#if TLS
import DavitCrypto
import Testing

struct PasswordHashTests {
    static let quick = Scrypt.Cost(logN: 4, r: 8, p: 1)!

    // Output of hashlib.scrypt(b"p\xc3\xa4ss", salt=b"0123456789abcdef", n=16, r=8, p=1, dklen=32) in Python.
    static let known =
        "$scrypt$ln=4,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$2NTzIJ646VBmxzXbKj8hLQym8A3/nnGfXYhvFngvv4I"

    @Test func standardCostTakes32MiB() {
        let cost = Scrypt.Cost.standard
        #expect(128 * (1 << cost.logN) * cost.r == 32 << 20)
    }

    @Test func textFormatMatchesOtherPrograms() throws {
        let password = Array("päss".utf8)
        let made = try PasswordHash(of: password, salt: Array("0123456789abcdef".utf8), cost: Self.quick)
        #expect(made.text == Self.known)
        let read = try PasswordHash(parsing: Self.known)
        #expect(read.text == Self.known)
        #expect(read.cost == Self.quick)
        #expect(try read.matches(password))
    }

    @Test func onlyThePasswordMatches() throws {
        let password = Array("a long password".utf8)
        let hash = try PasswordHash(of: password, cost: Self.quick)
        #expect(try hash.matches(password))
        let others = [[], Array(password.dropLast()), password + [1], password.map { $0 ^ 32 }]
        for other in others { #expect(try !hash.matches(other)) }
    }

    @Test func emptyPasswordIsHashedLikeAnyOther() throws {
        let hash = try PasswordHash(of: [], cost: Self.quick)
        #expect(try hash.matches([]))
        #expect(try !hash.matches([1]))
    }

    @Test func equalPasswordsHaveDifferentHashes() throws {
        let first = try PasswordHash(of: [1, 2, 3], cost: Self.quick)
        let second = try PasswordHash(of: [1, 2, 3], cost: Self.quick)
        #expect(first.text != second.text)
    }

    @Test func descriptionRevealsNothing() throws {
        let hash = try PasswordHash(parsing: Self.known)
        #expect("\(hash)" == "scrypt hash")
        #expect(
            String(
                describing: try DigestSecret(
                    user: [97], realm: [98], password: [99], algorithm: .md5)) == "MD5 Digest secret")
    }

    static let salt = "MDEyMzQ1Njc4OWFiY2RlZg"
    static let hash = String(repeating: "A", count: 43)

    static let refused: [(text: String, error: PasswordHash.ParseError)] = [
        ("", .malformed), ("$", .malformed), ("secret", .malformed), ("$$$$", .malformed),
        ("$scrypt$ln=4,r=8,p=1$\(salt)", .malformed),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$\(hash)$", .malformed),
        ("x$scrypt$ln=4,r=8,p=1$\(salt)$\(hash)", .malformed),
        ("$argon2id$ln=4,r=8,p=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$r=8,ln=4,p=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=4,r=8$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=4,r=8,p=1,x=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=+4,r=8,p=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=-4,r=8,p=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=,r=8,p=1$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=4,r=8,p=99999999999999999999$\(salt)$\(hash)", .malformed),
        ("$scrypt$ln=4,r=8,p=1$\(salt)==$\(hash)", .malformed),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$\(hash)=", .malformed),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$*\(hash.dropFirst())", .malformed),
        // Non-zero trailing bits, which no encoder produces: two texts for one hash.
        ("$scrypt$ln=4,r=8,p=1$\(salt)$\(hash.dropLast())B", .malformed),
        // The first of these costs would take 10 GiB of memory, the second several weeks.
        ("$scrypt$ln=20,r=80,p=1$\(salt)$\(hash)", .costOutOfRange),
        ("$scrypt$ln=10,r=8,p=999999999$\(salt)$\(hash)", .costOutOfRange),
        ("$scrypt$ln=0,r=8,p=1$\(salt)$\(hash)", .costOutOfRange),
        ("$scrypt$ln=4,r=0,p=1$\(salt)$\(hash)", .costOutOfRange),
        ("$scrypt$ln=4,r=8,p=1$$\(hash)", .lengthOutOfRange),
        ("$scrypt$ln=4,r=8,p=1$AAAAAAAAAA$\(hash)", .lengthOutOfRange),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$", .lengthOutOfRange),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$AAAAAAAAAAAAAAAAAAAA", .lengthOutOfRange),
        ("$scrypt$ln=4,r=8,p=1$\(salt)$\(String(repeating: "A", count: 100))", .lengthOutOfRange),
    ]

    @Test(arguments: refused)
    func malformedHashesAreRefused(text: String, error: PasswordHash.ParseError) {
        #expect(throws: error) { _ = try PasswordHash(parsing: text) }
    }
}
#endif
