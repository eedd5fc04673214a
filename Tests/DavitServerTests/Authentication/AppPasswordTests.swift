#if TLS
import DavitAccess
import DavitCrypto
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// App passwords with Basic and Digest.
struct AppPasswordTests {
    typealias Digest = DigestAuthenticationTests

    static let realm = "files"
    static let limit = AccessLimit(path: ResourcePath(segments: [Array("team".utf8)])!, rights: .view)

    let work = InlineWork()
    let phone = AppPassword()
    let laptop = AppPassword()

    static var settings: AuthenticationSettings {
        var settings = AuthenticationSettings()
        settings.realm = realm
        return settings
    }

    /// A scrypt hash with low cost.
    static func hash(of password: String, mark: String = "") throws -> String {
        let cost = try #require(Scrypt.Cost(logN: 4, r: 1, p: 1))
        return try PasswordHash(of: Array(password.utf8), cost: cost).text + mark
    }

    func entry(
        _ password: AppPassword, id: String, of account: String = "anna", realm: String = realm,
        limit: AccessLimit? = nil, expiry: Int64? = nil
    ) throws -> Accounts.AppPasswordEntry {
        Accounts.AppPasswordEntry(
            id: id, secret: try password.secret(account: account, realm: realm), limit: limit, expiry: expiry)
    }

    /// Anna's password is "secret". Her phone is limited to `/team`.
    func anna(
        hash: String? = nil, allowsAccountPassword: Bool = true,
        _ passwords: [Accounts.AppPasswordEntry]? = nil
    ) throws -> Accounts.Entry {
        Accounts.Entry(
            name: "anna", hash: try hash ?? Self.hash(of: "secret"),
            allowsAccountPassword: allowsAccountPassword,
            appPasswords: try passwords
                ?? [entry(phone, id: "phone", limit: Self.limit), entry(laptop, id: "laptop")])
    }

    func gate(_ entries: [Accounts.Entry], hasAppPasswords: Bool = true) throws -> AuthenticationFixture {
        var accounts = Accounts(Self.settings)
        for entry in entries { try accounts.add(entry) }
        return try AuthenticationFixture(accounts, work: work, hasAppPasswords: hasAppPasswords)
    }

    func basic(_ pair: String) -> [String] { ["Authorization: Basic \(Base64.encode(Array(pair.utf8)))"] }

    // MARK: Basic

    @Test func passwordsAreRandomAndRecognizable() {
        var seen: Set<String> = []
        for _ in 0..<200 {
            let text = AppPassword().text
            #expect(seen.insert(text).inserted)
            #expect(text.utf8.count == 23 && text.split(separator: "-").map(\.utf8.count) == [5, 5, 5, 5])
            #expect(text.utf8.allSatisfy { 97...122 ~= $0 || 50...55 ~= $0 || $0 == 45 })
        }
        // Each of the 32 characters occurs.
        #expect(Set(seen.joined().utf8).count == 33)
    }

    @Test func everySpellingIsAcceptedWithoutHashing() async throws {
        let gate = try gate([anna()])
        let text = laptop.text
        let plain = text.filter { $0 != "-" }
        for password in [
            text, plain, text.uppercased(), plain.uppercased(), text.replacing("-", with: " "),
            plain.prefix(1).uppercased() + plain.dropFirst(), "-\(text)-",
        ] {
            // The second request is answered from the cache.
            for _ in 0..<2 {
                let (request, response) = try await gate.exchange(basic("anna:\(password)"))
                #expect(response.status == .noContent, "\(password)")
                #expect(request.identity == Principal(.appPassword, "anna"))
            }
        }
        #expect(work.count == 0)
    }

    @Test func limitsBelongToTheirPassword() async throws {
        let gate = try gate([anna()])
        let limited = try await gate.exchange(basic("anna:\(phone.text)"))
        #expect(limited.request.identity == Principal(.appPassword, "anna", limit: Self.limit))
        #expect(limited.request.principal == "anna")
        let whole = try await gate.exchange(basic("anna:\(laptop.text)"))
        let account = try await gate.exchange(basic("anna:secret"))
        #expect(account.request.identity == Principal(.account, "anna"))
        let numbers = [limited, whole, account].map(\.request.credentialNumber)
        #expect(Set(numbers).count == 3 && !numbers.contains(0))
    }

