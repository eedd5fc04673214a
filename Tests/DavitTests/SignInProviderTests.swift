#if TLS
import Davit
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// Signing in at a provider: what the server sends and requires. `Tests/Identity/oidc.py` tests it with OpenID Connect.
///
/// Each test blocks a thread of its own, because the threads of the pool run the questions to the provider.
@Suite(.timeLimit(.minutes(5)))
struct SignInProviderTests {
    /// Confirms every user whose name is the code.
    final class Provider: SignInProvider {
        let service = "https://login.example.org"
        let name = "<Example>"
        let redirects = Mutex<[String]>([])

        func url(for attempt: SignInAttempt) async -> SignInStart {
            redirects.withLock { $0.append(attempt.redirectURL) }
            return .url("https://login.example.org/auth?state=\(attempt.state)")
        }

        func verify(_ answer: FormFields, _ attempt: SignInAttempt) async -> SignInVerification {
            answer["code"].map { .right(name: $0, groups: []) } ?? .denied
        }
    }

    private let folder: TemporaryFolder
    private let provider = Provider()
    private static let navigation = [
        "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
    ]
    private static let own = navigation + ["Sec-Fetch-Site: same-origin"]
    private static let other = navigation + ["Sec-Fetch-Site: cross-site"]
    private static let back = "/.davit-browserpagefiles/sign-in"

