import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Trash entries are evicted to store the bytes that are received, not those that are announced, and only as
/// many entries as needed. Requires permission to mount.
///
/// Each test runs in a process of its own: a program that another test starts has copies of all descriptors until it
/// is executed, and a removed file occupies space until its last descriptor is closed.
@Suite(.serialized)
struct TrashEvictionByBytesTests {
    enum Way: String, CaseIterable, Codable { case put, expectedEntityLength, draft, tus, tusWithContent }

    static let complete: [(mebibytes: Int, left: Int)] = [(4, 4), (5, 3), (7, 3), (8, 2), (12, 1), (16, 0)]

    @Test(arguments: Way.allCases)
    func announcedLengthEvictsNothing(_ way: Way) async {
        await #expect(processExitsWith: .success) { [way] in
            try await TrashEviction().announcedLengthEvictsNothing(way)
        }
    }

    /// 12 MiB are announced, and 4 MiB are free. If 3 MiB are received, nothing is evicted; if 6 MiB are
    /// received, the oldest entry is.
    @Test(arguments: Way.allCases)
    func abortedContentEvictsOnlyWhatItNeeded(_ way: Way) async {
        await #expect(processExitsWith: .success) { [way] in
            try await TrashEviction().abortedContentEvictsOnlyWhatItNeeded(way)
        }
    }

    @Test(arguments: complete, [true, false])
    func contentEvictsOnlyTheOldestEntriesNeeded(
        _ row: (mebibytes: Int, left: Int), isUpload: Bool
    ) async {
        await #expect(processExitsWith: .success) {
            [mebibytes = row.mebibytes as Int, left = row.left as Int, isUpload] in
            try await TrashEviction().contentEvictsOnlyTheOldestEntriesNeeded(
                mebibytes, left: left, isUpload: isUpload)
        }
    }

    /// Content that can never fit is refused before it is read, however large the trash is.
    @Test(arguments: [nil, 5 << 20 as Int64])
    func contentThatCannotFitIsRefusedUnread(keepsFree: Int64?) async {
        await #expect(processExitsWith: .success) { [keepsFree] in
            try await TrashEviction().contentThatCannotFitIsRefusedUnread(keepsFree)
        }
    }

    /// Evicting entries also restores the reserved free space.
    @Test func reservedSpaceIsRestoredByEviction() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().reservedSpaceIsRestoredByEviction()
        }
    }

    /// Other files fill the volume: even removing the whole trash would not restore the reserved space.
    @Test func trashIsKeptIfReservedSpaceCannotBeRestored() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().trashIsKeptIfReservedSpaceCannotBeRestored()
        }
    }

    /// Content received in a single buffer needs space, too.
    @Test func smallContentEvictsTheOldestEntry() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().smallContentEvictsTheOldestEntry()
        }
    }

    /// Entries without content free no space, and are kept.
    @Test func entriesThatFreeNothingAreKept() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().entriesThatFreeNothingAreKept()
        }
    }

    /// A copy needs space only for what is copied: no members for Depth 0, and no unfinished uploads.
    @Test func copyEvictsOnlyWhatItNeeds() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().copyEvictsOnlyWhatItNeeds()
        }
    }

    /// The parts of an upload exist already; their concatenation is a copy.
    @Test func concatenationEvictsOnlyWhatItNeeds() async {
        await #expect(processExitsWith: .success) {
            try await TrashEviction().concatenationEvictsOnlyWhatItNeeds()
        }
    }
}

/// The bodies of the tests.
private struct TrashEviction {
    private static let mebi = 1 << 20
    /// The entries of the initial trash.
    private static let all = (1...4).map { "deleted /v/\($0) \(3 * mebi)" }

    /// Creates a share with a volume `v` that has space for four files of 3 MiB and `freeMebibytes` more.
    /// - Returns: nil if mounting is not permitted.
    private func share(keepsFree: Int64? = nil, freeMebibytes: Int = 4) throws -> Mounted? {
        let folder = try TemporaryFolder()
        let elsewhere = try TestShare.keeping(folder)
        let size = 12 + freeMebibytes
        guard elsewhere.shell("mkdir v && mount -t tmpfs -o size=\(size)m tmpfs v") == 0 else { return nil }
        return try Mounted(
            TestShare(folder, keepsFree: keepsFree) { $0.trash = TrashLimits() }, unmount: elsewhere)
    }

    private final class Mounted {
        let share: TestShare
        private let elsewhere: TestShare

        init(_ share: TestShare, unmount elsewhere: TestShare) {
            (self.share, self.elsewhere) = (share, elsewhere)
        }

        deinit { #expect(elsewhere.shell("umount -l v") == 0) }
    }

    private func fill(_ share: TestShare) async throws {
        for number in 1...4 {
            #expect(share.shell("head -c \(3 * Self.mebi) /dev/zero >v/\(number)") == 0)
            #expect(try await share.client.send("DELETE", "/v/\(number)").status == 204)
        }
        try expectTrash(Self.all, of: share)
    }

