import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// A connection keeps what its client may see, as long as it is the same client with the same rights.
struct KeptViewTests {
    /// Carries the memory of a connection from one request to the next.
    private final class OneConnection<Base: Handler>: Handler {
        let base: Base
        private let identity: Mutex<Principal>
        private let memory = Mutex(RequestMemory())

        init(_ base: Base, _ identity: Principal) {
            self.base = base
            self.identity = Mutex(identity)
        }

        func become(_ other: Principal) { identity.withLock { $0 = other } }

        var keepsView: Bool { memory.withLock { $0.view != nil } }

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            request.identity = identity.withLock { $0 }
            request.memory = memory.withLock { $0 }
            defer { memory.withLock { $0 = request.memory } }
            return try base.respond(to: request)
        }
    }

    private static let team = ResourcePath(segments: [Array("team".utf8)])!
    private static let rules = [AccessRule(.user("anna"), team, .view)]

    @Test func changedRulesApplyToTheNextRequest() async throws {
        let policy = ChangingPolicy(Self.rules)
        let share = try TestShare { $0.access = policy }
        #expect(share.shell("mkdir team; echo a > team/a.txt") == 0)
        let connection = OneConnection(share.client.application, Principal(.account, "anna"))
        let client = TestClient(connection)
        #expect(try await client.send("GET", "/team/a.txt").status == 200)
        #expect(connection.keepsView)
        #expect(try await client.send("GET", "/team/a.txt").status == 200)
        policy.replace([])
        #expect(try await client.send("GET", "/team/a.txt").status == 404)
        policy.replace(Self.rules)
        #expect(try await client.send("GET", "/team/a.txt").status == 200)
    }

    static let others: [Principal] = [
        .anonymous, Principal(.account, "ben"), Principal(.account, "anna", groups: ["g"]),
        Principal(.appPassword, "anna", limit: AccessLimit(path: team, rights: .list)),
        Principal(.appPassword, "anna", limit: AccessLimit(path: .root, rights: .none)),
    ]

    /// A proxy can use a connection for several clients.
    @Test(arguments: others)
    func otherClientsOfTheConnectionHaveTheirOwnRights(other: Principal) async throws {
        let policy = ChangingPolicy(
            try AccessRules(
                Self.rules + [AccessRule(.group("g"), Self.team, .none)], groups: ["g": []]))
        let share = try TestShare { $0.access = policy }
        #expect(share.shell("mkdir team; echo a > team/a.txt") == 0)
        let anna = Principal(.account, "anna")
        let connection = OneConnection(share.client.application, anna)
        let client = TestClient(connection)
        let fresh = TestClient(IdentityHandler(base: share.client.application, identity: other))
        let status = try await fresh.send("GET", "/team/a.txt").status
        for _ in 0..<2 {
            connection.become(anna)
            #expect(try await client.send("GET", "/team/a.txt").status == 200)
            connection.become(other)
            #expect(try await client.send("GET", "/team/a.txt").status == status)
        }
    }

    private struct Uncounted: AccessPolicy {
        let rules: ChangingPolicy

        func view(of principal: Principal) -> any AccessView { rules.view(of: principal) }
    }

    @Test func policiesThatDoNotCountChangesAreAskedAgain() async throws {
        let policy = ChangingPolicy(Self.rules)
        let share = try TestShare { $0.access = Uncounted(rules: policy) }
        #expect(share.shell("mkdir team; echo a > team/a.txt") == 0)
        let connection = OneConnection(share.client.application, Principal(.account, "anna"))
        let client = TestClient(connection)
        #expect(try await client.send("GET", "/team/a.txt").status == 200)
        #expect(!connection.keepsView)
        policy.replace([])
        #expect(try await client.send("GET", "/team/a.txt").status == 404)
    }

    @Test func viewsOfOneShareAreNotUsedForAnother() async throws {
        let (open, closed) = (ChangingPolicy(Self.rules), ChangingPolicy([]))
        let shares = [try TestShare { $0.access = open }, try TestShare { $0.access = closed }]
        for share in shares { #expect(share.shell("mkdir team; echo a > team/a.txt") == 0) }
        let memory = Mutex(RequestMemory())
        var statuses: [UInt16] = []
        for share in shares + shares {
            let request = try HTTPRequest(parsing: Array("GET /team/a.txt HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            request.identity = Principal(.account, "anna")
            request.memory = memory.withLock { $0 }
            do throws(HTTPError) {
                let reply = try share.client.application.respond(to: request)
                statuses.append(try await reply.response().status.code)
            } catch {
                statuses.append(error.status.code)
            }
            memory.withLock { $0 = request.memory }
        }
        #expect(statuses == [200, 404, 200, 404])
    }
}
