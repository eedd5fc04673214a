import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Bans of addresses, with a clock and a store of the test.
struct BanListTests {
    /// A store that can fail, and a clock.
    final class Fixture: BanStore {
        struct State {
            var stored: [String: Ban] = [:]
            var fails = false
            var now: Int64 = 1_000_000
            var reports: [BanList.Report] = []
            var background: [@Sendable () -> Void] = []
            var commits = 0
        }

        let state = Mutex(State())

        func bans() throws(BanStoreError) -> [Ban] {
            if state.withLock({ $0.fails }) { throw BanStoreError(reason: "broken") }
            return Array(state.withLock { $0.stored }.values)
        }

        func commit(_ bans: [Ban], removing networks: [String]) throws(BanStoreError) {
            let fails = state.withLock { state in
                state.commits += 1
                if state.fails { return true }
                for ban in bans { state.stored[ban.network] = ban }
                for network in networks { state.stored[network] = nil }
                return false
            }
            if fails { throw BanStoreError(reason: "broken") }
        }

        /// - Parameter failures: the number of failed logins that bans an address.
        func list(failures: Int? = 3, exempt: [String] = [], limit: Int = BanList.limit) -> BanList {
            BanList(
                BanList.Policy(failures: failures, firstSeconds: 600),
                exempt: exempt.compactMap { IPNetwork($0) }, store: self, limit: limit,
                background: { work in
                    self.state.withLock { $0.background.append(work) }
                    return true
                }, report: { report in self.state.withLock { $0.reports.append(report) } },
                now: { self.state.withLock { $0.now } })
        }

        func pass(_ seconds: Int64) { state.withLock { $0.now += seconds } }

        func runBackground() {
            for work in state.withLock({ state in
                defer { state.background = [] }
                return state.background
            }) {
                work()
            }
        }

        var storedNetworks: [String] { state.withLock { $0.stored.keys.sorted() } }
    }

