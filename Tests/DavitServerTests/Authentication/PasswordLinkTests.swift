#if TLS
import DavitHTTP
import DavitServer
import Testing

struct PasswordLinkTests {
    @Test func tokenIsAcceptedUntilItExpires() throws {
        let (token, secret) = try PasswordLink.make(expiry: 1_000)
        let (hash, found) = PasswordLink.split(secret)
        let link = try #require(found)
        #expect(hash.hasPrefix("$scrypt$"))
        #expect(secret.hasPrefix(hash))
        #expect(!secret.contains(token))
        #expect(link.accepts(token, now: 999))
        #expect(!link.accepts(token, now: 1_000))
        for other in ["", String(token.dropLast()), token + "a", String(repeating: "a", count: 1 << 20)] {
            #expect(!link.accepts(other, now: 0))
        }
        #expect(try PasswordLink.make(expiry: 1_000).token != token)
    }

    /// A text that looks nearly like a link is not one.
    @Test(arguments: [
        "$scrypt$ln=1$a$b5", "$a$link$zz$5", "$link$\(String(repeating: "a", count: 62))$5", "5", "",
    ])
    func otherSecretsHaveNoLink(secret: String) {
        let (hash, link) = PasswordLink.split(secret)
        #expect(hash == secret)
        #expect(link == nil)
    }

    /// An account with a link exists, and no password is right.
    @Test func accountsWithALinkHaveNoPassword() async throws {
        let (token, secret) = try PasswordLink.make(expiry: .max)
        var accounts = Accounts(AuthenticationSettings())
        try accounts.add(name: "anna", hash: secret)
        let gate = try AuthenticationFixture(accounts)
        for password in [token, "", secret] {
            #expect(try await gate.basic("anna:\(password)").status == .unauthorized)
        }
        #expect(throws: Accounts.Problem.badHash) {
            try accounts.add(name: "ben", hash: "$link$\(String(repeating: "a", count: 64))$5")
        }
    }

    @Test func queryIsEncoded() {
        #expect(PasswordLink.query(account: "ann&a ä", token: "t") == "?account&name=ann%26a%20%C3%A4&link=t")
    }
}
#endif
