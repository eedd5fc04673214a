import DavitHTTP
import DavitServer
import Testing

struct AccountsTests {
    static let badAccounts: [(name: String, password: String, problem: Accounts.Problem)] = [
        ("", "x", .badName), ("a:b", "x", .badName), ("a", "", .emptyPassword),
        ("a\n", "x", .controlCharacter), ("a", "x\0", .controlCharacter), ("a", "x\u{7f}", .controlCharacter),
        (String(repeating: "a", count: 257), "x", .tooLong),
        ("a", String(repeating: "ö", count: 129), .tooLong),
        ("taken", "x", .duplicate),
    ]

    @Test(arguments: badAccounts)
    func invalidAccountsAreRefused(name: String, password: String, problem: Accounts.Problem) throws {
        var accounts = Accounts()
        try accounts.add(name: "taken", password: "y")
        #expect(throws: problem) { try accounts.add(name: name, password: password) }
    }

    @Test func namesAndPasswordsAtTheLimitAreAccepted() throws {
        var accounts = Accounts()
        try accounts.add(
            name: String(repeating: "a", count: 256), password: String(repeating: "ö", count: 128))
        #expect(throws: Accounts.Problem.tooLong) {
            try accounts.add(name: String(repeating: "a", count: 257), password: "x")
        }
        #expect(throws: Accounts.Problem.tooLong) {
            try accounts.add(name: "b", password: String(repeating: "ö", count: 128) + "o")
        }
    }

    static let badRealms = ["", "a\"b", "a\\b", "a\nb", String(repeating: "r", count: 129)]

    @Test(arguments: badRealms)
    func ambiguousRealmsAreRefused(realm: String) {
        var settings = AuthenticationSettings()
        settings.realm = realm
        #expect(throws: Accounts.Problem.badRealm) {
            _ = try Authentication(accounts: Accounts(settings), work: InlineWork())
        }
        settings.realm = "r"
        settings.schemes = []
        #expect(throws: Accounts.Problem.noScheme) {
            _ = try Authentication(accounts: Accounts(settings), work: InlineWork())
        }
    }

    /// Hashes of crypt(3) and htpasswd must not be mistaken for passwords; real passwords do not look like
    /// hashes.
    static let texts: [(text: String, isHash: Bool)] = [
        ("$scrypt$ln=15,r=8,p=1$a$b", true), ("$digest$md5=0$davit", true), ("$2y$05$abc", true),
        ("$apr1$x$y", true), ("$6$x$y", true), ("$argon2id$v=19$m=1", true), ("", false), ("$", false),
        ("$$", false), ("$5", false), ("a$b$c", false), ("$US$ 100", false), ("$a b$c", false),
        ("$averylongword$x", false),
    ]

    @Test(arguments: texts)
    func hashesAreRecognized(text: String, isHash: Bool) {
        #expect(Accounts.isHash(text) == isHash)
    }

    #if TLS
    static let sha256 = String(repeating: "0a", count: 32)
    static let md5 = String(repeating: "0A", count: 16)
    static let scrypt =
        "$scrypt$ln=4,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$2NTzIJ646VBmxzXbKj8hLQym8A3/nnGfXYhvFngvv4I"

    static let hashes: [(text: String, schemes: [AuthenticationSettings.Scheme])] = [
        (scrypt, [.basic]),
        ("$digest$sha-256=\(sha256)$davit", [.digestSHA256, .basic]),
        ("$digest$md5=\(md5)$davit", [.digestMD5, .basic]),
        ("$digest$md5=\(md5),sha-256=\(sha256)$davit", [.digestSHA256, .digestMD5, .basic]),
    ]

    @Test(arguments: hashes)
    func storedTextDeterminesTheSchemes(text: String, schemes: [AuthenticationSettings.Scheme]) throws {
        var accounts = Accounts()
        try accounts.add(name: "anna", hash: text)
        #expect(accounts.schemes == schemes)
        // Other accounts do not add schemes.
        try accounts.add(name: "bert", password: "x")
        #expect(accounts.schemes == schemes)
    }

    static let badHashes: [(text: String, problem: Accounts.Problem)] = [
        ("", .badHash), ("secret", .badHash), ("$2y$05$abc", .badHash), ("$scrypt$", .badHash),
        ("$digest$", .badHash), ("$digest$$davit", .badHash), ("$digest$sha-256=\(sha256)", .badHash),
        ("$digest$sha-256=\(md5)$davit", .badHash), ("$digest$md5=\(sha256)$davit", .badHash),
        ("$digest$md5=\(md5),md5=\(md5)$davit", .badHash), ("$digest$md5=\(md5),$davit", .badHash),
        ("$digest$sha-1=\(md5)$davit", .badHash), ("$digest$md5=xx\(md5.dropFirst(2))$davit", .badHash),
        ("$digest$md5=\(md5)$other", .otherRealm), ("$digest$md5=\(md5)$davit ", .otherRealm),
    ]

    @Test(arguments: badHashes)
    func invalidHashesAreRefused(text: String, problem: Accounts.Problem) {
        var accounts = Accounts()
        #expect(throws: problem) { try accounts.add(name: "anna", hash: text) }
        #expect(accounts.isEmpty)
    }

    @Test func generatedSecretsAreAccepted() async throws {
        for text in [
            try Accounts.scryptText(password: "open:sesame"),
            try Accounts.digestText(name: "anna", password: "open:sesame", realm: "davit"),
        ] {
            #expect(!text.contains("sesame"))
            var accounts = Accounts()
            try accounts.add(name: "anna", hash: text)
            let gate = try AuthenticationFixture(accounts)
            #expect(try await gate.basic("anna:open:sesame").status == .noContent)
            #expect(try await gate.basic("anna:open:sesam").status == .unauthorized)
        }
    }

    @Test func digestOnlyRequiresADigestSecretForEveryAccount() throws {
        var settings = AuthenticationSettings()
        settings.schemes = [.digestSHA256, .digestMD5]
        var accounts = Accounts(settings)
        try accounts.add(name: "anna", password: "x")
        _ = try Authentication(accounts: accounts, work: InlineWork())
        try accounts.add(name: "bert", hash: Self.scrypt)
        #expect(throws: Accounts.Problem.noScheme) {
            _ = try Authentication(accounts: accounts, work: InlineWork())
        }
    }

    @Test func passwordsAreNotStored() throws {
        for schemes: [AuthenticationSettings.Scheme] in [[.basic], [.digestSHA256, .digestMD5, .basic]] {
            var settings = AuthenticationSettings()
            settings.schemes = schemes
            var accounts = Accounts(settings)
            try accounts.add(name: "anna", password: "xyzzyxyzzy")
            var text = ""
            dump(accounts, to: &text)
            #expect(!text.contains("xyzzy"))
            // `dump` writes the bytes of an array as decimal numbers, one on each line.
            let numbers = text.split(separator: "\n").compactMap {
                $0.split(separator: " ").last.flatMap { Int($0) }
            }
            let password = [120, 121, 122, 122, 121, 120, 121, 122, 122, 121]
            #expect(!numbers.indices.contains { numbers[$0...].starts(with: password) })
        }
    }
    #else
    @Test func hashesAreRefusedWithoutOpenSSL() {
        var accounts = Accounts()
        #expect(throws: Accounts.Problem.needsOpenSSL) { try accounts.add(name: "a", hash: "$scrypt$") }
    }
    #endif
}
