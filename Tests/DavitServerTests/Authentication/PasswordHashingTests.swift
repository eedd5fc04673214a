import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

#if TLS
/// Runs work step by step under control of the test.
private final class SteppedWork: BlockingWorkRunner {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// The number of steps allowed before work arrived.
        var steps = 0
        var count = 0
    }

    private let state = Mutex(State())

    /// The number of jobs started.
    var count: Int { state.withLock { $0.count } }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                state.count += 1
                if state.steps > 0 {
                    state.steps -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayRun { continuation.resume() }
        }
        return work()
    }

    /// Lets `count` jobs finish.
    func step(_ count: Int = 1) {
        let resumed = state.withLock { state in
            let resumed = state.waiting.prefix(count)
            state.waiting.removeFirst(resumed.count)
            state.steps += count - resumed.count
            return resumed
        }
        for continuation in resumed { continuation.resume() }
    }
}

/// Tests which logins wait during a guessing attack, and how long they wait.
@Suite(.timeLimit(.minutes(15)))
struct PasswordHashingTests {
    private let work = SteppedWork()
    private let executor = TestExecutor()
    private let gate: AuthenticationFixture

    init() throws {
        var accounts = Accounts()
        for name in ["anna", "bert"] + (0..<30).map({ "user\($0)" }) {
            // The password is "päss".
            try accounts.add(name: name, hash: AccountsTests.scrypt)
        }
        gate = try AuthenticationFixture(accounts, work: work)
    }

    /// Waits until every login that was started on `executor` has been answered, waits for its turn, or is
    /// being hashed.
    private func expectIdle(hashed: Int? = nil, waiting: Int? = nil) {
        executor.waitUntilIdle()
        if let hashed { #expect(work.count == hashed) }
        if let waiting { #expect(gate.authentication.waitingCount == waiting) }
    }

    /// Starts `count` wrong logins to an account, each from a different address and network. Returns when one
    /// of them is being hashed and the others wait.
    private func attack(
        _ count: Int, on account: String, _ group: inout ThrowingTaskGroup<HTTPStatus, any Error>
    ) async {
        for guess in 0..<count {
            group.addTask(executorPreference: executor) { [gate] in
                try await gate.basic("\(account):wrong\(guess)", from: "10.\(guess / 256).\(guess % 256).1")
                    .status
            }
        }
        expectIdle(hashed: 1, waiting: count - 1)
    }

    private func statuses(
        of group: inout ThrowingTaskGroup<HTTPStatus, any Error>
    ) async throws -> [HTTPStatus] {
        var statuses: [HTTPStatus] = []
        while let status = try await group.next() { statuses.append(status) }
        return statuses
    }

    /// Regression: with 50 wrong passwords in flight from many addresses, 30 of 30 right logins were answered
    /// with 503.
    @Test func newLoginsOfOtherAccountsWaitOneTurnEach() async throws {
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            await attack(50, on: "anna", &wrong)
            let right = try await withThrowingTaskGroup(of: HTTPStatus.self) { right in
                for user in 0..<30 {
                    right.addTask(executorPreference: executor) { [gate] in
                        try await gate.basic("user\(user):päss", from: "192.0.2.\(user)").status
                    }
                }
                expectIdle(waiting: 49 + 30)
                // Wrong logins that are hashed in the meantime: the current one, one per round of accounts,
                // and one in every fourth turn.
                work.step(1 + 31 + 8)
                return try await statuses(of: &right)
            }
            #expect(right == [HTTPStatus](repeating: .noContent, count: 30))
            #expect(gate.authentication.waitingCount >= 49 - 10)
            work.step(1000)
            #expect(try await statuses(of: &wrong) == [HTTPStatus](repeating: .unauthorized, count: 50))
        }
    }

    @Test func newLoginsOfTheSameAccountTakeTheirTurn() async throws {
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            await attack(50, on: "anna", &wrong)
            let right = try await withThrowingTaskGroup(of: HTTPStatus.self) { right in
                for peer in 0..<30 {
                    right.addTask(executorPreference: executor) { [gate] in
                        try await gate.basic("anna:päss", from: "192.0.2.\(peer)").status
                    }
                }
                expectIdle(waiting: 49 + 30)
                // The first right login is hashed after the 50 wrong ones; its result applies to the other 29.
                work.step(51)
                return try await statuses(of: &right)
            }
            #expect(right == [HTTPStatus](repeating: .noContent, count: 30))
            #expect(work.count == 51)
            #expect(try await statuses(of: &wrong) == [HTTPStatus](repeating: .unauthorized, count: 50))
        }
    }

