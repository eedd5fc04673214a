import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Testing

/// Locks and uploads count toward the quota of the client that created them, even after a restart.
struct ChargeTests {
    private static func lock(_ number: Int, account: String? = nil, network: String? = nil) -> Lock {
        Lock(
            token: LockToken(uri: "urn:uuid:\(number)"), root: path("a"), depth: .zero, scope: .shared,
            owner: PropertyValue(element: Array(repeating: 0x61, count: 100)), principal: account,
            timeoutSeconds: 1, expiry: Timestamp(seconds: 100), rootHref: Array("/a".utf8), network: network)
    }

    private static func add(_ lock: Lock, to state: any ShareState) throws {
        try state.commit([.bind(path("a"), current: identity(1), pending: nil), .addLock(lock)])
    }

    private static func limits(
        perClient: (count: Int, bytes: Int) = (100, 100_000), total: (count: Int, bytes: Int) = (100, 100_000)
    ) -> QuotaLimits {
        QuotaLimits(
            countPerClient: perClient.count, bytesPerClient: perClient.bytes, count: total.count,
            bytes: total.bytes)
    }

    @Test(arguments: StateBackend.allCases)
    func locksAreChargedToTheirClient(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        var state = try IndexedShareState(store: store)
        try Self.add(Self.lock(1, account: "anna"), to: state)
        try Self.add(Self.lock(2, network: "192.0.2.1"), to: state)
        try Self.add(Self.lock(3, network: "192.0.2.1"), to: state)
        let bytes = Self.lock(1).chargedBytes
        // In the second pass, the state has been read from the store again.
        for _ in 0..<2 {
            let clients: [(String?, String?, Int)] = [("anna", nil, 1), (nil, "192.0.2.1", 2)]
            for (account, network, count) in clients {
                let next = Self.lock(9, account: account, network: network)
                #expect(state.admits(next, Self.limits(perClient: (count + 1, 100_000))))
                #expect(!state.admits(next, Self.limits(perClient: (count, 100_000))))
                #expect(state.admits(next, Self.limits(perClient: (100, (count + 1) * bytes))))
                #expect(!state.admits(next, Self.limits(perClient: (100, (count + 1) * bytes - 1))))
            }
            let other = Self.lock(9, network: "192.0.2.2")
            #expect(state.admits(other, Self.limits(perClient: (1, bytes), total: (4, 4 * bytes))))
            #expect(!state.admits(other, Self.limits(total: (3, 100_000))))
            #expect(!state.admits(other, Self.limits(total: (100, 4 * bytes - 1))))
            state = try IndexedShareState(store: store)
        }
        try state.commit([.removeLock(LockToken(uri: "urn:uuid:1"), root: path("a"))])
        #expect(state.admits(Self.lock(9, account: "anna"), Self.limits(perClient: (1, bytes))))
    }

    @Test(arguments: StateBackend.allCases)
    func uploadsAreChargedToTheirClient(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        var state = try IndexedShareState(store: store)
        var second = upload("b", to: "x")
        second.network = "2001:db8:0:1::/64"
        var third = upload("c", to: "x")
        third.network = "2001:db8:0:1::/64"
        try state.commit([
            .putUpload(upload("a", to: "x", principal: "anna")), .putUpload(second), .putUpload(third),
        ])
        // An upload is charged once, regardless of moves and progress.
        try state.commit([
            .putUpload(third), .moveRows(from: path("x"), to: path("y")),
            .setUploadProgress(id: "b", second.progress),
        ])
        let bytes = second.chargedBytes
        for _ in 0..<2 {
            func admits(_ client: ClientKey, _ limits: QuotaLimits) -> Bool {
                state.admitsUpload(of: bytes, for: client, limits) != nil
            }
            let network = ClientKey.network("2001:db8:0:1::/64")
            #expect(admits(network, Self.limits(perClient: (3, 3 * bytes), total: (4, 4 * bytes))))
            #expect(!admits(network, Self.limits(perClient: (2, 100_000))))
            #expect(!admits(network, Self.limits(perClient: (100, 3 * bytes - 1))))
            #expect(!admits(network, Self.limits(total: (3, 100_000))))
            #expect(!admits(network, Self.limits(total: (100, 4 * bytes - 1))))
            #expect(admits(.account("anna"), Self.limits(perClient: (2, 2 * bytes))))
            #expect(!admits(.account("anna"), Self.limits(perClient: (1, 100_000))))
            #expect(admits(.network("192.0.2.1"), Self.limits(perClient: (1, bytes))))
            state = try IndexedShareState(store: store)
        }
        try state.commit([.removeRows(under: path("y"))])
        #expect(
            state.admitsUpload(of: bytes, for: second.client, Self.limits(total: (1, bytes))) == [])
    }

    /// Only completed uploads are evicted, those that expire first before the others.
    @Test func completedUploadsAreEvictedFirst() throws {
        let state = try IndexedShareState(store: MemoryStateStore())
        for (number, principal) in [(1, "anna"), (2, "anna"), (3, "bert")] {
            var complete = upload("\(number)", to: "x", principal: principal)
            complete.progress.isComplete = true
            complete.progress.expiry = Timestamp(seconds: Int64(10 - number))
            try state.commit([.putUpload(complete)])
        }
        var part = upload("4", to: "x", principal: "anna", options: .isPart)
        part.progress.isComplete = true
        part.progress.expiry = Timestamp(seconds: 0)
        try state.commit([.putUpload(part)])
        let bytes = part.chargedBytes
        func forgotten(_ limits: QuotaLimits) -> [String]? {
            state.admitsUpload(of: bytes, for: .account("anna"), limits)
        }
        #expect(forgotten(Self.limits(perClient: (4, 100_000))) == [])
        #expect(forgotten(Self.limits(perClient: (3, 100_000))) == ["2", "1"])
        #expect(forgotten(Self.limits(total: (4, 100_000))) == ["3", "2", "1"])
        // A completed part is not evicted, because another upload uses it.
        #expect(forgotten(Self.limits(perClient: (1, 100_000))) == nil)
    }
}
