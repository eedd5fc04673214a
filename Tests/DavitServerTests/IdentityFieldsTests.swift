import DavitAccess
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Users whom a proxy has authenticated.
struct IdentityFieldsTests {
    /// Responds with the principal, and with the identity fields that reached the handler.
    struct Mirror: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            let identity = request.identity
            let left = ["Remote-User", "Remote_User", "Remote-Groups", "REMOTE_GROUPS"].filter {
                request.string(named: $0) != nil
            }
            let groups = identity.groups.sorted().joined(separator: "|")
            return .ready(.text("\(identity.name ?? "-") [\(groups)]\(left.joined())"))
        }
    }

    /// A server with the accounts `anna`, whose password is `secret`, and `ben`, which is disabled, behind a proxy
    /// at 127.0.0.1.
    static func authentication() throws -> Authentication {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "secret")
        accounts.disable("ben")
        return try Authentication(
            accounts: accounts, work: InlineWork(), admitsForwarded: true, now: { 1_000_000_000 })
    }

    static func respond(
        _ fields: [String], peer: String = "127.0.0.1", to authentication: Authentication
    ) throws(HTTPError) -> HTTPResponse? {
        let networks = [IPNetwork("127.0.0.1")].compactMap { $0 }
        let proxies = TrustedProxies(
            networks: networks,
            identityFields: IdentityFields(user: "Remote-User", groups: "Remote-Groups"))
        let head = (["GET / HTTP/1.1", "Host: a"] + fields + ["", ""]).joined(separator: "\r\n")
        let request = try HTTPRequest(parsing: Array(head.utf8))
        request.peerAddress = peer
        return try Mirror().applying(authentication).applying(proxies).respond(to: request).readyResponse
    }

    /// Returns the status, and the content if it is 200.
    static func answer(_ fields: [String], peer: String = "127.0.0.1") throws -> String {
        let response: HTTPResponse?
        let authentication = try authentication()
        do throws(HTTPError) { response = try respond(fields, peer: peer, to: authentication) } catch {
            return "\(error.status.code)"
        }
        guard let response else { return "pending" }
        guard response.status == .ok, case .bytes(let text) = response.body else {
            return "\(response.status.code)"
        }
        return String(decoding: text, as: UTF8.self)
    }

    static let password = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"

    static let fromProxy: [(fields: [String], answer: String)] = [
        (["Remote-User: anna"], "anna []"),
        (["rEMOTE-uSER:anna "], "anna []"),
        // A user without an account has the rights of its groups and of everyone.
        (["Remote-User: käthe", "Remote-Groups: editors, staff ,,"], "käthe [editors|staff]"),
        (["Remote-User: DOMAIN\\carl"], "DOMAIN\\carl []"),
        // Without a user, clients sign in as without a proxy.
        ([], "401"), (["Remote-User:"], "401"), (["Remote-Groups: editors"], "401"),
        ([password], "anna []"), (["Remote-User: ", "Remote-Groups: editors", password], "anna []"),
        // The proxy may have checked other credentials.
        (["Remote-User: carl", password], "carl []"),
        (["Remote-User: carl", "Authorization: Basic !"], "carl []"),
        // Accounts that are disabled here.
        (["Remote-User: ben"], "403"), (["Remote-User: ben", "Remote-Groups: editors"], "403"),
        // Fields of the client, to which the proxy has added its own.
        (["Remote-User: root", "Remote-User: anna"], "400"),
        (["Remote-User:", "remote-user: root"], "400"),
        (["Remote-User: root, anna"], "400"), (["Remote-User: anna,"], "400"),
        (["Remote-User: anna", "Remote-Groups: admins", "Remote-Groups: staff"], "400"),
        // Other spellings pass a proxy that replaces one field.
        (["Remote_User: root"], "401"), (["REMOTE_USER: root", "Remote-User: anna"], "anna []"),
        (["Remote-User: anna", "Remote_Groups: admins"], "anna []"),
        (["Remote-User: anna", "REMOTE_GROUPS: admins", "Remote-Groups: staff"], "anna [staff]"),
        // Names that no account can have.
        (["Remote-User: a:b"], "400"), (["Remote-User: \(String(repeating: "a", count: 257))"], "400"),
        (["Remote-User: anna", "Remote-Groups: \(String(repeating: "a", count: 257))"], "400"),
        (
            ["Remote-User: anna", "Remote-Groups: \((0..<256).map(String.init).joined(separator: ","))"],
            "anna [\((0..<256).map(String.init).sorted().joined(separator: "|"))]"
        ),
        (
            ["Remote-User: anna", "Remote-Groups: \((0..<257).map(String.init).joined(separator: ","))"],
            "400"
        ),
        // Heads that two programs could read differently (RFC 9112 §5.1, §5.2).
        (["Remote-User : root"], "400"), ([" Remote-User: root"], "400"),
        (["X: a", " Remote-User: root"], "400"),
        (["Remote-User: anna", " b"], "400"), (["X: a\nRemote-User: root"], "400"),
    ]

    @Test(arguments: fromProxy)
    func usersAreThoseOfTheProxy(fields: [String], answer: String) throws {
        #expect(try Self.answer(fields) == answer)
    }

    @Test(arguments: fromProxy.map(\.fields), ["192.0.2.1", "unix:", "127.0.0.2", "::1"])
    func otherPeersCannotNameUsers(fields: [String], peer: String) throws {
        let answer = try Self.answer(fields, peer: peer)
        let withoutIdentity = try Self.answer(
            fields.filter { !$0.lowercased().hasPrefix("remote") }, peer: peer)
        #expect(answer == withoutIdentity || answer == "400")
        #expect(!answer.contains("root") && !answer.contains("carl") && !answer.contains("Remote"))
    }

    @Test func invalidUTF8IsRefused() throws {
        let request = try HTTPRequest(
            parsing: Array("GET / HTTP/1.1\r\nHost: a\r\nRemote-User: a".utf8) + [0xC3, 0x28]
                + Array("\r\n\r\n".utf8))
        request.peerAddress = "127.0.0.1"
        let proxies = TrustedProxies(
            networks: [IPNetwork("127.0.0.1")].compactMap { $0 },
            identityFields: IdentityFields(user: "Remote-User"))
        #expect(throws: HTTPError.self) {
            _ = try Mirror().applying(try Self.authentication()).applying(proxies).respond(to: request)
        }
    }

    /// The trust in the proxy is that of the connection, not of what it forwards.
    @Test func reportedAddressesAreNotTrusted() throws {
        #expect(
            try Self.answer(["X-Forwarded-For: 127.0.0.1", "Remote-User: root"], peer: "192.0.2.1") == "401")
        #expect(try Self.answer(["X-Forwarded-For: 192.0.2.1", "Remote-User: anna"]) == "anna []")
    }

    @Test(arguments: [
        "", "a b", "Host", "authorization", "X-Forwarded-For", "Ä", String(repeating: "a", count: 65),
    ])
    func unusableFieldsAreRefused(name: String) {
        #expect(IdentityFields(user: name) == nil)
        #expect(IdentityFields(user: "Remote-User", groups: name) == nil)
    }

    @Test func disabledNamesAreRefusedInEverySpelling() throws {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "secret")
        accounts.disable("andr\u{e9}")
        let authentication = try Authentication(
            accounts: accounts, work: InlineWork(), admitsForwarded: true, now: { 1_000_000_000 })
        for name in ["andr\u{e9}", "andre\u{301}"] {
            #expect {
                _ = try Self.respond(["Remote-User: \(name)"], to: authentication)
            } throws: {
                ($0 as? HTTPError)?.status == .forbidden
            }
        }
        _ = authentication.update("andre\u{301}", to: nil)
        #expect(try Self.respond(["Remote-User: andr\u{e9}"], to: authentication)?.status == .ok)
    }

    /// Caches do not know that the response depends on the field of the proxy.
    @Test func responsesAreNotStoredBySharedCaches() throws {
        let authentication = try Self.authentication()
        let forwarded = try Self.respond(["Remote-User: carl"], to: authentication)
        #expect(forwarded?.fields.first(.cacheControl) == "private, no-cache")
        let own = try Self.respond([Self.password], to: authentication)
        #expect(own?.status == .ok && own?.fields.first(.cacheControl) == nil)
    }
}
