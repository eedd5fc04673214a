import DavitEngine
import DavitHTTP
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// Long work runs on separate threads, in slices, and is cancelled with its request.
struct LongWorkTests {
    /// Long enough for more than one slice, so that copying is long work.
    private static let largeBytes = 9 << 20

    /// Creates a share on a volume without reflinks, so that COPY copies the data.
    private func share(
        threads: Int = 0, _ change: (inout LongWorkLimits) -> Void = { _ in }
    ) throws -> (share: TestShare, pool: BlockingPool) {
        var limits = LongWorkLimits()
        limits.runningJobs = 1
        limits.sliceBytes = 1 << 20
        limits.slice = .seconds(100_000)
        change(&limits)
        let pool = BlockingPool(threads: threads, longWork: limits)
        return (try TestShare(TemporaryFolder(in: "/dev/shm"), pool: pool), pool)
    }

    private func makeLarge(_ share: TestShare, _ name: String) {
        #expect(share.shell("head -c \(Self.largeBytes) /dev/zero | tr '\\\\0' x > \(name)") == 0)
    }

    enum Long: String, CaseIterable {
        case copy, copyOfTree, delete, moveOverTree, moveAcrossVolumes, digest, patch

        var call: WatchedStore.Call {
            switch self {
            case .copy, .copyOfTree, .moveAcrossVolumes: .beginCopy
            case .delete, .moveOverTree: .destroy
            case .digest: .read
            case .patch: .stageUpdate
            }
        }

        func send(_ client: TestClient<WebDAVHandler>) async throws -> UInt16 {
            switch self {
            case .copy: try await client.send("COPY", "/large", [("Destination", "/copy")]).status
            case .copyOfTree: try await client.send("COPY", "/tree", [("Destination", "/copy")]).status
            case .delete: try await client.send("DELETE", "/tree").status
            case .moveOverTree:
                try await client.send("MOVE", "/folder", [("Destination", "/tree"), ("Overwrite", "T")])
                    .status
            case .moveAcrossVolumes:
                try await client.send("MOVE", "/large", [("Destination", "/moved")]).status
            case .digest: try await client.send("HEAD", "/large", [("Want-Repr-Digest", "adler=1")]).status
            case .patch:
                try await client.send("PUT", "/large", [("Content-Range", "bytes 0-4/*")], text: "hello")
                    .status
            }
        }
    }

    /// Only one thread does short work, and long work does not occupy it.
    @Test(arguments: Long.allCases)
    func shortRequestsAreServedDuringLongWork(_ long: Long) async throws {
        let (share, _) = try share(threads: 1)
        makeLarge(share, "large")
        #expect(share.shell("mkdir -p tree/a folder && touch tree/a/b tree/c") == 0)
        let (hasBegun, mayEnd) = (Opening(), Latch(count: 1))
        share.resources.watch { call in
            if long == .moveAcrossVolumes, call == .rename { return .crossVolume }
            if call == long.call {
                hasBegun.open()
                mayEnd.wait()
            }
            return nil
        }
        let request = Task { try await long.send(share.client) }
        await hasBegun.wait()
        let put = try await share.client.send("PUT", "/new", body: [UInt8](repeating: 7, count: 100_000))
        #expect(put.status == 201)
        let list = try await share.client.send("PROPFIND", "/", [("Depth", "1")])
        #expect(list.status == 207 && list.text.contains("/new"))
        mayEnd.countDown()
        #expect([200, 201, 204].contains(try await request.value))
    }

    @Test func largeCopyRunsInSlices() async throws {
        let (share, pool) = try share()
        makeLarge(share, "large")
        let hasBegun = Opening()
        let isDone = Flag()
        // Another client always has work to do.
        let other = Task {
            await pool.longWork.run(for: "other") {
                hasBegun.open()
                while !isDone.isSet { try? LongWork.checkpoint(bytes: 1 << 20) }
            }
        }
        await hasBegun.wait()
        let copy = try await share.client.send("COPY", "/large", [("Destination", "/copy")])
        isDone.set()
        #expect(await other.value != nil)
        #expect(copy.status == 201)
        #expect(share.shell("cmp large copy") == 0)
        // Nine slices of the copy, and as many of the other client.
        #expect(pool.longWork.turnCount >= 18)
    }

