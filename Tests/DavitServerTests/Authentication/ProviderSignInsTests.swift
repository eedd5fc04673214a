import DavitHTTP
import DavitServer
import Synchronization
import Testing

/// Questions to a provider: their limits, and outages.
struct ProviderSignInsTests {
    /// A provider with scripted answers, which counts the questions.
    final class Provider: SignInProvider {
        private let found = Mutex(SignInVerification.right(name: "anna", groups: ["a"]))
        private let counted = Mutex(0)
        private let gate: HeldWork?
        let service = "https://login.example.org"
        let name = "Example"

        init(held gate: HeldWork? = nil) { self.gate = gate }

        var count: Int { counted.withLock { $0 } }

        func set(_ answer: SignInVerification) { found.withLock { $0 = answer } }

        func url(for attempt: SignInAttempt) async -> SignInStart {
            counted.withLock { $0 += 1 }
            return switch found.withLock({ $0 }) {
            case .unavailable(let reason): .unavailable(reason: reason)
            case .invalid(let reason): .invalid(reason: reason)
            default: .url("https://login.example.org/?state=\(attempt.state)")
            }
        }

        func verify(_ answer: FormFields, _ attempt: SignInAttempt) async -> SignInVerification {
            counted.withLock { $0 += 1 }
            _ = await gate?.run { true }
            return found.withLock { $0 }
        }
    }

    final class Reports: Sendable {
        private let all = Mutex<[ProviderSignIns.Report]>([])
        var list: [ProviderSignIns.Report] { all.withLock { $0 } }
        func add(_ report: ProviderSignIns.Report) { all.withLock { $0.append(report) } }
    }

    final class Counter: Sendable {
        private let count = Mutex(0)

        func increment() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private let clock = ManualClock()
    private let reports = Reports()
    private static let attempt = SignInAttempt(redirectURL: "r", state: "s", nonce: "n", verifier: "v")

    private func signIns(_ provider: Provider) -> ProviderSignIns {
        let (clock, reports) = (clock, reports)
        return ProviderSignIns(
            provider, deadline: .seconds(600), report: { reports.add($0) }, now: { clock.now })
    }

    private func user(
        _ signIns: ProviderSignIns, from peer: String = "192.0.2.1"
    ) async throws -> Result<String, ProviderSignIns.Failure> {
        let request = try makeRequest("GET / HTTP/1.1", "Host: a")
        request.peerAddress = peer
        do throws(ProviderSignIns.Failure) {
            return .success(try await signIns.user(of: FormFields(), Self.attempt, request).name)
        } catch { return .failure(error) }
    }

    @Test func answersBecomeUsersOrFailures() async throws {
        let provider = Provider()
        let signIns = signIns(provider)
        #expect(try await user(signIns) == .success("anna"))
        let table: [(SignInVerification, ProviderSignIns.Failure)] = [
            (.denied, .denied), (.wrong(reason: "a"), .wrong), (.refused(reason: "b"), .refused),
            (.invalid(reason: "c"), .invalid),
        ]
        for (answer, failure) in table {
            provider.set(answer)
            #expect(try await user(signIns) == .failure(failure))
        }
        let service = provider.service
        #expect(
            reports.list == [
                .refused(service: service, reason: "a"), .refused(service: service, reason: "b"),
                .invalid(service: service, reason: "c"),
            ])
    }

    @Test func outagesAreReportedOnceAndProbed() async throws {
        let provider = Provider()
        let signIns = signIns(provider)
        provider.set(.unavailable(reason: "down"))
        #expect(try await user(signIns) == .failure(.unavailable(seconds: 5)))
        clock.advance(seconds: 2)
        for _ in 0..<3 { #expect(try await user(signIns) == .failure(.unavailable(seconds: 3))) }
        #expect(provider.count == 1)
        clock.advance(seconds: 3)
        let request = try makeRequest("GET / HTTP/1.1", "Host: a")
        await #expect(throws: ProviderSignIns.Failure.unavailable(seconds: 5)) {
            try await signIns.url(for: Self.attempt, request)
        }
        #expect(provider.count == 2)
        clock.advance(seconds: 5)
        provider.set(.right(name: "ben", groups: []))
        #expect(try await user(signIns) == .success("ben"))
        let service = provider.service
        #expect(
            reports.list == [
                .unavailable(service: service, reason: "down"), .availableAgain(service: service),
            ])
    }

    @Test func questionsOfOneNetworkAreLimited() async throws {
        let gate = HeldWork()
        let provider = Provider(held: gate)
        let signIns = signIns(provider)
        let refusals = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Of twice as many as are allowed, the others are refused without waiting.
            for _ in 0..<(2 * ProviderSignIns.perNetwork) {
                group.addTask {
                    let found = try await user(signIns)
                    if found == .success("anna") { return }
                    #expect(found == .failure(.busy))
                    if refusals.increment() == ProviderSignIns.perNetwork { gate.open() }
                }
            }
            await gate.waitUntil(count: ProviderSignIns.atATime)
            // Another network waits for a turn.
            group.addTask {
                let found = try await user(signIns, from: "198.51.100.1")
                #expect(found == .success("anna"))
            }
            try await group.waitForAll()
        }
        #expect(refusals.increment() == ProviderSignIns.perNetwork + 1)
        #expect(provider.count == ProviderSignIns.perNetwork + 1)
        // The limit counts only those in progress.
        #expect(try await user(signIns) == .success("anna"))
    }
}
