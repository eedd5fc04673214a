import DavitDiscovery
import DavitServer
import DavitSystem
import Synchronization
import Testing

/// A router that answers in order, and then like the last time.
private final class Router: PortGateway {
    enum Call: Hashable {
        case map(UInt16, to: UInt16)
        case unmap(UInt16, external: UInt16)
    }
    private struct State {
        var calls: [Call] = []
        var answers: [Result<PortLease, PortGatewayError>]
    }
    private let monitor: Monitor<State>

    init(_ answers: [Result<PortLease, PortGatewayError>]) { monitor = Monitor(State(answers: answers)) }

    func map(_ port: UInt16, to external: UInt16, seconds: Int) throws(PortGatewayError) -> PortLease {
        let answer = monitor.withLock { state in
            state.calls.append(.map(port, to: external))
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        monitor.broadcast()
        return try answer.get()
    }

    func unmap(_ port: UInt16, _ lease: PortLease) {
        monitor.withLock { $0.calls.append(.unmap(port, external: lease.port)) }
        monitor.broadcast()
    }

    /// Waits until the router has been called this many times, and returns the first calls.
    func calls(_ count: Int) -> [Call] {
        monitor.wait { $0.calls.count >= count ? Array($0.calls.prefix(count)) : nil }
    }

    var lastCall: Call? { monitor.withLock { $0.calls.last } }
}

struct PortMapperTests {
    private final class Changes: Sendable {
        let all = Mutex<[PortMapper.Status]>([])
        let pauses = Mutex<[Int]>([])
    }
    private let changes = Changes()

    private static func lease(_ port: UInt16, _ seconds: Int = 3_600) -> PortLease {
        PortLease(address: "198.41.0.7", port: port, seconds: seconds, method: "UPnP")
    }

    /// - Parameter held: the pause that does not end, in seconds; all others end immediately.
    private func mapper(_ router: Router, external: UInt16? = nil, holding held: Int? = nil) -> PortMapper {
        PortMapper(
            router, external: external, seconds: 3_600,
            milliseconds: { [changes] seconds in
                changes.pauses.withLock { $0.append(seconds) }
                return seconds == held ? 3_600_000 : 0
            }, onChange: { [changes] status in changes.all.withLock { $0.append(status) } })
    }

    @Test func w005w037portIsMappedRenewedAndRemoved() {
        let router = Router([.success(Self.lease(8443))])
        let mapper = mapper(router)
        mapper.start(8443)
        #expect(router.calls(3) == Array(repeating: .map(8443, to: 8443), count: 3))
        mapper.stop()
        #expect(router.lastCall == .unmap(8443, external: 8443))
        #expect(mapper.status == .idle)
        // At half of the duration.
        #expect(changes.pauses.withLock { Set($0) } == [1_800])
        #expect(changes.all.withLock { $0 } == [.searching, .mapped(Self.lease(8443)), .idle])
    }

    /// The router can choose another port, and another one later; renewals ask for the latest.
    @Test func otherPortsAreKept() {
        let router = Router([.success(Self.lease(50_000, 120)), .success(Self.lease(50_001, 120))])
        let mapper = mapper(router, external: 443)
        mapper.start(8443)
        #expect(
            router.calls(3) == [.map(8443, to: 443), .map(8443, to: 50_000), .map(8443, to: 50_001)])
        mapper.stop()
        #expect(router.lastCall == .unmap(8443, external: 50_001))
        #expect(changes.pauses.withLock { Set($0) } == [60])
        #expect(
            changes.all.withLock { $0 } == [
                .searching, .mapped(Self.lease(50_000, 120)), .mapped(Self.lease(50_001, 120)), .idle,
            ])
    }

    @Test func failuresAreTriedAgainLessAndLessOften() {
        let error = PortGatewayError(reason: "no router")
        let failures = [Result<PortLease, PortGatewayError>](repeating: .failure(error), count: 10)
        let router = Router(failures + [.success(Self.lease(8443))])
        let mapper = mapper(router)
        mapper.start(8443)
        _ = router.calls(12)
        mapper.stop()
        #expect(
            changes.pauses.withLock { $0.prefix(11) } == [
                10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800, 1_800,
            ])
        #expect(
            changes.all.withLock { $0 } == [
                .searching, .failed(reason: "no router"), .mapped(Self.lease(8443)), .idle,
            ])
    }

    /// The mapping is removed although the pause has not ended, and there is one for another port then.
    @Test func mappingFollowsTheServer() {
        let router = Router([.success(Self.lease(9_000))])
        let mapper = mapper(router, holding: 1_800)
        mapper.start(8443)
        _ = router.calls(1)
        mapper.withdraw()
        #expect(router.calls(2) == [.map(8443, to: 8443), .unmap(8443, external: 9_000)])
        mapper.start(8444)
        #expect(router.calls(3).last == .map(8444, to: 8444))
        mapper.stop()
        #expect(router.calls(4).last == .unmap(8444, external: 9_000))
        // Without a mapping, there is nothing to wait for.
        mapper.stop()
    }

    @Test func nothingIsRemovedWithoutAMapping() {
        let router = Router([.failure(PortGatewayError(reason: "no"))])
        let mapper = mapper(router, holding: 10)
        mapper.start(8443)
        _ = router.calls(1)
        mapper.stop()
        #expect(router.lastCall == .map(8443, to: 8443))
    }

    @Test(arguments: [
        ("8.8.8.8", true), ("198.41.0.7", true), ("172.15.0.1", true), ("172.32.0.1", true),
        ("10.0.0.1", false), ("172.16.0.1", false), ("172.31.255.255", false), ("192.168.1.1", false),
        ("100.64.0.1", false), ("100.127.0.1", false), ("100.128.0.1", true), ("169.254.1.1", false),
        ("0.0.0.0", false), ("127.0.0.1", false), ("224.0.0.1", false), ("", false), ("fe80::1", false),
    ])
    func privateAddressesAreRecognized(address: String, isPublic: Bool) {
        #expect(PortLease(address: address, port: 1, seconds: 1, method: "").isPublic == isPublic)
    }
}
