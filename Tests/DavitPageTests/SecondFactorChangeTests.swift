#if TLS
import DavitHTTP
import DavitPage
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// A change of the second factor, during which the password of the account changes.
struct SecondFactorChangeTests {
    private struct DirectWork: BlockingWorkRunner {
        func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
    }

    /// Runs an action while it stores a second factor.
    private final class Store: SecondFactorStore {
        private let stored = Mutex<SecondFactor?>(nil)
        private let action = Mutex<@Sendable () -> Void>({})

        func onSet(_ new: @escaping @Sendable () -> Void) { action.withLock { $0 = new } }
        func factor(of account: String) -> SecondFactor? { stored.withLock { $0 } }
        func set(
            _ factor: SecondFactor?, of account: String, keeping session: Int64?
        ) throws(SessionStoreError) {
            stored.withLock { $0 = factor }
            action.withLock { $0 }()
        }
        func use(step: Int64, of account: String) throws(SessionStoreError) -> Bool { false }
        func use(recoveryHash: [UInt8], of account: String) throws(SessionStoreError) -> Bool { false }
    }

    private struct Echo: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .ready(.text(request.principal ?? ""))
        }
    }

    private static let now: Int64 = 1_700_000_000

    private func accounts(_ password: String) throws -> Accounts {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: password)
        return accounts
    }

    @Test(arguments: [false, true])
    func sessionsDoNotOutliveTheirPassword(isReset: Bool) async throws {
        let store = Store()
        let sessions = SessionTable(
            store: nil, work: DirectWork(), report: { _ in }, now: { Self.now })
        let endpoint = AccountEndpoint(
            sessions: sessions, factors: store, work: DirectWork(), now: { Self.now },
            cookie: SessionCookie(), names: ServerNames([], secure: []), title: "Files")
        let authentication = try Authentication(
            accounts: accounts("secret"), work: DirectWork(), authenticators: [endpoint], now: { 0 })
        let client = TestClient(
            Echo().applying(endpoint.pages(for: authentication)).applying(authentication))
        let form = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
        ]
        let signedIn = try await client.send(
            "POST", "/?account", form, text: "do=sign-in&name=anna&password=secret")
        let cookie = String(try #require(signedIn["Set-Cookie"]).prefix { $0 != ";" })
        if isReset {
            let other = try accounts("other")
            store.onSet {
                _ = try? authentication.replace(with: other)
                sessions.endSessions { endpoint.credential(of: $0, authentication) }
            }
        }
        let secret = [UInt8](repeating: 1, count: TimeCode.secretBytes)
        let code = try #require(TimeCode.code(secret, step: TimeCode.step(at: Self.now)))
        let answer = try await client.send(
            "POST", "/?account", form + [("Cookie", cookie)],
            text: "do=set-factor&secret=\(Base32.encode(secret))&password=secret&code=\(code)")
        #expect(answer.status == 200)
        #expect(store.factor(of: "anna") != nil)
        let after = try await client.send("GET", "/a", [("Cookie", cookie)])
        #expect(after.status == (isReset ? 401 : 200))
        #expect(sessions.count == (isReset ? 0 : 1))
    }
}
#endif
