import DavitEngine
import DavitHTTP
import DavitSQLite
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// All possible lock conflicts on a small tree, compared with the model ``LockOracle``.
struct LockOracleTests {
    typealias Path = LockOracle.Path

    enum Backend: CaseIterable, Sendable {
        case memory, sqlite

        func makeStore(in folder: TemporaryFolder) throws -> any StateStore {
            switch self {
            case .memory: MemoryStateStore()
            case .sqlite: try SQLiteStateStore(folder: folder.path)
            }
        }
    }

    /// A lock that is created before the tested requests are sent.
    struct LockRequest: Sendable {
        var root: Path
        var isDeep: Bool
        var scope: LockOracle.Scope
        var owner = "ann"
    }

    static let collections: [Path] = [[], ["a"], ["a", "b"], ["a", "b", "c"]]
    static let contents: [Path] = [["a", "b", "c", "f"], ["a", "g"]]
    static let free: [Path] = [["a", "b", "c", "n"], ["a", "m"], ["a", "g", "n"]]

    static var lockRequests: [LockRequest] {
        var lockRequests: [LockRequest] = []
        for scope in LockOracle.Scope.allCases {
            for root in collections {
                lockRequests.append(LockRequest(root: root, isDeep: false, scope: scope))
                lockRequests.append(LockRequest(root: root, isDeep: true, scope: scope))
            }
            for root in contents { lockRequests.append(LockRequest(root: root, isDeep: false, scope: scope)) }
        }
        return lockRequests
    }

    // MARK: All single locks and pairs of locks

    @Test(arguments: Backend.allCases, Array(lockRequests.indices))
    func oneLockMatchesTheOracle(backend: Backend, first: Int) async throws {
        try await ask(backend, [Self.lockRequests[first]])
    }

    @Test(arguments: TestExtent.sample(of: Array(lockRequests.indices), every: 6))
    func twoLocksMatchTheOracle(first: Int) async throws {
        let backend = Backend.allCases[first % Backend.allCases.count]
        for second in Self.lockRequests[first...] {
            for owner in ["ann", "bob"] {
                var second = second
                second.owner = owner
                try await ask(backend, [Self.lockRequests[first], second])
            }
        }
    }

    /// Creates the locks, then sends every possible request; the requests change nothing.
    private func ask(_ backend: Backend, _ lockRequests: [LockRequest]) async throws {
        let stateFolder = try TemporaryFolder(in: "/dev/shm")
        let store = FullStore(try backend.makeStore(in: stateFolder))
        let before = try await Self.makeTree(TestShare(state: store))
        var oracle = LockOracle()
        oracle.collections = Set(Self.collections)
        oracle.contents = Set(Self.contents)
        for lockRequest in lockRequests {
            let asker = LockOracle.ServerConnection(
                principal: lockRequest.owner, tokens: Set(oracle.locks.map(\.token)))
            let question = LockQuestion(
                request: .lock(lockRequest.root, isDeep: lockRequest.isDeep, lockRequest.scope), asker: asker)
            let (answer, token) = try await question.ask(before, locks: oracle.locks)
            let expected = oracle.answer(to: question.request, from: asker)
            #expect(answer == expected, "\(question) after \(oracle.locks)")
            guard answer == .done, expected == .done else { return }
            oracle.apply(question.request, from: asker, token: token)
        }
        // Reload the state from the store, which then accepts no more commits.
        let share = try TestShare(before.folder, state: store)
        store.commitsLeft.store(0, ordering: .sequentiallyConsistent)
        share.resources.watch { call in
            switch call {
            case .members, .nextMember: nil
            default: .outOfSpace
            }
        }
        let requests = Self.requests(oracle)
        for asker in Self.askers(oracle.locks) {
            for request in requests {
                let question = LockQuestion(request: request, asker: asker)
                let answer = try await question.ask(share, locks: oracle.locks).answer
                let expected = oracle.answer(to: request, from: asker)
                if answer != expected {
                    Issue.record("\(question), with \(oracle.locks): got \(answer), expected \(expected)")
                }
            }
        }
    }

    private static func makeTree(_ share: TestShare) async throws -> TestShare {
        for path in collections.dropFirst() {
            _ = try await share.client.send("MKCOL", LockQuestion.target(path))
        }
        for path in contents { _ = try await share.client.send("PUT", LockQuestion.target(path), text: "x") }
        return share
    }

    /// Returns one client with each combination of tokens and, if there is a single lock, another client that
    /// submits the token without owning the lock.
    private static func askers(_ locks: [LockOracle.Held]) -> [LockOracle.ServerConnection] {
        let tokens = locks.map(\.token)
        // If the second lock belongs to another client, only combinations with its token are new cases.
        let choices = locks.count == 2 && locks[1].owner != locks[0].owner ? 2..<4 : 0..<(1 << tokens.count)
        var askers = choices.map { choice in
            let chosen = tokens.indices.filter { choice & (1 << $0) != 0 }.map { tokens[$0] }
            return LockOracle.ServerConnection(principal: "ann", tokens: Set(chosen))
        }
        if locks.count == 1 {
            askers.append(LockOracle.ServerConnection(principal: "bob", tokens: Set(tokens)))
        }
        return askers
    }