    private func expectTrash(
        _ entries: [String], of share: TestShare, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try share.trash()
        #expect(found == entries, sourceLocation: sourceLocation)
    }

    /// Returns content that ends prematurely, as if the connection were aborted.
    private func broken(_ arrived: Int, of declared: Int?) -> GatedBody {
        GatedBody(bytes(arrived), then: nil, declared: declared.map { Int64($0) })
    }

    /// Announces content of which only a part is received.
    private func announce(
        _ length: Int, _ way: TrashEvictionByBytesTests.Way, _ arrived: Int, _ client: TestShare
    ) async throws {
        switch way {
        case .put: await client.sendBroken("PUT", "/v/new", [], broken(arrived, of: length))
        case .expectedEntityLength:
            let fields = [("X-Expected-Entity-Length", "\(length)")]
            await client.sendBroken("PUT", "/v/new", fields, broken(arrived, of: nil))
        case .draft:
            let fields = [("Upload-Complete", "?1"), ("Upload-Length", "\(length)")]
            await client.sendBroken("PUT", "/v/new", fields, broken(arrived, of: length))
        case .tus:
            let fields = [TestShare.tus, TusUploadTests.metadata([("filename", "new")])]
            let made = try await client.createTus(fields + [("Upload-Length", "\(length)")])
            let append = [TestShare.tus, TestShare.offsetType, ("Upload-Offset", "0")]
            await client.sendBroken("PATCH", made, append, broken(arrived, of: length))
        case .tusWithContent:
            let fields = [
                TestShare.tus, TestShare.offsetType, TusUploadTests.metadata([("filename", "new")]),
                ("Upload-Length", "\(length)"),
            ]
            await client.sendBroken("POST", "/v/", fields, broken(arrived, of: length))
        }
    }

    func announcedLengthEvictsNothing(_ way: TrashEvictionByBytesTests.Way) async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        try await fill(share)
        try await announce(12_000_000, way, 0, share)
        try expectTrash(Self.all, of: share)
    }