    /// The password of one account, a password with one other character, and forms that are none.
    @Test func wrongAppPasswordsAreRefusedWithoutHashing() async throws {
        let gate = try gate([anna(), Accounts.Entry(name: "ben", hash: Self.hash(of: "x"))])
        let text = phone.text
        let other = (text.first == "a" ? "b" : "a") + text.dropFirst()
        for (index, pair) in ["anna:\(other)", "ben:\(text)", "nobody:\(text)", "Anna:\(text)"].enumerated() {
            let response = try await gate.send(basic(pair), from: "192.0.2.\(index + 10)")
            #expect(response.status == .unauthorized)
        }
        #expect(work.count == 0)
        for (index, pair) in ["anna:\(text)a", "anna:\(text.dropLast())", "anna:1\(text.dropFirst())"]
            .enumerated()
        {
            let response = try await gate.send(basic(pair), from: "192.0.2.\(index + 20)")
            #expect(response.status == .unauthorized)
        }
        #expect(work.count == 3)
    }

    @Test func wrongAppPasswordsAreThrottledLikeOthers() async throws {
        let gate = try gate([anna()])
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
        for _ in 0..<5 {
            #expect(try await gate.basic("anna:\(AppPassword().text)").status == .unauthorized)
        }
        #expect(try await gate.basic("anna:\(AppPassword().text)").status == .tooManyRequests)
        // A blocked address cannot find out whether a guess is right; clients that have signed in continue.
        #expect(try await gate.basic("anna:\(laptop.text)").status == .tooManyRequests)
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
        #expect(try await gate.basic("anna:\(laptop.text)", from: "198.51.100.1").status == .noContent)
    }

    /// A password of an account that looks like an app password.
    @Test func accountPasswordsMayHaveTheForm() async throws {
        let password = AppPassword().text
        let mark = try Accounts.scryptText(password: password)
        #expect(mark.hasSuffix("$app-form"))
        #expect(!(try Accounts.scryptText(password: "secret").hasSuffix("$app-form")))
        let gate = try gate([anna(hash: Self.hash(of: password, mark: "$app-form"))])
        #expect(try await gate.basic("anna:\(password)").status == .noContent)
        #expect(work.count == 1)
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
        #expect(work.count == 1)
        // Lists without app passwords compare every password.
        let plain = try self.gate([anna(hash: Self.hash(of: password), [])], hasAppPasswords: false)
        #expect(try await plain.basic("anna:\(password)").status == .noContent)
        // A password that is stored as Digest secrets is compared immediately.
        var accounts = Accounts(Self.settings)
        try accounts.add(name: "anna", password: password)
        let digest = try AuthenticationFixture(accounts, work: work, hasAppPasswords: true)
        #expect(try await digest.basic("anna:\(password)").status == .noContent)
    }

    @Test func expiredPasswordsAreRefused() async throws {
        let clock = ManualClock().now / 1_000_000_000
        let gate = try gate([
            anna([entry(phone, id: "phone", expiry: clock + 100), entry(laptop, id: "laptop")])
        ])
        gate.clock.advance(seconds: 99)
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
        gate.clock.advance(seconds: 1)
        // The cache does not extend its life.
        #expect(try await gate.basic("anna:\(phone.text)").status == .unauthorized)
        #expect(try await gate.basic("anna:\(laptop.text)").status == .noContent)
    }

    /// With a second factor, the password of the account does not suffice. The response does not reveal that it is right.
    @Test func accountPasswordsCanBeRefused() async throws {
        let gate = try gate([anna(allowsAccountPassword: false)])
        let right = try await gate.basic("anna:secret")
        let wrong = try await gate.basic("anna:other", from: "192.0.2.2")
        #expect(right.status == .unauthorized && wrong.status == .unauthorized)
        #expect(right.fields.challenges.count == wrong.fields.challenges.count)
        #expect(work.count == 2)
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
    }

    // MARK: Digest

    func client(
        _ gate: AuthenticationFixture, _ password: String, _ algorithm: DigestSecret.Algorithm = .sha256
    ) async throws -> Digest.Client {
        var client = try await Digest.begin(gate, algorithm)
        (client.user, client.password, client.realm) = ("anna", password, Self.realm)
        return client
    }