    private static func withAccount(_ configuration: inout Configuration) {
        configuration.accounts = [.init(name: "anna", password: "secret")]
    }

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
        try SmallFiles.write("text", to: folder.path + "/share/a.txt")
    }

    private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.signInProvider = provider
        configuration.publicURLs = ["https://files.example.org", "https://other.example.org:8443/dav"]
        change(&configuration)
        return configuration
    }

    private func server(
        hasPage: Bool = true, _ change: (inout Configuration) -> Void = { _ in }
    ) throws(ServerError) -> WebServer {
        var share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        share.page.isEnabled = hasPage
        return try WebServer(share, configuration: configuration(change))
    }

    private func serve(
        _ change: (inout Configuration) -> Void = { _ in }, _ body: (ChangeEventClient) throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(TestExecutor()) {
            let server = try server(change)
            let address = try #require(try server.start().first)
            defer {
                server.shutdown()
                server.waitUntilStopped()
            }
            try body(ChangeEventClient(address: address))
        }
    }

    /// Returns the Cookie field and the state of a sign-in that has begun.
    private func begin(
        _ client: ChangeEventClient, _ target: String = "/?account&provider",
        host: String = "files.example.org"
    ) throws -> (cookie: String, state: String) {
        let answer = try client.send("GET \(target)", Self.own, host: host)
        #expect(answer.status == 303)
        let cookie = try #require(answer["Set-Cookie"])
        let location = try #require(answer["Location"])
        let state = location.split(separator: "state=").last.map(String.init)
        return ("Cookie: \(cookie.prefix { $0 != ";" })", try #require(state))
    }

    @Test func cookiesOfSignInsAreShortLivedAndSecure() async throws {
        try await serve { client throws in
            let answer = try client.send("GET /?account&provider", Self.own, host: "files.example.org")
            let cookie = try #require(answer["Set-Cookie"])
            #expect(cookie.hasPrefix("__Host-davit-sign-in-443="))
            #expect(cookie.hasSuffix("; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax"))
            #expect(answer["Cache-Control"] == "no-store")
        }
    }

    @Test func usersWithoutAnAccountSignIn() async throws {
        try await serve { client throws in
            let page = try client.send("GET /a.txt", Self.own, host: "files.example.org")
            // Without accounts, there is no password that could be right.
            #expect(page.status == 401 && !page.content.contains("<form"))
            #expect(page.content.contains("Sign in with &lt;Example&gt;"))
            let (cookie, state) = try begin(client, "/a.txt?account&provider&query=x")
            let target = "GET \(Self.back)?code=anna&state=\(state)"
            let answer = try client.send(target, Self.other + [cookie], host: "files.example.org")
            #expect(answer.status == 303 && answer["Location"] == "../a.txt?x")
            let session = try #require(answer["Set-Cookie"]).prefix { $0 != ";" }
            #expect(session.hasPrefix("__Host-davit-443="))
            let fields = Self.own + ["Cookie: \(session)"]
            #expect(try client.send("GET /a.txt", fields, host: "files.example.org").status == 200)
        }
    }

    @Test func accountsTakePrecedence() async throws {
        try await serve(Self.withAccount) { client throws in
            #expect(try client.send("GET /", Self.own).content.contains("<form"))
            let (cookie, state) = try begin(client)
            for (name, status) in [("anna", 403), ("%41nna", 303), ("a%3Ab", 403), ("", 403), ("a%0Ab", 403)]
            {
                let answer = try client.send(
                    "GET \(Self.back)?code=\(name)&state=\(state)", Self.other + [cookie],
                    host: "files.example.org")
                #expect(answer.status == status, "\(name)")
            }
        }
    }

    @Test func redirectsLeadToPublicURLs() async throws {
        try await serve { client throws in
            for host in [
                "files.example.org", "other.example.org:8443", "other.example.org", "evil.example.org",
            ] {
                _ = try begin(client, host: host)
            }
        }
        let first = "https://files.example.org\(Self.back)"
        #expect(
            provider.redirects.withLock { $0 }
                == [first, "https://other.example.org:8443/dav\(Self.back)", first, first])
    }

    @Test func requestsOfOtherPagesAreRefused() async throws {
        try await serve { client throws in
            // Another site cannot begin a sign-in, which would end with a session without a word of the user.
            let start = try client.send("GET /?account&provider", Self.other, host: "files.example.org")
            #expect(start.status == 401 && start["Set-Cookie"] == nil)
            let (cookie, state) = try begin(client)
            let target = "GET \(Self.back)?code=anna&state=\(state)"
            for fields in [
                ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
                ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            ] {
                #expect(try client.send(target, fields + [cookie], host: "files.example.org").status == 403)
            }
            // The cookie of another browser, or none.
            let (elsewhere, _) = try begin(client)
            for fields in [
                Self.other, Self.other + [elsewhere], Self.other + ["\(cookie); \(elsewhere.dropFirst(8))"],
            ] {
                let answer = try client.send(target, fields, host: "files.example.org")
                #expect(answer.status == 400 && answer["Set-Cookie"] == nil)
                #expect(answer.content.contains("role=\"alert\""))
            }
            #expect(try client.send("POST" + target.dropFirst(3), Self.other + [cookie]).status != 303)
            #expect(try client.send(target, Self.other + [cookie], host: "files.example.org").status == 303)
        }
    }

    @Test func failuresLeadBackToTheRequestedPage() async throws {
        try await serve(Self.withAccount) { client throws in
            let (cookie, state) = try begin(client, "/b/c/?account&provider&query=lang%3Dde")
            let answer = try client.send(
                "GET \(Self.back)?error=access_denied&state=\(state)", Self.other + [cookie],
                host: "files.example.org")
            #expect(answer.status == 403 && answer["Set-Cookie"]?.contains("Max-Age=0") == true)
            #expect(answer.content.contains("action=\"../b/c/?account\""))
            #expect(answer.content.contains("href=\"../b/c/?account&amp;provider&amp;query=lang%3Dde\""))
            #expect(answer.content.contains("value=\"lang=de\""))
        }
    }

    /// A destination is part of a Location field, and must not lead elsewhere.
    @Test(arguments: [
        ("//other.example.org/", "..//other.example.org/"), ("/%0D%0Aa:b", "../%0D%0Aa:b"), ("/?a", nil),
        ("/\(String(repeating: "x", count: 2100))", "../"),
    ])
    func destinationsAreOwnPaths(_ path: String, location: String?) async throws {
        try await serve { client throws in
            guard let location else {
                // A sign-in does not end with the beginning of another one.
                let (cookie, state) = try begin(
                    client, "/?account&provider&query=account%26provider%26query%3Dx")
                let answer = try client.send(
                    "GET \(Self.back)?code=anna&state=\(state)", Self.other + [cookie],
                    host: "files.example.org")
                #expect(answer["Location"] == "../")
                return
            }
            let (cookie, state) = try begin(client, path + "?account&provider")
            let answer = try client.send(
                "GET \(Self.back)?code=anna&state=\(state)", Self.other + [cookie], host: "files.example.org")
            #expect(answer.status == 303 && answer["Location"] == location)
        }
    }

    @Test func prefixesArePartOfAllURLs() async throws {
        let change: (inout Configuration) -> Void = {
            $0.prefix = "/dav"
            $0.publicURLs = ["https://files.example.org/dav"]
        }
        try await serve(change) { client throws in
            let (cookie, state) = try begin(client, "/dav/b/?account&provider")
            #expect(provider.redirects.withLock { $0 } == ["https://files.example.org/dav\(Self.back)"])
            let answer = try client.send(
                "GET /dav\(Self.back)?code=anna&state=\(state)", Self.other + [cookie],
                host: "files.example.org")
            #expect(answer.status == 303)
            #expect(["../../dav/b/", "../b/"].contains(answer["Location"]))
        }
    }

    @Test func settingsAreChecked() {
        #expect(throws: ServerError.signInProviderNotUsable(reason: "there is no public URL")) {
            try server { $0.publicURLs = [] }
        }
        let plain = "http://files.example.org"
        #expect(
            throws: ServerError.signInProviderNotUsable(reason: "the public URL \(plain) is not an https URL")
        ) {
            try server { $0.publicURLs.append(plain) }
        }
        #expect(throws: Never.self) {
            try server { $0.publicURLs = ["http://[::1]:8080", "http://127.0.0.1"] }
        }
        #expect(throws: ServerError.signInProviderNotUsable(reason: "no share has a browser page")) {
            try server(hasPage: false)
        }
    }
}
#endif
