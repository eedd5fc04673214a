import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// The limit on requests of one client that are in progress at the same time.
@Suite(.timeLimit(.minutes(5)))
struct RequestLimiterTests {
    /// A limiter whose time passes when the test says so, and the requests that it has admitted.
    final class Fixture: Sendable {
        private let timers = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let refusals = Mutex<[LimitRefusal]>([])
        let order = Mutex<[Int]>([])
        private let limiter = Mutex<RequestLimiter?>(nil)

        init(limit: Int, proxies: [String] = []) {
            let made = RequestLimiter(
                limit: limit, proxies: proxies.compactMap { IPNetwork($0) },
                limitLog: LimitLog { refusal in self.refusals.withLock { $0.append(refusal) } },
                sleep: { _ in
                    await withCheckedContinuation { timer in self.timers.withLock { $0.append(timer) } }
                    try Task.checkCancellation()
                }, now: { 1_000_000_000 })
            limiter.withLock { $0 = made }
        }

        var used: RequestLimiter { limiter.withLock { $0 }! }
        var logged: [String] { refusals.withLock { $0.map(\.cause) } }

        /// Ends the wait of all requests that wait, also of those that no longer do.
        func passTime() { for timer in timers.withLock({ $0 }) { timer.resume() } }

        /// Returns when this number of timers has started.
        func waitForTimers(_ count: Int) async {
            while timers.withLock({ $0.count }) < count { await Task.yield() }
        }

        func waitForWaiting(_ count: Int) async {
            while used.load.waiting != count { await Task.yield() }
        }

        func respond(
            to request: HTTPRequest, with body: @escaping @Sendable () -> HTTPBody = { .empty }
        ) throws(HTTPError) -> Reply {
            try Fixed(body: body).applying(used).respond(to: request)
        }
    }