    @Test(arguments: DigestSecret.Algorithm.allCases)
    func digestIsAccepted(algorithm: DigestSecret.Algorithm) async throws {
        let gate = try gate([anna(allowsAccountPassword: false)])
        for password in [phone.text, phone.text.filter { $0 != "-" }] {
            var client = try await client(gate, password, algorithm)
            for count in 1...3 {
                client.count = "0000000\(count)"
                let (request, response) = try await gate.exchange([client.field])
                #expect(response.status == .noContent)
                #expect(request.identity == Principal(.appPassword, "anna", limit: Self.limit))
            }
        }
        var wrong = try await client(gate, AppPassword().text, algorithm)
        #expect(try await gate.send([wrong.field]).status == .unauthorized)
        wrong.password = "secret"
        #expect(try await gate.send([wrong.field]).status == .unauthorized)
        #expect(work.count == 0)
    }

    /// Clients that are offered Digest do not fall back to Basic, so Digest is offered only if no account needs Basic.
    @Test func digestIsOfferedIfNoAccountNeedsBasic() async throws {
        let gate = try gate([anna(allowsAccountPassword: false)])
        #expect(try await gate.send([]).fields.challenges.count == 3)
        let ben = Accounts.Entry(name: "ben", hash: try Self.hash(of: "x"))
        _ = gate.authentication.update("ben", to: ben)
        #expect(try await gate.send([]).fields.challenges.count == 1)
        _ = gate.authentication.update("ben", to: nil)
        #expect(try await gate.send([]).fields.challenges.count == 3)
        _ = gate.authentication.update("anna", to: try anna())
        #expect(try await gate.send([]).fields.challenges.count == 1)
    }

    /// Digest is accepted for each account that can use it, also if it is no longer offered.
    @Test func clientsContinueWithDigest() async throws {
        let gate = try gate([anna(allowsAccountPassword: false)])
        var client = try await client(gate, laptop.text)
        #expect(try await gate.send([client.field]).status == .noContent)
        _ = gate.authentication.update("ben", to: Accounts.Entry(name: "ben", hash: try Self.hash(of: "x")))
        client.count = "00000002"
        #expect(try await gate.send([client.field]).status == .noContent)
        gate.clock.advance(seconds: 301)
        client.count = "00000003"
        let stale = try await gate.send([client.field])
        #expect(stale.status == .unauthorized && stale.fields.challenges.count == 3)
        #expect(stale.fields.challenges[0].contains("stale=true"))
        client.nonce = try #require(Digest.parameter("nonce", of: stale.fields.challenges[0]))
        client.count = "00000001"
        #expect(try await gate.send([client.field]).status == .noContent)
        // After a wrong response, only Basic is offered.
        client.password = "x"
        #expect(try await gate.send([client.field]).fields.challenges.count == 1)
    }

    /// Secrets of another realm are of no use with Digest.
    @Test func passwordsOfAnotherRealmWorkWithBasic() async throws {
        let gate = try gate([
            anna(allowsAccountPassword: false, [entry(phone, id: "phone", realm: "elsewhere")])
        ])
        let client = try await client(gate, phone.text)
        #expect(try await gate.send([client.field]).status == .unauthorized)
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
    }

    // MARK: Changes

    @Test func revokedPasswordsAreRefusedAndOthersContinue() async throws {
        let ben = Accounts.Entry(name: "ben", hash: try Self.hash(of: "x"))
        let gate = try gate([anna(), ben])
        let revoked = try await gate.exchange(basic("anna:\(phone.text)")).request.credentialNumber
        let kept = try await gate.exchange(basic("anna:\(laptop.text)")).request.credentialNumber
        #expect(try await gate.basic("ben:x").status == .noContent)
        let change = gate.authentication.update("anna", to: try anna([entry(laptop, id: "laptop")]))
        // Another salt of the password of the account counts as another password.
        #expect(change.revoked.contains(revoked) && !change.revoked.contains(kept))
        #expect(try await gate.basic("anna:\(phone.text)").status == .unauthorized)
        #expect(try await gate.exchange(basic("anna:\(laptop.text)")).request.credentialNumber == kept)
        // The passwords of other accounts are not hashed again.
        #expect(try await gate.basic("ben:x").status == .noContent)
        #expect(work.count == 1)
        let removed = gate.authentication.update("anna", to: nil).revoked
        #expect(removed.contains(kept) && removed.count == 2)
        #expect(try await gate.basic("anna:\(laptop.text)").status == .unauthorized)
    }

