import DavitHTTP
import DavitTransport
import Synchronization
import Testing

struct ConnectionCounterTests {
    static let first = NetworkAddress.ipv4(127, 0, 0, 1, port: 1)
    static let second = NetworkAddress(family: .ipv6, high: 0, low: 1, port: 1)

    @Test func portDoesNotDistinguishPeers() {
        let connectionCounter = ConnectionCounter(limit: 10, limitPerAddress: 1)
        #expect(connectionCounter.enter(.ipv4(127, 0, 0, 1, port: 1)))
        #expect(!connectionCounter.enter(.ipv4(127, 0, 0, 1, port: 2)))
        #expect(connectionCounter.enter(Self.second))
        connectionCounter.leave(.ipv4(127, 0, 0, 1, port: 1))
        #expect(connectionCounter.enter(.ipv4(127, 0, 0, 1, port: 3)))
    }

    /// A proxy connects on behalf of many clients.
    @Test func proxiesHaveNoLimitPerAddress() throws {
        let proxies = [try #require(IPNetwork("127.0.0.0/8")), try #require(IPNetwork("2001:db8::/32"))]
        let connectionCounter = ConnectionCounter(limit: 10, limitPerAddress: 1, unlimited: proxies)
        for _ in 0..<3 {
            #expect(connectionCounter.enter(Self.first))
            #expect(connectionCounter.enter(.local))
        }
        #expect(connectionCounter.enter(Self.second))
        #expect(!connectionCounter.enter(Self.second))
        #expect(connectionCounter.hasRoom {})
    }

    /// Connections whose requests did not end in time close after the server has stopped.
    @Test func occupancyIsNotReportedAfterTheEnd() {
        let calls = Counter()
        let connectionCounter = ConnectionCounter(limit: 10, limitPerAddress: 10) { _ in calls.increment() }
        #expect(connectionCounter.enter(Self.first))
        #expect(connectionCounter.enter(Self.second))
        connectionCounter.leave(Self.first)
        #expect(calls.count == 1)
        connectionCounter.end()
        connectionCounter.leave(Self.second)
        #expect(calls.count == 1)
    }

    @Test func listenerIsNotifiedOfFreeCapacityOnce() {
        let connectionCounter = ConnectionCounter(limit: 1, limitPerAddress: 10)
        let calls = Counter()
        #expect(connectionCounter.hasRoom { calls.increment() })
        #expect(connectionCounter.enter(Self.first))
        #expect(!connectionCounter.hasRoom { calls.increment() })
        #expect(calls.count == 0)
        connectionCounter.leave(Self.first)
        #expect(calls.count == 1)
        #expect(connectionCounter.enter(Self.first))
        connectionCounter.leave(Self.first)
        #expect(calls.count == 1)
    }

    /// Several listeners can wait for capacity.
    @Test func allListenersAreNotifiedOfFreeCapacity() {
        let connectionCounter = ConnectionCounter(limit: 1, limitPerAddress: 10)
        let calls = (Counter(), Counter())
        #expect(connectionCounter.enter(Self.first))
        #expect(!connectionCounter.hasRoom { calls.0.increment() })
        #expect(!connectionCounter.hasRoom { calls.1.increment() })
        connectionCounter.leave(Self.first)
        #expect(calls.0.count == 1 && calls.1.count == 1)
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        var count: Int { value.load(ordering: .relaxed) }

        func increment() { value.add(1, ordering: .relaxed) }
    }
}