    struct Fixed: Handler {
        let body: @Sendable () -> HTTPBody

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .ready(HTTPResponse(status: .ok, body: body()))
        }
    }

    static func request(account: String? = nil, address: String = "192.0.2.1") throws -> HTTPRequest {
        let request = try makeRequest("GET / HTTP/1.1", "Host: a")
        request.principal = account
        request.peerAddress = address
        return request
    }

    /// Whether a request is answered without waiting; it then stays in progress.
    static func isReady(_ reply: Reply) -> Bool {
        if case .ready = reply { true } else { false }
    }

    /// Returns a task with the status of a waiting request.
    static func status(of request: HTTPRequest, in fixture: Fixture) -> Task<HTTPStatus, Never> {
        Task {
            do throws(HTTPError) { return try await fixture.respond(to: request).response().status } catch {
                return error.status
            }
        }
    }

    @Test func requestsAreLimitedByAccount() async throws {
        let fixture = Fixture(limit: 2)
        // The address of an account is not important.
        let first = try Self.request(account: "anna", address: "192.0.2.1")
        let second = try Self.request(account: "anna", address: "192.0.2.2")
        #expect(Self.isReady(try fixture.respond(to: first)))
        #expect(Self.isReady(try fixture.respond(to: second)))
        let third = Self.status(of: try Self.request(account: "anna"), in: fixture)
        await fixture.waitForWaiting(1)
        // Others are not affected.
        #expect(Self.isReady(try fixture.respond(to: Self.request(account: "bert"))))
        #expect(Self.isReady(try fixture.respond(to: Self.request())))

        first.didEnd()
        // A further call has no effect.
        first.didEnd()
        #expect(await third.value == .ok)
        #expect(fixture.used.load.waiting == 0 && fixture.used.load.refused == 0)
        let fourth = Self.status(of: try Self.request(account: "anna"), in: fixture)
        await fixture.waitForWaiting(1)
        second.didEnd()
        #expect(await fourth.value == .ok)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", false), ("192.0.2.1", "192.0.2.2", true),
        ("2001:db8::1", "2001:db8::ffff:1", false), ("2001:db8::1", "2001:db8:0:1::1", true),
        ("fe80::1%eth0", "fe80::2%eth1", false),
        // Clients that cannot be distinguished, and the proxy itself, are not limited.
        ("unix:", "unix:", true), ("198.51.100.7", "198.51.100.7", true),
    ])
    func requestsWithoutAccountAreLimitedByNetwork(first: String, second: String, isReady: Bool) throws {
        let fixture = Fixture(limit: 1, proxies: ["198.51.100.0/24"])
        #expect(Self.isReady(try fixture.respond(to: Self.request(address: first))))
        #expect(Self.isReady(try fixture.respond(to: Self.request(address: second))) == isReady)
    }

    @Test func requestsWaitInOrder() async throws {
        let fixture = Fixture(limit: 1)
        let first = try Self.request(account: "anna")
        #expect(Self.isReady(try fixture.respond(to: first)))
        var waiting: [(HTTPRequest, Task<HTTPStatus, Never>)] = []
        for number in 0..<3 {
            let request = try Self.request(account: "anna")
            let task = Task {
                let status = await Self.status(of: request, in: fixture).value
                fixture.order.withLock { $0.append(number) }
                return status
            }
            waiting.append((request, task))
            await fixture.waitForWaiting(number + 1)
        }
        var ending = first
        for (request, task) in waiting {
            ending.didEnd()
            #expect(await task.value == .ok)
            ending = request
        }
        #expect(fixture.order.withLock { $0 } == [0, 1, 2])
    }

    @Test func waitingRequestsAreLimited() async throws {
        let fixture = Fixture(limit: 1)
        let first = try Self.request(account: "anna")
        #expect(Self.isReady(try fixture.respond(to: first)))
        var waiting: [Task<HTTPStatus, Never>] = []
        for _ in 0..<RequestLimiter.waitingLimit {
            waiting.append(Self.status(of: try Self.request(account: "anna"), in: fixture))
        }
        await fixture.waitForWaiting(RequestLimiter.waitingLimit)
        let excess = await Self.status(of: try Self.request(account: "anna"), in: fixture).value
        #expect(excess == .serviceUnavailable)
        #expect(fixture.used.load.waiting == RequestLimiter.waitingLimit)
        #expect(fixture.used.load.refused == 1)
        #expect(fixture.logged == ["requests in progress"])
        // The limit is that of each client.
        let other = try Self.request(account: "bert")
        #expect(Self.isReady(try fixture.respond(to: other)))
        let otherWaiting = Self.status(of: try Self.request(account: "bert"), in: fixture)
        await fixture.waitForWaiting(RequestLimiter.waitingLimit + 1)
        other.didEnd()
        #expect(await otherWaiting.value == .ok)
        for task in waiting { task.cancel() }
        for task in waiting { #expect(await task.value == .serviceUnavailable) }
    }

    @Test func requestsThatWaitTooLongAreRefused() async throws {
        let fixture = Fixture(limit: 1)
        let first = try Self.request(account: "anna")
        #expect(Self.isReady(try fixture.respond(to: first)))
        let late = Self.status(of: try Self.request(account: "anna"), in: fixture)
        await fixture.waitForTimers(1)
        fixture.passTime()
        #expect(await late.value == .serviceUnavailable)
        first.didEnd()
        // The refused request occupies nothing.
        #expect(Self.isReady(try fixture.respond(to: Self.request(account: "anna"))))
    }

    /// A client that disconnects while it waits occupies nothing.
    @Test func cancelledRequestsStopWaiting() async throws {
        let fixture = Fixture(limit: 1)
        let first = try Self.request(account: "anna")
        #expect(Self.isReady(try fixture.respond(to: first)))
        let cancelled = Self.status(of: try Self.request(account: "anna"), in: fixture)
        await fixture.waitForWaiting(1)
        cancelled.cancel()
        #expect(await cancelled.value == .serviceUnavailable)
        #expect(fixture.used.load.waiting == 0)
        first.didEnd()
        #expect(Self.isReady(try fixture.respond(to: Self.request(account: "anna"))))
    }

    private static let stream: @Sendable () -> HTTPBody = {
        HTTPResponse.events { _ in }.body
    }

    @Test func streamsAreCountedSeparately() async throws {
        let fixture = Fixture(limit: 1)
        let stream = try Self.request(account: "anna")
        #expect(try await fixture.respond(to: stream, with: Self.stream).response().status == .ok)
        // The stream does not block a request, but another stream.
        let request = try Self.request(account: "anna")
        #expect(Self.isReady(try fixture.respond(to: request)))
        request.didEnd()
        let second = try Self.request(account: "anna")
        let refused = try await fixture.respond(to: second, with: Self.stream).response()
        #expect(refused.status == .serviceUnavailable)
        #expect(refused.fields.first(.retryAfter) == "1")
        #expect(fixture.logged == ["event streams"])
        second.didEnd()
        stream.didEnd()
        let third = try Self.request(account: "anna")
        #expect(try await fixture.respond(to: third, with: Self.stream).response().status == .ok)
    }
}
