import DavitEngine
import DavitHTTP
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// Requested digests that are not stored are computed once for all concurrent requests, and cached.
struct SharedDigestTests {
    private static let wish = [("Want-Repr-Digest", "adler=1")]

    private func share(_ configure: (inout ShareConfiguration) -> Void = { _ in }) throws -> (
        share: TestShare, reads: Counter
    ) {
        let share = try TestShare { configure(&$0) }
        #expect(share.shell("head -c 1048576 /dev/zero > a; printf hello > b; cp a c") == 0)
        let reads = Counter()
        share.resources.watch { call in
            if call == .read { reads.increment() }
            return nil
        }
        return (share, reads)
    }

    private func digest(_ share: TestShare, _ target: String = "/a") async throws -> String? {
        try await share.client.send("HEAD", target, Self.wish)["Repr-Digest"]
    }

    @Test(arguments: [false, true])
    func concurrentRequestsShareOneComputation(isReadOnly: Bool) async throws {
        let (share, reads) = try share { $0.isReadOnly = isReadOnly }
        let digests = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<200 { group.addTask { try await digest(share) } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        // One read for each 256 KiB of the content.
        #expect(reads.count == 4)
        #expect(digests.count == 1 && digests.first??.hasPrefix("adler=:") == true)
        #expect(try await digest(share) == digests.first)
        #expect(reads.count == 4)
    }

    @Test func digestsAreNotSharedBetweenVersionsOrFiles() async throws {
        let (share, reads) = try share()
        let first = try await digest(share, "/b")
        #expect(share.shell("printf hallo > b; touch -d '2001-01-01' b") == 0)
        let second = try await digest(share, "/b")
        #expect(first != nil && second != nil && first != second)
        #expect(reads.count == 2)
        // The digest of another file is computed separately, even if its bytes are the same.
        #expect(try await digest(share, "/a") == digest(share, "/c"))
        #expect(reads.count == 10)
    }

    /// 1,024 digests are cached. One more evicts the 512 least recently used ones.
    @Test func cachedDigestsAreLimited() async throws {
        let (share, reads) = try share()
        #expect(share.shell("for n in $(seq 0 1024); do echo $n > d$n; done; touch -d 2001-01-01 d*") == 0)
        for number in 0..<1_024 { _ = try await digest(share, "/d\(number)") }
        #expect(reads.count == 1_024)
        for number in 0..<1_024 { _ = try await digest(share, "/d\(number)") }
        #expect(reads.count == 1_024)
        _ = try await digest(share, "/d1024")
        for number in 512...1_024 { _ = try await digest(share, "/d\(number)") }
        #expect(reads.count == 1_025)
        _ = try await digest(share, "/d511")
        #expect(reads.count == 1_026)
    }

    /// Another program writes to the file while it is read, so the digest would not match the entity tag of
    /// the response.
    @Test func contentChangedDuringTheComputationHasNoDigest() async throws {
        let (share, reads) = try share()
        share.resources.watch { call in
            if call == .read, reads.incremented() == 2 {
                #expect(share.shell("printf x | dd of=a conv=notrunc; touch -d '2001-01-01' a") == 0)
            }
            return nil
        }
        #expect(try await digest(share) == nil)
        #expect(try await digest(share)?.hasPrefix("adler=:") == true)
        #expect(reads.count == 8)
    }

    /// Content that was just written could change again with the same modification time.
    @Test func digestOfRecentlyWrittenContentIsNotCached() async throws {
        let (share, reads) = try share()
        #expect(share.shell("touch -d '2027-01-15 08:00:00 UTC' b") == 0)
        let first = try await digest(share, "/b")
        #expect(try await digest(share, "/b") == first && first != nil)
        #expect(reads.count == 2)
        share.wait(seconds: 3)
        _ = try await digest(share, "/b")
        #expect(try await digest(share, "/b") == first)
        #expect(reads.count == 3)
    }

    @Test func computationOutlivesItsFirstRequest() async throws {
        let share = try TestShare()
        #expect(share.shell("head -c 9437184 /dev/zero > a") == 0)
        let hasBegun = Opening()
        let mayGoOn = Latch(count: 1)
        share.resources.watch { call in
            if call == .read {
                hasBegun.open()
                mayGoOn.wait()
            }
            return nil
        }
        let first = Task { try await share.client.send("HEAD", "/a", Self.wish).status }
        await hasBegun.wait()
        let second = Task { try await digest(share) }
        first.cancel()
        mayGoOn.countDown()
        #expect(try await first.value == 503)
        #expect(try await second.value?.hasPrefix("adler=:") == true)
    }
}

private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func increment() { value.add(1, ordering: .relaxed) }

    /// Returns the value after the increment.
    func incremented() -> Int { value.add(1, ordering: .relaxed).newValue }
}