    func abortedContentEvictsOnlyWhatItNeeded(_ way: TrashEvictionByBytesTests.Way) async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        try await fill(share)
        try await announce(12 * Self.mebi, way, 3 * Self.mebi, share)
        try expectTrash(Self.all, of: share)
        // Remove the bytes that an interrupted upload keeps, because they occupy space.
        #expect(share.shell("find v -maxdepth 1 -type f -name '.davit-*' -delete") == 0)
        try await announce(12 * Self.mebi, way, 6 * Self.mebi, share)
        try expectTrash(Array(Self.all.dropFirst()), of: share)
    }

    func contentEvictsOnlyTheOldestEntriesNeeded(_ mebibytes: Int, left: Int, isUpload: Bool) async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        try await fill(share)
        // Leave 64 KiB for the metadata of the tmpfs, which need one page of at most 64 KiB.
        let count = mebibytes * Self.mebi - 65_536
        if isUpload {
            let upload = try await share.createUpload("/v/new", [("Upload-Length", "\(count)")])
            try expectTrash(Self.all, of: share)
            for offset in stride(from: 0, to: count, by: 5 * Self.mebi) {
                let end = min(count, offset + 5 * Self.mebi)
                let fields = [
                    TestShare.partial, ("Upload-Offset", "\(offset)"),
                    ("Upload-Complete", end == count ? "?1" : "?0"),
                ]
                let appended = try await share.client.send(
                    "PATCH", upload, fields, body: bytes(end - offset))
                #expect(appended.status == (end == count ? 201 : 204), "\(appended.text)")
            }
        } else {
            #expect(try await share.client.send("PUT", "/v/new", body: bytes(count)).status == 201)
        }
        #expect(try await share.client.send("GET", "/v/new").body == bytes(count))
        try expectTrash(Array(Self.all.suffix(left)), of: share)
    }

    func contentThatCannotFitIsRefusedUnread(_ keepsFree: Int64?) async throws {
        guard let mounted = try share(keepsFree: keepsFree) else { return }
        let share = mounted.share
        try await fill(share)
        let count = 16 * Self.mebi - Int(keepsFree ?? 0) + 1
        let body = SentBody(bytes(count))
        let refused = try await share.client.send("PUT", "/v/new", body: body)
        #expect(refused.status == 507 && body.readCount == 0)
        #expect(refused.text.contains("sufficient-disk-space"))
        for fields in [
            [("Upload-Complete", "?0"), ("Upload-Length", "\(count)")],
            [("Upload-Complete", "?0"), ("Upload-Length", "999999999999999")],
        ] {
            let response = try await share.client.send("PUT", "/v/new", fields, body: [])
            #expect(response.status == 507, "\(response.text)")
        }
        try expectTrash(Self.all, of: share)
    }

    func reservedSpaceIsRestoredByEviction() async throws {
        guard let mounted = try share(keepsFree: 2 * Int64(Self.mebi)) else { return }
        let share = mounted.share
        try await fill(share)
        #expect(try await share.client.send("PUT", "/v/a", body: bytes(2 * Self.mebi - 65_536)).status == 201)
        try expectTrash(Self.all, of: share)
        #expect(try await share.client.send("PUT", "/v/b", body: bytes(Self.mebi)).status == 201)
        try expectTrash(Array(Self.all.dropFirst()), of: share)
    }

    func trashIsKeptIfReservedSpaceCannotBeRestored() async throws {
        guard let mounted = try share(keepsFree: 15 * Int64(Self.mebi)) else { return }
        let share = mounted.share
        try await fill(share)
        #expect(share.shell("head -c \(4 * Self.mebi - 65536) /dev/zero >v/other") == 0)
        for count in [1, 100_000, 2 * Self.mebi] {
            #expect(try await share.client.send("PUT", "/v/new", body: bytes(count)).status == 507)
            let chunked = GatedBody(bytes(count), then: [], declared: nil)
            #expect(try await share.client.send("PUT", "/v/new", body: chunked).status == 507)
        }
        try expectTrash(Self.all, of: share)
    }

    func smallContentEvictsTheOldestEntry() async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        try await fill(share)
        _ = share.shell("cat /dev/zero >v/other")
        #expect(try await share.client.send("PUT", "/v/new", body: bytes(30_000)).status == 201)
        try expectTrash(Array(Self.all.dropFirst()), of: share)
        _ = share.shell("cat /dev/zero >>v/other")
        let chunked = GatedBody(bytes(100_000), then: [], declared: nil)
        #expect(try await share.client.send("PUT", "/v/chunked", body: chunked).status == 201)
        try expectTrash(Array(Self.all.dropFirst(2)), of: share)
    }

    func entriesThatFreeNothingAreKept() async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        #expect(try await share.client.send("PUT", "/v/empty", body: []).status == 201)
        #expect(try await share.client.send("DELETE", "/v/empty").status == 204)
        for number in 1...4 {
            #expect(share.shell("head -c \(3 * Self.mebi) /dev/zero >v/\(number)") == 0)
            #expect(try await share.client.send("DELETE", "/v/\(number)").status == 204)
        }
        #expect(try await share.client.send("PUT", "/v/new", body: bytes(5 * Self.mebi)).status == 201)
        try expectTrash(["deleted /v/empty 0"] + Self.all.dropFirst(), of: share)
    }

    func copyEvictsOnlyWhatItNeeds() async throws {
        guard let mounted = try share() else { return }
        let share = mounted.share
        try await fill(share)
        #expect(share.shell("mkdir source; head -c \(5 * Self.mebi) /dev/zero >source/f") == 0)
        let upload = try await share.createUpload("/source/waits")
        #expect(
            try await share.client.send(
                "PATCH", upload,
                [TestShare.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?0")],
                body: bytes(6 * Self.mebi)
            ).status == 204)
        func copy(_ fields: [(String, String)], to name: String) async throws {
            let copied = try await share.client.send(
                "COPY", "/source", [("Destination", "/v/\(name)")] + fields)
            #expect(copied.status == 201, "\(copied.text)")
        }
        try await copy([("Depth", "0")], to: "flat")
        try expectTrash(Self.all, of: share)
        try await copy([], to: "copy")
        try expectTrash(Array(Self.all.dropFirst()), of: share)
    }

    func concatenationEvictsOnlyWhatItNeeds() async throws {
        guard let mounted = try share(freeMebibytes: 7) else { return }
        let share = mounted.share
        try await fill(share)
        var parts: [String] = []
        for _ in 0..<2 {
            let part = try await share.client.send(
                "POST", "/v/",
                [
                    TestShare.tus, TestShare.offsetType, ("Upload-Length", "\(3 * Self.mebi)"),
                    ("Upload-Concat", "partial"),
                ], body: bytes(3 * Self.mebi))
            #expect(part.status == 201)
            parts.append(try #require(part["Location"]))
        }
        try expectTrash(Self.all, of: share)
        let final = try await share.client.send(
            "POST", "/v/",
            [
                TestShare.tus, ("Upload-Concat", "final;" + parts.joined(separator: " ")),
                TusUploadTests.metadata([("filename", "new")]),
            ])
        #expect(final.status == 201, "\(final.text)")
        #expect(try await share.client.send("GET", "/v/new").body == bytes(6 * Self.mebi))
        // 1 MiB was free, and 6 were needed.
        try expectTrash(Array(Self.all.dropFirst(2)), of: share)
    }
}

extension TestShare {
    /// Sends a request whose content is aborted; ignores the response.
    fileprivate func sendBroken(
        _ method: String, _ target: String, _ fields: [(String, String)], _ body: GatedBody
    ) async { _ = try? await client.send(method, target, fields, body: body) }

    /// Creates a tus upload without content in `/v/`, and returns its URL.
    fileprivate func createTus(_ fields: [(String, String)]) async throws -> String {
        let created = try await client.send("POST", "/v/", fields)
        #expect(created.status == 201, "\(created.text)")
        return try #require(created["Location"])
    }
}
