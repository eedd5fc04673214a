internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Limits the number of concurrent operations, in total and per client, and admits waiters in order of
/// arrival. Waiters do not block a thread. A client that has reached its own limit does not hold up waiters
/// of other clients.
package final class ClientSlots: Sendable {
    private struct Waiter {
        let number: UInt64
        let client: ClientKey
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var inside = 0
        var insideByClient: [ClientKey: Int] = [:]
        var waiting: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    /// An occupied slot. Releasing the last reference to this object frees the slot.
    final class Slot: Sendable {
        private let slots: ClientSlots
        private let client: ClientKey

        fileprivate init(_ slots: ClientSlots, _ client: ClientKey) {
            self.slots = slots
            self.client = client
        }

        deinit { slots.leave(client) }
    }

    /// The maximum size in bytes of what one request may keep in memory without a slot.
    static let unreservedBytes = 64 << 10

    /// The name of the limit, for the log.
    private let cause: StaticString
    private let log: LimitLog
    private let limit: Int
    private let limitPerClient: Int
    private let waitingLimit: Int
    private let waitingLimitPerClient: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - cause: the name of the limit, for `log`.
    ///   - log: receives the requests that were refused.
    init(
        _ cause: StaticString, limit: Int, limitPerClient: Int, waitingLimit: Int = 1_024,
        waitingLimitPerClient: Int = 64, _ log: LimitLog
    ) {
        self.cause = cause
        self.log = log
        self.limit = limit
        self.limitPerClient = limitPerClient
        self.waitingLimit = waitingLimit
        self.waitingLimitPerClient = waitingLimitPerClient
    }

    /// The number of waiters.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a free slot for the client of a request.
    /// - Throws: 503 if too many callers are already waiting, or if the task was cancelled.
    func enter(for context: RequestContext) async throws(WebDAVError) -> Slot {
        if let slot = await enter(context.client) { return slot }
        log.refused(cause, context)
        throw .busy
    }

    /// Waits for a free slot.
    /// - Returns: nil if too many callers are already waiting, or if the task was cancelled.
    private func enter(_ client: ClientKey) async -> Slot? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                admit(Waiter(number: number, client: client, continuation: continuation))
                // The cancellation handler may have run before the waiter was registered.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return isAdmitted ? Slot(self, client) : nil
    }

    private func admit(_ waiter: Waiter) {
        let isAdmitted = state.withLock { state -> Bool? in
            let own = state.insideByClient[waiter.client] ?? 0
            if state.inside < limit, own < limitPerClient {
                state.inside += 1
                state.insideByClient[waiter.client] = own + 1
                return true
            }
            let ownWaiting = state.waiting.count { $0.client == waiter.client }
            guard state.waiting.count < waitingLimit, ownWaiting < waitingLimitPerClient else {
                return false
            }
            state.waiting.append(waiter)
            return nil
        }
        if let isAdmitted { waiter.continuation.resume(returning: isAdmitted) }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let position = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting.remove(at: position)
        }
        waiter?.continuation.resume(returning: false)
    }

    private func leave(_ client: ClientKey) {
        let next = state.withLock { state -> Waiter? in
            state.inside -= 1
            let own = (state.insideByClient[client] ?? 1) - 1
            state.insideByClient[client] = own > 0 ? own : nil
            let position = state.waiting.firstIndex { waiter in
                state.insideByClient[waiter.client] ?? 0 < limitPerClient
            }
            guard state.inside < limit, let position else { return nil }
            let waiter = state.waiting.remove(at: position)
            state.inside += 1
            state.insideByClient[waiter.client, default: 0] += 1
            return waiter
        }
        next?.continuation.resume(returning: true)
    }
}