    /// An address that has logged in to an account before has priority.
    @Test func knownAddressesComeFirst() async throws {
        work.step()
        #expect(try await gate.basic("anna:päss", from: "192.0.2.1").status == .noContent)
        gate.clock.advance(seconds: 301)
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            for guess in 0..<50 {
                wrong.addTask(executorPreference: executor) { [gate] in
                    try await gate.basic("anna:wrong\(guess)", from: "10.0.\(guess).1").status
                }
            }
            expectIdle(hashed: 2, waiting: 49)
            let right = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.1").status
            }
            expectIdle(waiting: 50)
            work.step(2)
            #expect(try await right.value == .noContent)
            #expect(gate.authentication.waitingCount == 48)
            work.step(1000)
            _ = try await statuses(of: &wrong)
        }
    }

    /// After a wrong password, further attempts from the same address have the lowest priority, unless it has
    /// logged in to the account before.
    @Test func addressesWithFailuresComeLast() async throws {
        work.step()
        #expect(try await gate.basic("anna:wrong", from: "198.51.100.1").status == .unauthorized)
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            for guess in 0..<4 {
                wrong.addTask(executorPreference: executor) { [gate] in
                    try await gate.basic("anna:wrong\(guess)", from: "198.51.100.1").status
                }
            }
            expectIdle(hashed: 2, waiting: 3)
            let right = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.1").status
            }
            expectIdle(waiting: 4)
            work.step(2)
            #expect(try await right.value == .noContent)
            work.step(1000)
            _ = try await statuses(of: &wrong)
        }
    }

    @Test func cachedPasswordsDoNotWait() async throws {
        work.step()
        #expect(try await gate.basic("anna:päss", from: "192.0.2.1").status == .noContent)
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            for guess in 0..<300 {
                wrong.addTask(executorPreference: executor) { [gate] in
                    try await gate.basic("anna:wrong\(guess)", from: "10.\(guess / 200).\(guess % 200).1")
                        .status
                }
            }
            // 256 logins wait, one is being hashed, and the others find the queue full.
            for _ in 0..<300 - 257 { #expect(try await wrong.next() == .serviceUnavailable) }
            #expect(gate.authentication.waitingCount == 256)
            let line = "Authorization: Basic \(Base64.encode(Array("anna:päss".utf8)))"
            for _ in 0..<30 {
                let request = try makeRequest("GET /f HTTP/1.1", "Host: a", line)
                request.peerAddress = "192.0.2.1"
                #expect(try gate.handler.respond(to: request).readyResponse?.status == .noContent)
            }
            #expect(work.count == 2)
            // A new login of another account still gets its turn.
            let right = executor.start { [gate] in try await gate.basic("bert:päss", from: "192.0.2.9").status
            }
            #expect(try await wrong.next() == .serviceUnavailable)
            work.step(3)
            #expect(try await right.value == .noContent)
            work.step(1000)
            _ = try await statuses(of: &wrong)
        }
    }

    @Test func tooManyLoginsFromOneAddressReturn429() async throws {
        try await withThrowingTaskGroup(of: HTTPStatus.self) { wrong in
            for guess in 0..<5 {
                wrong.addTask(executorPreference: executor) { [gate] in
                    try await gate.basic("anna:wrong\(guess)").status
                }
            }
            expectIdle(hashed: 1, waiting: 4)
            let refused = try await gate.basic("anna:one more")
            #expect(refused.status == .tooManyRequests)
            #expect(refused.fields.first(.retryAfter) == "1")
            #expect(gate.reports.refusals.map(\.cause) == ["logins waiting from one address"])
            #expect(gate.reports.refusals.map(\.address) == ["192.0.2.1"])
            let other = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.2").status
            }
            expectIdle(waiting: 5)
            work.step(1000)
            #expect(try await other.value == .noContent)
            #expect(try await statuses(of: &wrong).allSatisfy { $0 == .unauthorized })
        }
    }

    @Test func disconnectedClientLeavesTheQueue() async throws {
        let first = executor.start { [gate] in try await gate.basic("anna:wrong").status }
        expectIdle(hashed: 1)
        let leaving = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.2").status }
        expectIdle(waiting: 1)
        // A second request with the same password from the same address shares the wait of the first one but
        // is not cancelled with it.
        let staying = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.2").status }
        expectIdle(waiting: 1)
        leaving.cancel()
        #expect(try await leaving.value == .serviceUnavailable)
        work.step(2)
        #expect(try await first.value == .unauthorized)
        #expect(try await staying.value == .noContent)
        #expect(work.count == 2)
    }

    /// Different encodings of the same password do not cost more hashes.
    @Test func differentEncodingsOfAPasswordShareOneHash() async throws {
        work.step(2)
        for password in ["päss", "wrong"] {
            for pad in 1...20 {
                let blanks = String(repeating: " ", count: pad)
                let value = Base64.encode(Array("anna:\(password)".utf8))
                let status = try await gate.send(["Authorization: Basic\(blanks)\(value)"]).status
                #expect(status == (password == "päss" ? .noContent : .unauthorized))
            }
        }
        #expect(work.count == 2)
    }

    /// Queued passwords are compared with the accounts at the time of hashing.
    @Test func queuedPasswordsSeeReplacedAccounts() async throws {
        let first = executor.start { [gate] in try await gate.basic("anna:wrong").status }
        expectIdle(hashed: 1)
        let removed = executor.start { [gate] in try await gate.basic("anna:päss", from: "192.0.2.2").status }
        let kept = executor.start { [gate] in try await gate.basic("bert:päss", from: "192.0.2.3").status }
        expectIdle(waiting: 2)
        var accounts = Accounts()
        try accounts.add(name: "bert", hash: AccountsTests.scrypt)
        try gate.authentication.replaceAccounts(accounts)
        work.step(1000)
        #expect(try await first.value == .unauthorized)
        #expect(try await removed.value == .unauthorized)
        #expect(try await kept.value == .noContent)
    }
}
#endif
