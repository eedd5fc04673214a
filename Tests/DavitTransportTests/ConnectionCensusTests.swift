import DavitHTTP
import DavitTransport
import Synchronization
import Testing

struct ConnectionCensusTests {
    static let first = NetworkAddress.ipv4(127, 0, 0, 1, port: 1)
    static let second = NetworkAddress(family: .ipv6, high: 0, low: 1, port: 1)

    @Test func thePortDoesNotMakeAnotherPeer() {
        let census = ConnectionCensus(limit: 10, limitPerAddress: 1)
        #expect(census.enter(.ipv4(127, 0, 0, 1, port: 1)))
        #expect(!census.enter(.ipv4(127, 0, 0, 1, port: 2)))
        #expect(census.enter(Self.second))
        census.leave(.ipv4(127, 0, 0, 1, port: 1))
        #expect(census.enter(.ipv4(127, 0, 0, 1, port: 3)))
    }

    /// A proxy connects on behalf of many clients.
    @Test func proxiesHaveNoLimitOfTheirOwn() throws {
        let proxies = [try #require(IPNetwork("127.0.0.0/8")), try #require(IPNetwork("2001:db8::/32"))]
        let census = ConnectionCensus(limit: 10, limitPerAddress: 1, unlimited: proxies)
        for _ in 0..<3 {
            #expect(census.enter(Self.first))
            #expect(census.enter(.local))
        }
        #expect(census.enter(Self.second))
        #expect(!census.enter(Self.second))
        #expect(census.hasRoom {})
    }

    @Test func roomIsAnnouncedOnce() {
        let census = ConnectionCensus(limit: 1, limitPerAddress: 10)
        let calls = Counter()
        #expect(census.hasRoom { calls.increment() })
        #expect(census.enter(Self.first))
        #expect(!census.hasRoom { calls.increment() })
        #expect(calls.count == 0)
        census.leave(Self.first)
        #expect(calls.count == 1)
        #expect(census.enter(Self.first))
        census.leave(Self.first)
        #expect(calls.count == 1)
    }

    /// Several listeners can wait for room.
    @Test func roomIsAnnouncedToAllWhoWait() {
        let census = ConnectionCensus(limit: 1, limitPerAddress: 10)
        let calls = (Counter(), Counter())
        #expect(census.enter(Self.first))
        #expect(!census.hasRoom { calls.0.increment() })
        #expect(!census.hasRoom { calls.1.increment() })
        census.leave(Self.first)
        #expect(calls.0.count == 1 && calls.1.count == 1)
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        var count: Int { value.load(ordering: .relaxed) }

        func increment() { value.add(1, ordering: .relaxed) }
    }
}