    @Test func onlyChangedCredentialsAreRevoked() throws {
        let entry = try anna()
        let gate = try gate([entry])
        #expect(gate.authentication.update("anna", to: entry).revoked.isEmpty)
        let limited = try anna(
            hash: entry.hash, [self.entry(phone, id: "phone"), entry.appPasswords[1]])
        #expect(gate.authentication.update("anna", to: limited).revoked.count == 1)
        let refused = try anna(hash: entry.hash, allowsAccountPassword: false, limited.appPasswords)
        #expect(gate.authentication.update("anna", to: refused).revoked.count == 1)
    }

    /// A password that was wrong can be right after a change.
    @Test func wrongPasswordsAreForgottenWithTheChange() async throws {
        let gate = try gate([anna([])])
        #expect(try await gate.basic("anna:\(phone.text)").status == .unauthorized)
        _ = gate.authentication.update("anna", to: try anna())
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
    }

    @Test func unusableEntriesRemoveTheAccount() async throws {
        let gate = try gate([anna()])
        #expect(try await gate.basic("anna:\(phone.text)").status == .noContent)
        for bad in [
            try anna(hash: "plain"), try anna([Accounts.AppPasswordEntry(id: "x", secret: "$app$")]),
        ] {
            let change = gate.authentication.update("anna", to: bad)
            #expect(change.problem == .badHash)
            #expect(try await gate.basic("anna:\(phone.text)").status == .unauthorized)
        }
    }

    @Test func usesAreReportedOnceInFiveMinutes() async throws {
        let gate = try gate([anna()])
        for _ in 0..<3 { _ = try await gate.basic("anna:\(phone.text)", from: "192.0.2.7") }
        _ = try await gate.basic("anna:\(laptop.text)", from: "192.0.2.8")
        _ = try await gate.basic("anna:secret")
        _ = try await gate.basic("anna:\(AppPassword().text)")
        #expect(gate.reports.uses.map(\.id) == ["phone", "laptop"])
        #expect(gate.reports.uses.map(\.address) == ["192.0.2.7", "192.0.2.8"])
        gate.clock.advance(seconds: 299)
        _ = try await gate.basic("anna:\(phone.text)", from: "192.0.2.7")
        #expect(gate.reports.uses.count == 2)
        gate.clock.advance(seconds: 1)
        _ = try await gate.basic("anna:\(phone.text)", from: "192.0.2.9")
        #expect(gate.reports.uses.count == 3 && gate.reports.uses[2].account == "anna")
    }

    /// 0 is the number of requests without a credential here, which must not end.
    @Test func changesOfUnknownAccountsRevokeNothing() throws {
        let gate = try gate([anna()])
        #expect(gate.authentication.update("eve", to: nil).revoked.isEmpty)
        #expect(gate.authentication.update("eve", to: nil, isDisabled: true).revoked.isEmpty)
        let bad = Accounts.Entry(name: "eve", hash: "plain")
        let change = gate.authentication.update("eve", to: bad)
        #expect(change.problem == .badHash && change.revoked.isEmpty)
    }

    /// A session has all rights of its account, which an app password may not have.
    @Test func formsRefuseAppPasswords() async throws {
        let gate = try gate([anna(allowsAccountPassword: false)])
        let request = try HTTPRequest(parsing: Array("POST /?account HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        request.peerAddress = "192.0.2.1"
        func signIn(_ password: String) async -> Authentication.SignInResult {
            await gate.authentication.signIn(
                name: Array("anna".utf8), password: Array(password.utf8), request)
        }
        // The second attempt is answered from the cache.
        for _ in 0..<2 { #expect(await signIn(laptop.text) == .wrong) }
        #expect(try await gate.basic("anna:\(laptop.text)").status == .noContent)
        #expect(await signIn(laptop.text) == .wrong)
        guard case .admitted(name: "anna", number: _) = await signIn("secret") else {
            Issue.record("the password of the account is refused")
            return
        }
    }
}
#endif