    /// Returns all possible requests; with two locks, without those that fail even if nothing is locked.
    private static func requests(_ oracle: LockOracle) -> [LockOracle.Request] {
        let paths = collections + contents + free
        var requests: [LockOracle.Request] = []
        for path in paths {
            requests += [.put(path), .delete(path), .makeCollection(path), .patch(path)]
            for scope in LockOracle.Scope.allCases {
                requests += [.lock(path, isDeep: false, scope), .lock(path, isDeep: true, scope)]
            }
            for destination in paths {
                requests += [.copy(path, to: destination), .move(path, to: destination)]
            }
        }
        if oracle.locks.count > 1 {
            var unlocked = oracle
            unlocked.locks = []
            let anybody = LockOracle.ServerConnection(principal: "ann", tokens: [])
            requests.removeAll { unlocked.answer(to: $0, from: anybody) != .done }
        }
        for lock in oracle.locks {
            for path in paths {
                requests += [.refresh(path, token: lock.token), .unlock(path, token: lock.token)]
            }
        }
        return requests
    }

    // MARK: Histories

    /// Sends random sequences of requests that change resources, and compares the locks of resources that are
    /// removed, moved, replaced or copied.
    @Test(arguments: Backend.allCases, TestExtent.sample(of: Array(1...12), every: 3))
    func randomHistoryMatchesTheOracle(backend: Backend, seed: UInt64) async throws {
        let stateFolder = try TemporaryFolder(in: "/dev/shm")
        let store = try backend.makeStore(in: stateFolder)
        // On a volume in memory, changes use another code path.
        let folder = try TemporaryFolder(in: seed.isMultiple(of: 2) ? "/tmp" : "/dev/shm")
        var share = try TestShare(folder, state: store)
        var oracle = LockOracle()
        var generator = SeededGenerator(seed: seed)
        for number in 0..<150 {
            let question = Self.question(oracle, &generator)
            let (answer, token) = try await question.ask(share, locks: oracle.locks)
            let expected = oracle.answer(to: question.request, from: question.asker)
            guard answer == expected else {
                Issue.record("\(number): \(question), with \(oracle): got \(answer), expected \(expected)")
                return
            }
            if Self.changes(answer, question.request) {
                oracle.apply(question.request, from: question.asker, token: token)
            }
            let held = Set(share.locks.map(\.token.uri))
            guard held == Set(oracle.locks.map(\.token)) else {
                Issue.record("\(number): after \(question), the locks are \(held), expected \(oracle.locks)")
                return
            }
            if number % 40 == 39 { share = try TestShare(share.folder, state: store) }
        }
        for path in oracle.collections.union(oracle.contents) {
            #expect(try await share.client.send("HEAD", LockQuestion.target(path)).status == 200)
        }
    }

    /// Returns whether the request changed anything. A DELETE that keeps locked members removes the others; a
    /// LOCK that fails has no effect.
    private static func changes(_ answer: LockOracle.Answer, _ request: LockOracle.Request) -> Bool {
        if answer == .done { return true }
        guard case .blocked = answer, case .delete = request else { return false }
        return true
    }

    private static func question(
        _ oracle: LockOracle, _ generator: inout SeededGenerator
    ) -> LockQuestion {
        var path: Path {
            (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                ["a", "b"].randomElement(using: &generator) ?? "a"
            }
        }
        let token = oracle.locks.randomElement(using: &generator)?.token ?? "urn:uuid:none"
        let request: LockOracle.Request =
            switch Int.random(in: 0..<12, using: &generator) {
            case 0, 1: .put(path)
            case 2, 3: .makeCollection(path)
            case 4: .delete(path)
            case 5: .patch(path)
            case 6: .copy(path, to: path)
            case 7: .move(path, to: path)
            case 8: .refresh(path, token: token)
            case 9: .unlock(path, token: token)
            default:
                .lock(
                    path, isDeep: .random(using: &generator),
                    Int.random(in: 0..<3, using: &generator) == 0 ? .exclusive : .shared)
            }
        let principal = Int.random(in: 0..<4, using: &generator) == 0 ? "bob" : "ann"
        let tokens = oracle.locks.map(\.token).filter { _ in Int.random(in: 0..<3, using: &generator) > 0 }
        return LockQuestion(
            request: request, asker: LockOracle.ServerConnection(principal: principal, tokens: Set(tokens)))
    }
}

extension TestShare {
    /// All locks in the state.
    var locks: [Lock] {
        let now = Timestamp(seconds: 0)
        return state.locks(covering: .root, now: now) + state.locks(under: .root, now: now)
    }
}
