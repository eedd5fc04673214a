package import DavitHTTP
internal import Synchronization

/// Asks a ``SignInProvider``: a few questions at a time, each for a limited time. While the provider does not respond,
/// requests are refused without asking it, except one from time to time.
package final class ProviderSignIns: Sendable {
    /// The reason why a sign-in fails.
    package enum Failure: Error, Hashable, Sendable {
        case denied
        /// See ``SignInVerification/wrong(reason:)``.
        case wrong
        case refused
        case invalid
        case unavailable(seconds: Int64)
        /// Too many sign-ins are in progress.
        case busy
    }

    /// An event for the log.
    package enum Report: Hashable, Sendable {
        case unavailable(service: String, reason: String)
        case availableAgain(service: String)
        case invalid(service: String, reason: String)
        case refused(service: String, reason: String)
    }

    /// Maximum number of concurrent questions.
    package static let atATime = ExternalLogins.atATime
    /// Maximum number of questions that wait, and of those of one network, including those in progress.
    package static let waitingLimit = 64
    package static let perNetwork = 8

    private struct State {
        var outage = ServiceOutage()
        /// The number of questions of each network that has any, by hash value.
        var inProgress: [Int: Int] = [:]
    }

    private let provider: any SignInProvider
    private let deadline: Duration
    private let now: @Sendable () -> Int64
    private let report: @Sendable (Report) -> Void
    private let turns = AsyncSemaphore(limit: atATime, waitingLimit: waitingLimit)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - report: called when the provider stops responding or responds again, and if its answer cannot be used.
    ///   - now: returns the nanoseconds of a monotonic clock.
    package init(
        _ provider: any SignInProvider, deadline: Duration = ExternalLogins.deadline,
        report: @escaping @Sendable (Report) -> Void = { _ in }, now: @escaping @Sendable () -> Int64
    ) {
        self.provider = provider
        self.deadline = deadline
        self.report = report
        self.now = now
    }

    /// The name of the provider on the button of the sign-in page.
    package var name: String { provider.name }

    /// Returns the URL at which a user signs in.
    /// - Parameter request: determines the address of the client.
    package func url(for attempt: SignInAttempt, _ request: HTTPRequest) async throws(Failure) -> String {
        let provider = provider
        let start = try await ask(
            request, late: SignInStart.unavailable(reason: lateReason), { await provider.url(for: attempt) },
            unavailable: { if case .unavailable(let reason) = $0 { reason } else { nil } })
        switch start {
        case .url(let url): return url
        case .unavailable: throw .unavailable(seconds: ServiceOutage.retrySeconds)
        case .invalid(let reason):
            report(.invalid(service: provider.service, reason: reason))
            throw .invalid
        }
    }

    /// Returns the user of an answer.
    /// - Parameter request: determines the address of the client.
    package func user(
        of answer: FormFields, _ attempt: SignInAttempt, _ request: HTTPRequest
    ) async throws(Failure) -> (name: String, groups: Set<String>) {
        let provider = provider
        let found = try await ask(
            request, late: SignInVerification.unavailable(reason: lateReason),
            { await provider.verify(answer, attempt) },
            unavailable: { if case .unavailable(let reason) = $0 { reason } else { nil } })
        switch found {
        case .right(let name, let groups): return (name, groups)
        case .denied: throw .denied
        case .wrong(let reason):
            report(.refused(service: provider.service, reason: reason))
            throw .wrong
        case .refused(let reason):
            report(.refused(service: provider.service, reason: reason))
            throw .refused
        case .invalid(let reason):
            report(.invalid(service: provider.service, reason: reason))
            throw .invalid
        case .unavailable: throw .unavailable(seconds: ServiceOutage.retrySeconds)
        }
    }

    /// Logs that a user whom the provider has confirmed cannot be used here.
    package func refuse(_ reason: String) { report(.refused(service: provider.service, reason: reason)) }

    private var lateReason: String { "no answer within \(deadline)" }

    private func ask<Value: Sendable>(
        _ request: HTTPRequest, late: Value, _ question: @escaping @Sendable () async -> Value,
        unavailable: (Value) -> String?
    ) async throws(Failure) -> Value {
        let network = PeerNetwork(of: request.peerAddress).surrounding.hashValue
        let isAdmitted = state.withLock { state in
            let count = state.inProgress[network] ?? 0
            guard count < Self.perNetwork else { return false }
            state.inProgress[network] = count + 1
            return true
        }
        guard isAdmitted else { throw .busy }
        defer {
            state.withLock { state in
                let count = state.inProgress[network] ?? 1
                state.inProgress[network] = count > 1 ? count - 1 : nil
            }
        }
        guard await turns.enter() else { throw .busy }
        defer { turns.leave() }
        if let seconds = state.withLock({ $0.outage.wait(now: now()) }) {
            throw .unavailable(seconds: seconds)
        }
        let found = await FirstResult.of(question, orAfter: deadline, late)
        record(unavailable(found))
        return found
    }

    /// - Parameter reason: nil if the provider has responded.
    private func record(_ reason: String?) {
        let event = state.withLock { $0.outage.record(isAvailable: reason == nil, now: now()) }
        switch event {
        case .began: report(.unavailable(service: provider.service, reason: reason ?? ""))
        case .ended: report(.availableAgain(service: provider.service))
        case nil: break
        }
    }
}
