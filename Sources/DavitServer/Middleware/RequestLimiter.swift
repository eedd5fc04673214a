package import DavitHTTP
internal import Synchronization

/// Limits the requests of each client that are in progress at the same time, from the arrival of the head to the end of the
/// response. A client is an account or, without an account, the network of an address.
///
/// A request over the limit waits for one of the others to end, in order of arrival. Each connection carries one request at a
/// time, so a waiting request only holds its connection. If too many requests of the client wait, or one has waited for too
/// long, it is answered with 503.
///
/// A response without an end, such as a stream of events, no longer counts as a request when it begins: otherwise, the pages
/// that a user has opened would block the requests of these pages. As many streams are permitted as requests, and further
/// ones are answered with 503, because the others may never end.
package final class RequestLimiter: Middleware {
    /// The numbers of requests of all clients.
    package struct Load: Hashable, Sendable {
        /// Waiting requests.
        package var waiting = 0
        /// Requests that were refused since the server was created.
        package var refused: UInt64 = 0
    }

    /// The maximum number of waiting requests of one client.
    package static let waitingLimit = 64

    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait.
        var timer: Task<Void, Never>?
    }

    private struct Entry {
        var requests = 0
        var streams = 0
        var waiting: [Waiter] = []

        var isUnused: Bool { requests == 0 && streams == 0 && waiting.isEmpty }
    }

    private struct State {
        /// The clients that have requests.
        var entries: [LimitedClient: Entry] = [:]
        var lastID: UInt64 = 0
        var load = Load()
    }

    /// What a request or a stream occupies until it ends.
    private final class Admission: RequestCompletion {
        let client: LimitedClient
        private let limiter: RequestLimiter
        private let isStream = Atomic<Bool>(false)

        init(_ client: LimitedClient, _ limiter: RequestLimiter) {
            self.client = client
            self.limiter = limiter
        }

        func becomeStream() { isStream.store(true, ordering: .relaxed) }

        func requestDidEnd() {
            if isStream.load(ordering: .relaxed) {
                limiter.streamDidEnd(of: client)
            } else {
                limiter.requestDidEnd(of: client)
            }
        }
    }

    private let limit: Int
    private let waitingTime: Duration
    private let proxies: [IPNetwork]
    private let limitLog: LimitLog
    private let sleep: @Sendable (Duration) async throws -> Void
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the maximum number of requests in progress, at least 1.
    ///   - waitingTime: the maximum time that a request waits.
    ///   - proxies: the networks of trusted proxies. Their own requests without an account are not limited, nor are those of
    ///     local sockets, because they are those of many clients.
    ///   - limitLog: logs refused requests.
    ///   - sleep: returns after a time, or throws if the task is cancelled.
    ///   - now: returns the nanoseconds of a monotonic clock, for the log.
    package init(
        limit: Int, waitingTime: Duration = .seconds(10), proxies: [IPNetwork] = [],
        limitLog: LimitLog = LimitLog { _ in },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        now: @escaping @Sendable () -> Int64
    ) {
        self.limit = max(1, limit)
        self.waitingTime = waitingTime
        self.proxies = proxies
        self.limitLog = limitLog
        self.sleep = sleep
        self.now = now
    }

    /// The current numbers.
    package var load: Load { state.withLock { $0.load } }

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard let client = client(of: request) else { return try next.respond(to: request) }
        guard admitsNow(client) else {
            return .pending { () async throws(HTTPError) in
                guard await self.wait(client) else { throw self.refusal("requests in progress", request) }
                let admission = self.admission(of: client, to: request)
                let response = try await next.respond(to: request).response()
                return self.counted(response, admission, request)
            }
        }
        let admission = admission(of: client, to: request)
        return try next.respond(to: request).map { self.counted($0, admission, request) }
    }

    private func client(of request: HTTPRequest) -> LimitedClient? {
        if let name = request.principal { return .account(name) }
        return .network(of: request, proxies: proxies)
    }

    private func admission(of client: LimitedClient, to request: HTTPRequest) -> Admission {
        let admission = Admission(client, self)
        request.completion = admission
        return admission
    }

    private func refusal(_ cause: StaticString, _ request: HTTPRequest) -> HTTPError {
        state.withLock { $0.load.refused += 1 }
        // The log only compares times with each other, so a monotonic clock is suitable.
        limitLog.refused(
            cause, account: request.principal, address: request.peerAddress,
            now: Timestamp(seconds: now() / 1_000_000_000))
        return HTTPError(.serviceUnavailable, "Too many requests at the same time. Try again later.")
    }

    /// Counts a response without an end as a stream, and no longer as a request.
    /// - Returns: the response, or a refusal if the client has too many streams.
    private func counted(
        _ response: HTTPResponse, _ admission: Admission, _ request: HTTPRequest
    ) -> HTTPResponse {
        guard case .stream(let stream) = response.body, stream.flushesImmediately else { return response }
        let client = admission.client
        let isAdmitted = state.withLock { state in
            guard state.entries[client, default: Entry()].streams < limit else { return false }
            state.entries[client, default: Entry()].streams += 1
            return true
        }
        guard isAdmitted else {
            let error = refusal("event streams", request)
            return .error(error.status, error.reason)
        }
        admission.becomeStream()
        requestDidEnd(of: client)
        return response
    }

    // MARK: Admission

    /// Counts a request if it does not have to wait.
    private func admitsNow(_ client: LimitedClient) -> Bool {
        state.withLock { state in
            guard state.entries[client, default: Entry()].requests < limit else { return false }
            state.entries[client, default: Entry()].requests += 1
            return true
        }
    }

    /// Waits until the request can be counted, and counts it.
    /// - Returns: false if it is refused, or its client has disconnected.
    private func wait(_ client: LimitedClient) async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAdmitted = state.withLock { state -> Bool? in
                    var entry = state.entries[client] ?? Entry()
                    defer { state.entries[client] = entry }
                    if entry.requests < limit {
                        entry.requests += 1
                        return true
                    }
                    guard entry.waiting.count < Self.waitingLimit else { return false }
                    entry.waiting.append(Waiter(id: id, continuation: continuation))
                    state.load.waiting += 1
                    return nil
                }
                if let isAdmitted { return continuation.resume(returning: isAdmitted) }
                startTimer(of: id, client)
                // The handler below did nothing if the task was cancelled before.
                if Task.isCancelled { giveUp(id, client) }
            }
        } onCancel: {
            giveUp(id, client)
        }
    }

    private func startTimer(of id: UInt64, _ client: LimitedClient) {
        let timer = Task {
            do { try await sleep(waitingTime) } catch { return }
            giveUp(id, client)
        }
        let isWaiting = state.withLock { state in
            guard let index = state.entries[client]?.waiting.firstIndex(where: { $0.id == id }) else {
                return false
            }
            state.entries[client]?.waiting[index].timer = timer
            return true
        }
        if !isWaiting { timer.cancel() }
    }

    /// Refuses a request if it still waits.
    private func giveUp(_ id: UInt64, _ client: LimitedClient) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.entries[client]?.waiting.firstIndex(where: { $0.id == id }) else {
                return nil
            }
            state.load.waiting -= 1
            return state.entries[client]?.waiting.remove(at: index)
        }
        waiter?.timer?.cancel()
        waiter?.continuation.resume(returning: false)
    }

    /// Admits the next waiting request in place of one that has ended.
    private func requestDidEnd(of client: LimitedClient) {
        let next = state.withLock { state -> Waiter? in
            guard var entry = state.entries[client] else { return nil }
            defer { state.entries[client] = entry.isUnused ? nil : entry }
            guard !entry.waiting.isEmpty else {
                entry.requests -= 1
                return nil
            }
            // The number of requests does not change.
            state.load.waiting -= 1
            return entry.waiting.removeFirst()
        }
        next?.timer?.cancel()
        next?.continuation.resume(returning: true)
    }

    private func streamDidEnd(of client: LimitedClient) {
        state.withLock { state in
            guard var entry = state.entries[client] else { return }
            entry.streams -= 1
            state.entries[client] = entry.isUnused ? nil : entry
        }
    }
}
