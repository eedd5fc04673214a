import DavitHTTP
import DavitServer
import Synchronization
import Testing

/// A clock that advances only on request.
final class ManualClock: Sendable {
    private let nanoseconds = Mutex<Int64>(1_000_000_000_000)

    var now: Int64 { nanoseconds.withLock { $0 } }

    func advance(seconds: Int64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
}

/// Runs work inline and counts it.
final class InlineWork: BlockingWorkRunner {
    private let runs = Mutex(0)

    var count: Int { runs.withLock { $0 } }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        runs.withLock { $0 += 1 }
        return work()
    }
}

/// Refuses all work, like a full queue.
struct FullQueue: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { nil }
}

/// Holds all work until it is released.
final class HeldWork: BlockingWorkRunner {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOpen = false
        var count = 0
        var watcher: (count: Int, CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    /// The number of jobs received.
    var count: Int { state.withLock { $0.count } }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        await withCheckedContinuation { continuation in
            let (watcher, isOpen) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
                state.count += 1
                if !state.isOpen { state.waiting.append(continuation) }
                guard let watcher = state.watcher, state.count >= watcher.count else {
                    return (nil, state.isOpen)
                }
                state.watcher = nil
                return (watcher.1, state.isOpen)
            }
            watcher?.resume()
            if isOpen { continuation.resume() }
        }
        return work()
    }

    /// Waits until this number of jobs has been received.
    func waitUntil(count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.watcher = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Authentication in front of a ``Greeter``, with a record of the reported delays and refusals.
struct AuthenticationFixture {
    let clock = ManualClock()
    let authentication: Authentication
    let handler: MiddlewareHandler<Authentication, Greeter>
    let reports = Reports()

    final class Reports: Sendable {
        private let all = Mutex<[Int64]>([])
        var seconds: [Int64] { all.withLock { $0 } }
        func add(_ seconds: Int64) { all.withLock { $0.append(seconds) } }

        private let refused = Mutex<[LimitRefusal]>([])
        var refusals: [LimitRefusal] { refused.withLock { $0 } }
        func add(_ refusal: LimitRefusal) { refused.withLock { $0.append(refusal) } }

        private let used = Mutex<[AppPasswordUse]>([])
        var uses: [AppPasswordUse] { used.withLock { $0 } }
        func add(_ use: AppPasswordUse) { used.withLock { $0.append(use) } }
    }

    /// - Parameter hasAppPasswords: whether app passwords are accepted; the clock also determines when they expire.
    init(
        _ accounts: Accounts, work: any BlockingWorkRunner = InlineWork(), fields: HTTPFields = HTTPFields(),
        hasAppPasswords: Bool = false
    ) throws {
        let services = AppPasswordServices(
            seconds: { [clock] in clock.now / 1_000_000_000 }, didUse: { [reports] in reports.add($0) })
        authentication = try Authentication(
            accounts: accounts, optionsFields: fields, work: work,
            report: { [reports] in reports.add($1) },
            limitLog: LimitLog { [reports] in reports.add($0) },
            appPasswords: hasAppPasswords ? services : nil, now: { [clock] in clock.now })
        handler = Greeter().applying(authentication)
    }

    /// Sends a request as a connection does.
    func send(
        _ fields: [String], method: String = "GET", target: String = "/f", from peer: String = "192.0.2.1"
    ) async throws -> HTTPResponse {
        try await exchange(fields, method: method, target: target, from: peer).response
    }

    /// Sends a request and returns it as the handler received it.
    func exchange(
        _ fields: [String], method: String = "GET", target: String = "/f", from peer: String = "192.0.2.1"
    ) async throws -> (request: HTTPRequest, response: HTTPResponse) {
        let request = try HTTPRequest(
            parsing: Array(
                (["\(method) \(target) HTTP/1.1", "Host: a"] + fields + ["", ""]).joined(separator: "\r\n")
                    .utf8))
        request.peerAddress = peer
        return (request, try await handler.respond(to: request).response())
    }

    func basic(_ pair: String, from peer: String = "192.0.2.1") async throws -> HTTPResponse {
        try await send(["Authorization: Basic \(Base64.encode(Array(pair.utf8)))"], from: peer)
    }
}

extension HTTPFields {
    /// The values of all WWW-Authenticate fields.
    var challenges: [String] {
        String(decoding: encoded, as: UTF8.self).split(separator: "\r\n").compactMap { line in
            line.hasPrefix("WWW-Authenticate: ") ? String(line.dropFirst(18)) : nil
        }
    }
}