    private func fail(_ list: BanList, _ peer: String, times: Int = 3) {
        for _ in 0..<times { list.recordFailure(of: peer) }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
        ("2001:db8:0:1::7", "2001:db8:0:1:ffff::8", "2001:db8:0:2::7"),
        // A mapped address is the IPv4 address.
        ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"),
    ])
    func tooManyFailuresBanTheNetwork(peer: String, banned: String, other: String) {
        let list = Fixture().list()
        fail(list, peer, times: 2)
        #expect(!list.isBanned(peer: peer))
        fail(list, peer, times: 1)
        #expect(list.isBanned(peer: peer) && list.isBanned(peer: banned))
        #expect(list.isBanned(IPAddress(banned)))
        #expect(!list.isBanned(peer: other))
        #expect(!list.isBanned(peer: "unix:") && !list.isBanned(nil))
    }

    @Test(arguments: [
        "127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "unix:", "", "10.1.2.3", "198.51.100.7",
        "2001:db8:5::1", "2001:db8:0:9::ffff",
    ])
    func exemptAddressesAreNeverBanned(peer: String) {
        let exempt = ["10.0.0.0/8", "198.51.100.7", "2001:db8:5::/48", "2001:db8:0:9::1"]
        let fixture = Fixture()
        let list = fixture.list(exempt: exempt)
        fail(list, peer, times: 10)
        #expect(!list.isBanned(peer: peer))
        #expect(list.active == [])
        #expect(throws: (any Error).self) { try list.ban(peer, seconds: 60) }
        // A ban that was stored before the address became exempt has no effect.
        let network = PeerNetwork.text(of: peer)
        fixture.state.withLock {
            $0.stored = [
                network: Ban(network: network, count: 1, since: 0, until: .max / 2, reason: .command)
            ]
        }
        #expect(!fixture.list(exempt: exempt).isBanned(peer: peer))
    }

    @Test func failuresCountOnlyWithinTheWindow() {
        let fixture = Fixture()
        let list = fixture.list()
        fail(list, "192.0.2.1", times: 2)
        fixture.pass(BanList.windowSeconds)
        fail(list, "192.0.2.1", times: 2)
        #expect(!list.isBanned(peer: "192.0.2.1"))
        fixture.pass(BanList.windowSeconds - 1)
        fail(list, "192.0.2.1", times: 1)
        #expect(list.isBanned(peer: "192.0.2.1"))
    }

    @Test func nothingIsBannedWithoutALimit() {
        let list = Fixture().list(failures: nil)
        fail(list, "192.0.2.1", times: 1000)
        #expect(!list.isBanned(peer: "192.0.2.1"))
    }

    static let durations: [(count: Int, seconds: Int64)] = [
        (1, 600), (2, 2400), (3, 9600), (5, 153_600), (6, 604_800), (7, 604_800), (.max, 604_800),
    ]

    @Test(arguments: durations)
    func eachBanIsFourTimesAsLong(count: Int, seconds: Int64) {
        #expect(BanList.Policy(failures: 1, firstSeconds: 600).seconds(ofBan: count) == seconds)
    }

    @Test func bansEndAndAreRememberedFor30Days() {
        let fixture = Fixture()
        let list = fixture.list()
        fail(list, "192.0.2.1")
        fixture.pass(599)
        #expect(list.isBanned(peer: "192.0.2.1"))
        fixture.pass(1)
        #expect(!list.isBanned(peer: "192.0.2.1"))
        #expect(list.load.active == 0 && list.load.total == 1)

        fixture.pass(BanList.memorySeconds - 1)
        list.performMaintenance()
        fail(list, "192.0.2.1")
        #expect(list.active.map(\.count) == [2])
        fixture.pass(2400 + BanList.memorySeconds)
        list.performMaintenance()
        #expect(fixture.storedNetworks == [])
        fail(list, "192.0.2.1")
        #expect(list.active.map(\.count) == [1])
    }

    @Test func bansSurviveARestart() {
        let fixture = Fixture()
        let list = fixture.list()
        fail(list, "192.0.2.1")
        // Nothing is written on the thread of the request.
        #expect(fixture.storedNetworks == [])
        fixture.runBackground()
        #expect(fixture.storedNetworks == ["192.0.2.1"])
        list.performMaintenance()
        #expect(fixture.state.withLock { $0.commits } == 1)

        let restarted = fixture.list()
        #expect(restarted.isBanned(peer: "192.0.2.1"))
        #expect(restarted.active == list.active)
        fixture.pass(600)
        #expect(!restarted.isBanned(peer: "192.0.2.1"))
    }

    @Test func failedWritesAreRepeated() throws {
        let fixture = Fixture()
        let list = fixture.list()
        fixture.state.withLock { $0.fails = true }
        fail(list, "192.0.2.1")
        fixture.runBackground()
        #expect(list.isBanned(peer: "192.0.2.1"))
        #expect(fixture.state.withLock { $0.reports.last } == .failed(reason: "broken"))
        fixture.state.withLock { $0.fails = false }
        list.performMaintenance()
        #expect(fixture.storedNetworks == ["192.0.2.1"])
    }

    /// A list whose store cannot be read still bans addresses.
    @Test func unreadableStoreIsReported() {
        let fixture = Fixture()
        fixture.state.withLock { $0.fails = true }
        let list = fixture.list()
        #expect(fixture.state.withLock { $0.reports } == [.failed(reason: "broken")])
        fail(list, "192.0.2.1")
        #expect(list.isBanned(peer: "192.0.2.1"))
    }

    @Test func numberOfBansIsLimited() throws {
        let fixture = Fixture()
        let list = fixture.list(limit: 2)
        _ = try list.ban("192.0.2.1", seconds: 300)
        _ = try list.ban("192.0.2.2", seconds: 100)
        #expect(list.load.active == 2)
        list.save()
        _ = try list.ban("192.0.2.3", seconds: 200)
        // The one that ends first was removed.
        #expect(list.active.map(\.network) == ["192.0.2.3", "192.0.2.1"])
        list.save()
        #expect(fixture.storedNetworks == ["192.0.2.1", "192.0.2.3"])
    }

    @Test func countedAddressesAreLimited() {
        let list = Fixture().list()
        fail(list, "192.0.2.1", times: 2)
        for number in 0...BanList.failureLimit {
            list.recordFailure(of: "10.1.\(number >> 8).\(number & 255)")
        }
        // The failures of the oldest address are forgotten.
        fail(list, "192.0.2.1", times: 1)
        #expect(!list.isBanned(peer: "192.0.2.1"))
    }

    @Test func commandsBanAndLift() throws {
        let fixture = Fixture()
        let list = fixture.list()
        let ban = try list.ban("2001:db8::7", seconds: 60)
        #expect(ban.network == "2001:db8:0:0::/64" && ban.until - ban.since == 60 && ban.reason == .command)
        #expect(list.isBanned(peer: "2001:db8::8"))
        // The form in which bans are listed is accepted.
        #expect(try list.lift(ban.network) == ban)
        #expect(!list.isBanned(peer: "2001:db8::8"))
        #expect(throws: BanList.Problem.notBanned) { try list.lift("2001:db8::7") }
        // After a ban was lifted, the next one is the first.
        fail(list, "2001:db8::7")
        #expect(list.active.map(\.count) == [1])
        for text in ["", "a", "192.0.2.0/24", "192.0.2.1/64", "2001:db8::/63", "192.0.2"] {
            #expect(throws: BanList.Problem.notAnAddress) { try list.ban(text, seconds: 60) }
        }
    }

    @Test func bansAreReported() throws {
        let fixture = Fixture()
        let list = fixture.list()
        let calls = Mutex(0)
        list.onBan { calls.withLock { $0 += 1 } }
        fail(list, "192.0.2.1")
        let ban = try #require(list.active.first)
        _ = try list.lift("192.0.2.1")
        #expect(
            fixture.state.withLock { $0.reports }
                == [.banned(ban, seconds: 600), .lifted(network: "192.0.2.1")])
        #expect(calls.withLock { $0 } == 1)
    }
}

/// Failed logins are reported to whatever counts them.
struct FailedLoginReportTests {
    @Test func failedLoginsAreReported() throws {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "secret")
        let failures = Mutex<[String]>([])
        let authentication = try Authentication(
            accounts: accounts, work: InlineWork(),
            didFail: { address in failures.withLock { $0.append(address) } }, now: { 1_000_000_000 })
        func send(_ password: String?) throws {
            let request = try makeRequest("GET / HTTP/1.1", "Host: a")
            let lines =
                password.map { ["Authorization: Basic \(Base64.encode(Array("anna:\($0)".utf8)))"] } ?? []
            let head = (["GET / HTTP/1.1", "Host: a"] + lines + ["", ""]).joined(separator: "\r\n")
            let sent = password == nil ? request : try HTTPRequest(parsing: Array(head.utf8))
            sent.peerAddress = "192.0.2.1"
            _ = try Greeter().applying(authentication).respond(to: sent)
        }
        // Neither requests without credentials nor correct ones count.
        try send(nil)
        try send("secret")
        #expect(failures.withLock { $0 } == [])
        try send("wrong")
        #expect(failures.withLock { $0 } == ["192.0.2.1"])
    }
}
