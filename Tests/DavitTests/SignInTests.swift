#if TLS
import Davit
import DavitAccess
import DavitAccounts
import DavitControl
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Signing in with the form of the browser page; `Tests/Browser/test_signin.py` tests it with a browser.
@Suite(.timeLimit(.minutes(15)))
struct SignInTests {
    private let folder: TemporaryFolder
    private static let own = "Sec-Fetch-Site: same-origin"
    private static let navigation = [
        "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
    ]

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
        try SmallFiles.write("text", to: folder.path + "/share/a.txt")
    }

    /// - Parameters:
    ///   - hasAccounts: whether the configuration contains Anna and Ben.
    ///   - schemes: nil for the default.
    private func serve(
        hasAccounts: Bool = true, hasPage: Bool = true, schemes: [AuthenticationSettings.Scheme]? = nil,
        _ body: (WebServer, BoundAddress) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        if hasAccounts {
            configuration.accounts = [
                .init(name: "anna", password: "secret"), .init(name: "ben", password: "x"),
            ]
        }
        if let schemes { configuration.authentication.schemes = schemes }
        var share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        share.page.isEnabled = hasPage
        let server = try WebServer(share, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, try #require(addresses.first))
    }

    private func post(
        _ address: BoundAddress, _ content: String, _ fields: [String] = []
    ) throws -> ChangeEventClient.Answer {
        try ChangeEventClient(address: address).send(
            "POST /?account", ["Content-Type: application/x-www-form-urlencoded", Self.own] + fields,
            content: content)
    }

    private func get(
        _ address: BoundAddress, _ target: String, _ fields: [String]
    ) throws -> ChangeEventClient.Answer {
        try ChangeEventClient(address: address).send("GET \(target)", fields)
    }

    /// Signs in and returns the Cookie field.
    private func signIn(_ address: BoundAddress, _ name: String = "anna", password: String = "secret") throws
        -> String
    {
        let answer = try post(address, "do=sign-in&name=\(name)&password=\(password)")
        #expect(answer.status == 303)
        let cookie = try #require(answer["Set-Cookie"])
        return "Cookie: " + (cookie.split(separator: ";").first ?? "")
    }

    private func events(_ address: BoundAddress, _ cookie: String) throws -> RawConnection {
        let stream = try RawConnection(address)
        try stream.send(
            "GET /?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(cookie)\r\n\r\n")
        #expect(stream.wait(for: "\nid: "))
        return stream
    }

    @Test func endingASessionEndsItsRequests() throws {
        try serve { _, address throws in
            let cookies = (try signIn(address), try signIn(address))
            let streams = (try events(address, cookies.0), try events(address, cookies.1))
            #expect(try post(address, "do=sign-out", [cookies.0]).status == 303)
            #expect(streams.0.bytesToEnd() != nil)
            #expect(try get(address, "/a.txt", [cookies.0]).status == 401)
            #expect(try get(address, "/a.txt", [cookies.1]).status == 200)
            // Another session ends this one.
            let third = try signIn(address)
            #expect(try post(address, "do=end-others", [third]).status == 303)
            #expect(streams.1.bytesToEnd() != nil)
            #expect(try get(address, "/a.txt", [third]).status == 200)
        }
    }

    @Test func replacedAccountsEndTheirSessions() throws {
        try serve { server, address in
            let anna = try signIn(address)
            let ben = try signIn(address, "ben", password: "x")
            let stream = try events(address, anna)
            try server.replaceAccounts([
                .init(name: "anna", password: "other"), .init(name: "ben", password: "x"),
            ])
            #expect(stream.bytesToEnd() != nil)
            #expect(try get(address, "/a.txt", [anna]).status == 401)
            #expect(try get(address, "/a.txt", [ben]).status == 200)
        }
    }

    /// Users cannot end the sessions of others, whose IDs they could guess.
    @Test func sessionsBelongToTheirAccount() throws {
        try serve { _, address throws in
            let anna = try signIn(address)
            let ben = try signIn(address, "ben", password: "x")
            _ = try signIn(address)
            let page = try get(address, "/?account", [anna]).content
            let start = try #require(page.firstRange(of: "name=\"id\" value=\""))
            let id = page[start.upperBound...].prefix { $0 != "\"" }
            #expect(try post(address, "do=end-session&id=\(id)", [ben]).status == 303)
            #expect(try get(address, "/?account", [anna]).content.contains(id))
            #expect(try post(address, "do=end-session&id=\(id)", [anna]).status == 303)
            #expect(try !get(address, "/?account", [anna]).content.contains(id))
        }
    }

    @Test func malformedFormsAreRefused() throws {
        try serve { _, address throws in
            let cookie = try signIn(address)
            #expect(try post(address, "do=unknown").status == 400)
            #expect(try post(address, "").status == 400)
            #expect(try post(address, "do=%zz").status == 400)
            #expect(try post(address, "do=sign-in&name=%ff").status == 400)
            #expect(try post(address, "do=end-session&id=x", [cookie]).status == 400)
            #expect(try post(address, "do=" + String(repeating: "x", count: 9000)).status == 413)
            #expect(
                try post(address, Array(repeating: "a=b", count: 17).joined(separator: "&")).status == 400)
            // Without a session.
            #expect(try post(address, "do=sign-out").status == 401)
            #expect(try post(address, "do=end-others").status == 401)
        }
    }

    /// A script of the page signs in without leaving it.
    @Test func scriptsGetJSON() throws {
        try serve { _, address throws in
            let json = "Accept: application/json"
            let wrong = try post(address, "do=sign-in&name=anna&password=no", [json])
            #expect(wrong.status == 401 && wrong.content == #"{"error":"wrong"}"#)
            #expect(wrong["WWW-Authenticate"] == "Cookie realm=\"davit\"")
            let right = try post(address, "do=sign-in&name=anna&password=secret", [json])
            #expect(right.status == 200 && right.content == #"{"user":"anna"}"#)
            #expect(right["Set-Cookie"] != nil && right["Cache-Control"] == "no-store")
        }
    }

    /// Users who sign in with Basic have an account page, but no session to end.
    @Test func otherSchemesHaveAnAccountPage() throws {
        try serve { _, address throws in
            _ = try signIn(address)
            let basic = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"
            let page = try get(address, "/?account", [basic])
            #expect(page.status == 200 && page.content.contains("value=\"end-session\""))
            #expect(!page.content.contains("value=\"sign-out\""))
            #expect(try post(address, "do=end-others", [basic]).status == 303)
            #expect(try !get(address, "/?account", [basic]).content.contains("value=\"end-session\""))
        }
    }

    /// Servers without a page, and those to which passwords are not sent, have no form.
    @Test func formsNeedAPageAndPasswords() throws {
        try serve(hasPage: false) { _, address throws in
            let answer = try get(address, "/", Self.navigation)
            #expect(answer.status == 401 && !answer.content.contains("<form"))
            #expect(try post(address, "do=sign-in&name=anna&password=secret").status == 401)
        }
        try serve(schemes: [.digestSHA256]) { _, address throws in
            let answer = try get(address, "/", Self.navigation)
            #expect(answer.status == 401 && !answer.content.contains("<form"))
            #expect(answer["WWW-Authenticate"]?.hasPrefix("Digest") == true)
            #expect(try post(address, "do=sign-in&name=anna&password=secret").status == 401)
        }
        try serve(hasAccounts: false) { _, address throws in
            #expect(try get(address, "/?account", Self.navigation).status == 200)
            #expect(try post(address, "do=sign-in").status != 401)
        }
    }

    /// The style sheet is loaded before the user has signed in; nothing else is.
    @Test func onlyFilesOfThePageNeedNoAccount() throws {
        try serve { _, address throws in
            let form = try get(address, "/deep/er/", Self.navigation).content
            let start = try #require(form.firstRange(of: "href=\"./.davit-"))
            let href = form[start.upperBound...].prefix { $0 != "/" && $0 != "\"" }
            let version = form[start.upperBound...].dropFirst(href.count + 1).prefix { $0 != "/" }
            let files = "/deep/er/.davit-\(href)/\(version)"
            #expect(try get(address, "\(files)/plain.css", []).status == 200)
            for target in [
                "\(files)/other.css", "\(files)/../../a.txt", "\(files)/a.txt", "/.davit-\(href)/0/plain.css",
                "/a.txt",
            ] {
                #expect(try get(address, target, []).status == 401, "\(target)")
            }
        }
    }

    /// The database of accounts contains the sessions.
    @Test func administratorsEndSessions() throws {
        let state = folder.path + "/state"
        _ = try ExclusiveFolder(path: state)
        try SQLiteAccountStore(folder: state).commit([
            .addAccount(StoredAccount(name: "anna", secret: try Accounts.scryptText(password: "secret"))),
            .setRule(AccessRule(.user("anna"), .root, .view)),
        ])
        var cookie = ""
        try serve(hasAccounts: false) { _, address throws in
            cookie = try signIn(address)
        }
        try serve(hasAccounts: false) { _, address throws in
            #expect(try get(address, "/a.txt", [cookie]).status == 200)
            let stream = try events(address, cookie)
            let change = AccountChange.setEnabled(account: "anna", isEnabled: false)
            #expect(try ControlClient.ask(.accounts(.change([change])), in: state) == .lines([]))
            #expect(stream.bytesToEnd() != nil)
            #expect(try get(address, "/a.txt", [cookie]).status == 401)
        }
    }

    // MARK: Second factor

    private static let recoveryCodes = ["AAAA-AAAA-AAAA-AAAA", "BBBB-BBBB-BBBB-BBBB"]

    /// Serves a database with Anna, who has a second factor, and Ben, who has none.
    private func serveWithFactor(_ body: (BoundAddress) throws -> Void) throws {
        let state = folder.path + "/state"
        _ = try ExclusiveFolder(path: state)
        let hashes = Self.recoveryCodes.compactMap { SecondFactor.hash(ofRecoveryCode: $0) }
        #expect(hashes.count == 2)
        try SQLiteAccountStore(folder: state).commit([
            .addAccount(StoredAccount(name: "anna", secret: try Accounts.scryptText(password: "secret"))),
            .addAccount(StoredAccount(name: "ben", secret: try Accounts.scryptText(password: "secret"))),
            .setRule(AccessRule(.everyone, .root, .view)),
            .setSecondFactor(
                account: "anna",
                StoredSecondFactor(
                    secret: Array(repeating: 1, count: 20), createdAt: 1, usedStep: .max - 1,
                    recoveryHashes: Set(hashes)), keepingSession: nil),
        ])
        try serve(hasAccounts: false) { _, address in try body(address) }
    }

    private static let json = "Accept: application/json"

    /// Sends the password, and returns the token for the form that asks for the code.
    private func sendPassword(_ address: BoundAddress) throws -> String {
        let answer = try post(address, "do=sign-in&name=anna&password=secret", [Self.json])
        #expect(answer.status == 401 && answer["Set-Cookie"] == nil)
        let start = try #require(answer.content.firstRange(of: #"{"error":"code","pending":""#))
        return String(answer.content[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test func passwordsNeedACode() throws {
        try serveWithFactor { address throws in
            let token = try sendPassword(address)
            for code in ["", "000000", "CCCC-CCCC-CCCC-CCCC", "secret"] {
                let answer = try post(address, "do=code&pending=\(token)&code=\(code)", [Self.json])
                #expect(answer.status == 401 && answer["Set-Cookie"] == nil)
                #expect(answer.content.hasPrefix(#"{"error":"wrong-code""#))
            }
            let answer = try post(
                address, "do=code&pending=\(token)&code=\(Self.recoveryCodes[0])", [Self.json])
            #expect(answer.status == 200 && answer.content == #"{"user":"anna"}"#)
            let cookie = "Cookie: " + (answer["Set-Cookie"]?.split(separator: ";").first ?? "")
            #expect(try get(address, "/a.txt", [cookie]).status == 200)
            // Neither the token nor the code can be used again.
            let again = try post(
                address, "do=code&pending=\(token)&code=\(Self.recoveryCodes[1])", [Self.json])
            #expect(again.status == 401 && again.content == #"{"error":"wrong"}"#)
            let used = try post(
                address, "do=code&pending=\(try sendPassword(address))&code=\(Self.recoveryCodes[0])",
                [Self.json])
            #expect(used.content.hasPrefix(#"{"error":"wrong-code""#))
        }
    }

    /// A code without the password, and a change of the account between both.
    @Test func codesNeedThePassword() throws {
        try serveWithFactor { address throws in
            for token in ["", String(repeating: "0", count: 48)] {
                let answer = try post(
                    address, "do=code&pending=\(token)&code=\(Self.recoveryCodes[0])", [Self.json])
                #expect(answer.status == 401 && answer.content == #"{"error":"wrong"}"#)
            }
            let token = try sendPassword(address)
            let change = AccountChange.setSecret(
                account: "anna", secret: try Accounts.scryptText(password: "other"))
            #expect(
                try ControlClient.ask(.accounts(.change([change])), in: folder.path + "/state") == .lines([]))
            let answer = try post(
                address, "do=code&pending=\(token)&code=\(Self.recoveryCodes[0])", [Self.json])
            #expect(answer.content == #"{"error":"wrong"}"#)
        }
    }

    /// WebDAV clients have no place for a code, so the password alone is refused, and cached nowhere as right.
    @Test func passwordsAloneAreRefusedForWebDAV() throws {
        try serveWithFactor { address throws in
            let anna = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"
            let ben = "Authorization: Basic \(Base64.encode(Array("ben:secret".utf8)))"
            #expect(try get(address, "/a.txt", [ben]).status == 200)
            #expect(try get(address, "/a.txt", [anna]).status == 401)
            _ = try sendPassword(address)
            #expect(try get(address, "/a.txt", [anna]).status == 401)
            _ = try sendPassword(address)
            let off = AccountChange.setSecondFactor(account: "anna", nil, keepingSession: nil)
            #expect(
                try ControlClient.ask(.accounts(.change([off])), in: folder.path + "/state") == .lines([]))
            #expect(try get(address, "/a.txt", [anna]).status == 200)
            _ = try signIn(address)
        }
    }

    /// An administrator turns a second factor off, but other changes are those of the user.
    @Test func commandsOnlyTurnSecondFactorsOff() throws {
        try serveWithFactor { _ throws in
            for change in [
                AccountChange.setSecondFactor(
                    account: "ben",
                    StoredSecondFactor(secret: [], createdAt: 0, usedStep: 0, recoveryHashes: []),
                    keepingSession: nil), .useCode(account: "anna", step: 1),
                .useRecoveryCode(account: "anna", hash: []),
            ] {
                let answer = try? ControlClient.ask(.accounts(.change([change])), in: folder.path + "/state")
                if case .lines = answer { Issue.record("accepted \(change)") }
            }
        }
    }
}
#endif
