import DavitServer
import Testing

/// The order in which passwords are hashed.
struct PasswordQueueTests {
    typealias Queue = PasswordQueue<String>

    /// A queue, the number of the last ticket, and the trust in each address.
    struct Fixture {
        var queue = Queue()
        var ticket: UInt64 = 0
        var standings: [Int: Queue.ClientTrust] = [:]

        /// - Parameter network: nil for a network that contains only this address.
        mutating func add(_ name: String, account: Int, address: Int, network: Int? = nil) -> Queue.Admission
        {
            ticket += 1
            let entry = Queue.Entry(
                ticket: ticket, account: account, address: address, network: network ?? address, waiter: name)
            let standings = standings
            return queue.append(entry) { standings[$0.address] ?? .unknown }
        }

        mutating func next() -> String? {
            let standings = standings
            return queue.removeNext { standings[$0.address] ?? .unknown }?.waiter
        }

        mutating func all() -> [String] {
            var all: [String] = []
            while let next = next() { all.append(next) }
            return all
        }
    }

    @Test func accountsTakeTurns() {
        var fixture = Fixture()
        for address in 1...5 { _ = fixture.add("a\(address)", account: 1, address: address) }
        for address in 11...12 { _ = fixture.add("b\(address)", account: 2, address: address) }
        _ = fixture.add("c", account: 3, address: 21)
        #expect(fixture.all() == ["a1", "b11", "c", "a2", "b12", "a3", "a4", "a5"])
        #expect(fixture.queue.count == 0)
    }

    @Test func networksOfAnAccountTakeTurns() {
        var fixture = Fixture()
        for address in 1...4 { _ = fixture.add("a\(address)", account: 1, address: address, network: 100) }
        for address in 11...12 { _ = fixture.add("b\(address)", account: 1, address: address, network: 200) }
        #expect(fixture.all() == ["a1", "b11", "a2", "b12", "a3", "a4"])
    }

    /// An account that was served waits until the other accounts have been served.
    @Test func repeatedAccountWaitsForTheOthers() {
        var fixture = Fixture()
        _ = fixture.add("a1", account: 1, address: 1)
        _ = fixture.add("b1", account: 2, address: 2)
        _ = fixture.add("c1", account: 3, address: 3)
        #expect(fixture.next() == "a1")
        _ = fixture.add("a2", account: 1, address: 1)
        #expect(fixture.all() == ["b1", "c1", "a2"])
    }

    @Test func trustedAddressesComeFirstWithoutStarvation() {
        var fixture = Fixture()
        fixture.standings = [1: .failed, 2: .unknown, 3: .proven]
        for number in 1...4 {
            _ = fixture.add("failed\(number)", account: number, address: 1)
            _ = fixture.add("unknown\(number)", account: number, address: 2)
            _ = fixture.add("proven\(number)", account: number, address: 3)
        }
        // Every fourth turn serves another level of trust; accounts take turns across all levels.
        #expect(
            fixture.all() == [
                "proven1", "proven2", "proven3", "unknown4", "proven4", "unknown1", "unknown2", "unknown3",
                "failed4", "failed1", "failed2", "failed3",
            ])
    }

    /// The trust in a client is evaluated at the time of selection.
    @Test func failureWhileWaitingLosesTrust() {
        var fixture = Fixture()
        for account in 1...3 { _ = fixture.add("a\(account)", account: account, address: 1) }
        _ = fixture.add("b", account: 4, address: 2)
        #expect(fixture.next() == "a1")
        fixture.standings[1] = .failed
        #expect(fixture.all() == ["b", "a2", "a3"])
    }

    static func isLineFull(_ admission: Queue.Admission) -> Bool {
        if case .lineFull = admission { true } else { false }
    }

    @Test func queueOfAnAccountIsLimited() {
        var fixture = Fixture()
        for number in 0..<Queue.perLine {
            #expect(!Self.isLineFull(fixture.add("\(number)", account: 1, address: 1)))
        }
        #expect(Self.isLineFull(fixture.add("more", account: 1, address: 1)))
        #expect(!Self.isLineFull(fixture.add("other account", account: 2, address: 1)))
        #expect(!Self.isLineFull(fixture.add("other address", account: 1, address: 2)))
        _ = fixture.next()
        #expect(!Self.isLineFull(fixture.add("again", account: 1, address: 1)))
    }

    @Test func queueOfAnAddressIsLimited() {
        var fixture = Fixture()
        for account in 0..<Queue.perAddress {
            #expect(!Self.isLineFull(fixture.add("", account: account, address: 1)))
        }
        #expect(Self.isLineFull(fixture.add("", account: -1, address: 1)))
        #expect(!Self.isLineFull(fixture.add("", account: -1, address: 2)))
    }

    @Test func fullQueueDropsTheLongestLine() {
        var fixture = Fixture()
        for number in 0..<Queue.total {
            _ = fixture.add("a\(number)", account: 1, address: number, network: number / 2)
        }
        #expect(fixture.queue.count == Queue.total)
        guard case .displaced(let other) = fixture.add("b", account: 2, address: -1) else {
            Issue.record("the entry was not admitted")
            return
        }
        // The newest entry of the account and network with the most entries is dropped.
        #expect(other.waiter == "a\(Queue.total - 1)")
        #expect(fixture.queue.count == Queue.total)
        // An entry from a new network displaces an entry of a network with more entries.
        guard case .displaced = fixture.add("a", account: 1, address: -2) else {
            Issue.record("the entry was not admitted")
            return
        }
        // The account and network with the most entries cannot add another one.
        guard case .full = fixture.add("a", account: 1, address: -3, network: 0) else {
            Issue.record("the entry was admitted")
            return
        }
        #expect(fixture.queue.count == Queue.total)
        #expect(fixture.next() == "a0")
        #expect(fixture.next() == "b")
    }

    @Test func fullQueueDropsTheLeastTrusted() {
        var fixture = Fixture()
        for number in 0..<Queue.total - 1 { _ = fixture.add("a\(number)", account: 1, address: number) }
        fixture.standings = [-1: .failed, -2: .failed, -3: .proven]
        _ = fixture.add("failed", account: 2, address: -1)
        guard case .full = fixture.add("failed too", account: 3, address: -2) else {
            Issue.record("the entry was admitted")
            return
        }
        guard case .displaced(let other) = fixture.add("proven", account: 1, address: -3) else {
            Issue.record("the entry was not admitted")
            return
        }
        #expect(other.waiter == "failed")
        #expect(fixture.next() == "proven")
    }

    @Test func removedEntryIsNotServed() {
        var fixture = Fixture()
        for account in 1...3 { _ = fixture.add("a\(account)", account: account, address: account) }
        #expect(fixture.queue.remove(ticket: 2)?.waiter == "a2")
        #expect(fixture.queue.remove(ticket: 2) == nil)
        #expect(fixture.queue.removeAll { $0.waiter == "a3" }.map(\.waiter) == ["a3"])
        #expect(fixture.all() == ["a1"])
        #expect(fixture.next() == nil)
    }
}