    @Test(arguments: ["large", "tree"])
    func cancelledCopyLeavesNothing(source: String) async throws {
        let (share, pool) = try share()
        makeLarge(share, "large")
        #expect(share.shell("mkdir -p tree/a && mv large tree/a/x && cp tree/a/x large") == 0)
        let hasBegun = Opening()
        let request = Box<Task<UInt16, any Error>>()
        let staged = Box<Int32>()
        let other = Task {
            await pool.longWork.run(for: "other") {
                hasBegun.open()
                // Wait until the copy has had its first slices.
                while pool.longWork.turnCount < 6 { try? LongWork.checkpoint(bytes: 1 << 20) }
                staged.value = share.shell("ls -A | grep -q '^.davit-'")
                while true {
                    if let task = request.value { return task.cancel() }
                }
            }
        }
        await hasBegun.wait()
        let task = Task {
            try await share.client.send("COPY", "/" + source, [("Destination", "/copy")]).status
        }
        request.value = task
        #expect(try await task.value == 503)
        #expect(await other.value != nil)
        #expect(staged.value == 0)
        #expect(share.shell("test \"$(ls -A | tr '\\n' ' ')\" = 'large tree '") == 0)
    }

    @Test func cancelledMoveAcrossVolumesKeepsTheSource() async throws {
        let (share, pool) = try share()
        makeLarge(share, "large")
        share.resources.watch { $0 == .rename ? .crossVolume : nil }
        let hasBegun = Opening()
        let request = Box<Task<UInt16, any Error>>()
        let other = Task {
            await pool.longWork.run(for: "other") {
                hasBegun.open()
                while pool.longWork.turnCount < 6 { try? LongWork.checkpoint(bytes: 1 << 20) }
                while true {
                    if let task = request.value { return task.cancel() }
                }
            }
        }
        await hasBegun.wait()
        let task = Task { try await share.client.send("MOVE", "/large", [("Destination", "/moved")]).status }
        request.value = task
        #expect(try await task.value == 503)
        #expect(await other.value != nil)
        #expect(share.shell("test \"$(ls -A)\" = large") == 0)
        // No path locks are held any more.
        #expect(try await share.client.send("PUT", "/moved", text: "x").status == 201)
    }

    /// Long work is charged to the account or, without accounts, to the network, as everything else is.
    @Test func longWorkIsChargedToAccountsAndNetworks() async throws {
        let (share, _) = try share()
        makeLarge(share, "large")
        for (index, address) in ["2001:db8::1", "2001:db8::2", "192.0.2.1"].enumerated() {
            let client = TestClient(Addressed(handler: share.client.application, address: address))
            let fields = [("Destination", "/copy\(index)")]
            #expect(try await client.send("COPY", "/large", fields).status == 201)
            #expect(try await client.send("COPY", "/large", fields, principal: "anna").status == 204)
        }
        #expect(
            share.longWorkClients == [
                "2001:db8:0:0::/64", "account anna", "2001:db8:0:0::/64", "account anna", "192.0.2.1",
                "account anna",
            ])
    }

    @Test func excessiveLongWorkIsRefused() async throws {
        let (share, _) = try share { $0.waitingJobsPerClient = 0 }
        makeLarge(share, "large")
        let copy = try await share.client.send("COPY", "/large", [("Destination", "/copy")])
        #expect(copy.status == 503 && copy["Retry-After"] == "1")
        // A digest is optional, so the response is sent without it.
        let head = try await share.client.send("HEAD", "/large", [("Want-Repr-Digest", "adler=1")])
        #expect(head.status == 200 && head["Repr-Digest"] == nil)
        // Deletions are never refused for this reason.
        #expect(share.shell("mkdir -p tree/a") == 0)
        #expect(try await share.client.send("DELETE", "/tree").status == 204)
        #expect(share.shell("test \"$(ls -A)\" = large") == 0)
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

private final class Box<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
