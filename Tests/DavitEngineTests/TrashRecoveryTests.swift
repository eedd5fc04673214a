import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Recovery of the trash at startup, after a crash or changes by other programs: `k` is the file of an entry,
/// `n` was to replace it, `x` is unrelated.
struct TrashRecoveryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The files at startup, by path: `t` is the place of the entry, `u` another place in the trash.
        var before: [String: String]
        var intent: RenameIntent?
        var after: [String: String]
        /// Whether the entry still exists.
        var isKept: Bool
        /// Whether an entry is created for the unknown file.
        var isAdopted = false
        var hasEntry = true
    }

    static let trash = ".davit-trashofthisshare"
    static let places = [
        "t": "\(trash)/aaaaaaaaaaaaaaaa", "u": "\(trash)/bbbbbbbbbbbbbbbb", "a": "a", "b": "b",
    ]

    static let rows = [
        Row(
            testDescription: "a completed deletion is kept", before: ["t": "k"], after: ["t": "k"],
            isKept: true),
        Row(
            testDescription: "a failed deletion has no entry", before: ["a": "k"], after: ["a": "k"],
            isKept: false),
        Row(
            testDescription: "new content that was never published is removed", before: ["a": "k", "t": "n"],
            after: ["a": "k"], isKept: false),
        Row(
            testDescription: "overwritten content is kept", before: ["a": "n", "t": "k"],
            after: ["a": "n", "t": "k"], isKept: true),
        Row(
            testDescription: "the entry of a missing file is dropped", before: ["b": "x"], after: ["b": "x"],
            isKept: false),
        Row(
            testDescription: "an unknown file gets an entry", before: ["u": "x"], after: ["u": "x"],
            isKept: false, isAdopted: true, hasEntry: false),
        Row(
            testDescription: "an interrupted move over the file is completed", before: ["a": "n", "b": "k"],
            intent: .init(
                id: 1, source: path("b"), destination: path("a"), moved: .init(inode: 0, birth: 0),
                replaced: .init(inode: 0, birth: 0), isCopy: false, kept: path(places["t"] ?? "")),
            after: ["a": "n", "t": "k"], isKept: true),
        Row(
            testDescription: "a copy over the file that did not happen is dropped",
            before: ["a": "k", "t": "n"],
            intent: .init(
                id: 1, source: path(".davit-cccccccccccccccc"), destination: path("a"),
                moved: .init(inode: 0, birth: 0), replaced: .init(inode: 0, birth: 0), isCopy: true,
                kept: path(places["t"] ?? "")),
            after: ["a": "k"], isKept: false),
        Row(
            testDescription: "a copy that has already taken the name of the file is completed",
            before: ["t": "n"],
            intent: .init(
                id: 1, source: path(".davit-cccccccccccccccc"), destination: path("a"),
                moved: .init(inode: 0, birth: 0), replaced: .init(inode: 0, birth: 0), isCopy: true,
                kept: path(places["t"] ?? "")),
            after: ["a": "n"], isKept: false),
    ]

    @Test(arguments: rows)
    func recoveryAtStartupMatchesTheTable(_ row: Row) throws {
        let folder = try TemporaryFolder()
        let resources = try FileResourceStore(root: folder.path)
        let probe = try #require(
            try resources.trashLocation(
                "x", for: ResourceLocation(Self.path("a")), volume: Self.volume(of: resources)))
        #expect(probe.location.path == Self.path("\(Self.trash)/x"))
        var identities: [String: ResourceIdentity] = [:]
        for (number, name) in ["k", "n", "x"].enumerated() {
            identities[name] = ResourceIdentity(inode: UInt64(number), birth: -1)
        }
        for (location, file) in row.before {
            identities[file] = try Self.makeFile(at: Self.places[location] ?? "", in: resources)
        }
        let state = try IndexedShareState(store: MemoryStateStore())
        let kept = try #require(identities["k"])
        let entry = TrashEntry(
            number: 1, id: "aaaaaaaaaaaaaaaa", path: Self.path("a"),
            location: Self.path(Self.places["t"] ?? ""),
            identity: kept, deleted: Timestamp(seconds: 1), principal: nil, length: 1, isCollection: false,
            reason: .deleted)
        var changes: [StateChange] = row.hasEntry ? [.putTrash(entry)] : []
        if var intent = row.intent {
            intent.moved = try #require(identities["n"])
            intent.replaced = kept
            changes.append(.putIntent(intent))
        }
        try state.commit(changes)

        let share = Share(
            resources: resources, state: state, work: Inline(), configuration: ShareConfiguration(),
            now: { Timestamp(seconds: 1_800_000_000) }, report: { Issue.record("\($0)") })
        try share.recovery.recover()

        #expect(try state.intents() == [])
        for (location, name) in Self.places {
            let identity = try resources.identity(at: Self.path(name))
            #expect(identity == row.after[location].flatMap { identities[$0] }, "\(location)")
        }
        #expect(try state.trashEntry(entry.id) == (row.isKept ? entry : nil))
        #expect(try (state.trashEntry("bbbbbbbbbbbbbbbb") != nil) == row.isAdopted)
        #expect(state.trashTotals.count == (row.isKept ? 1 : 0) + (row.isAdopted ? 1 : 0))
        // The next start has nothing to do.
        let before = try state.trash(after: 0, limit: 9)
        try share.recovery.recover()
        #expect(try state.trash(after: 0, limit: 9) == before)
    }

    /// On a volume where a deletion needs two steps, the moved file briefly has both names.
    @Test func interruptedTwoStepDeletionIsUndone() throws {
        let folder = try TemporaryFolder()
        let resources = try FileResourceStore(root: folder.path)
        let trash = try #require(
            try resources.trashLocation(
                "aaaaaaaaaaaaaaaa", for: ResourceLocation(Self.path("a")), volume: Self.volume(of: resources))
        )
        let identity = try Self.makeFile(at: "a", in: resources)
        #expect(unsafe link(folder.path + "/a", folder.path + "/\(Self.places["t"] ?? "")") == 0)
        let state = try IndexedShareState(store: MemoryStateStore())
        try state.commit([
            .putTrash(
                TrashEntry(
                    number: 1, id: "aaaaaaaaaaaaaaaa", path: Self.path("a"), location: trash.location.path,
                    identity: identity, deleted: Timestamp(seconds: 1), principal: nil, length: 1,
                    isCollection: false, reason: .deleted))
        ])
        let share = Share(
            resources: resources, state: state, work: Inline(), configuration: ShareConfiguration(),
            now: { Timestamp(seconds: 1_800_000_000) }, report: { Issue.record("\($0)") })
        try share.recovery.recover()
        #expect(try resources.identity(at: Self.path("a")) == identity)
        #expect(try resources.identity(at: trash.location.path) == nil)
        #expect(state.trashTotals.count == 0)
    }

    /// If a volume renumbers its files, or a backup is restored, nothing in the trash may be lost.
    @Test(arguments: [false, true])
    func entryWithAnotherIdentityIsKept(isReplaced: Bool) async throws {
        let store = MemoryStateStore()
        let first = try TestShare.keeping(state: store)
        _ = try await first.client.send("PUT", "/a", text: "old")
        _ = try await first.client.send(isReplaced ? "PUT" : "DELETE", "/a", body: Array("new".utf8))
        let id = first.lastTrash
        let location = "\(Self.trash)/\(id ?? "")"
        #expect(first.shell("cp \(location) copy && mv copy \(location)") == 0)
        let share = try TestShare.keeping(first.folder, state: store)
        #expect(try share.trash() == ["\(isReplaced ? "overwritten" : "deleted") /a 3"])
        #expect(try await share.restore(id, "&taken=replace").status == (isReplaced ? 204 : 201))
        #expect(try await share.text("/a") == "old")
    }

    /// The state was lost, including that of a volume mounted in the share. Files of that volume are restored
    /// to the volume. Requires permission to mount.
    @Test func unknownFilesOnAMountedVolumeAreAdopted() async throws {
        let folder = try TemporaryFolder()
        let first = try TestShare.keeping(folder)
        guard first.shell("mkdir 'v w' && mount -t tmpfs -o size=1m tmpfs 'v w'") == 0 else { return }
        defer { #expect(first.shell("umount -l 'v w'") == 0) }
        #expect(first.shell("echo a >'v w/a'; echo b >b; mkdir -p .x/.davit-trashofthisshare") == 0)
        for target in ["/v%20w/a", "/b"] {
            #expect(try await first.client.send("DELETE", target)["Davit-Trash"] != nil)
        }
        // Known entries are unchanged.
        let before = try first.trash()
        first.share.recovery.trash.adoptMounted()
        #expect(try first.trash() == before)

        let share = try TestShare.keeping(folder)
        #expect(try share.state.trash(after: 0, limit: 9).count == 1)
        for _ in 0..<2 {
            share.share.recovery.trash.adoptMounted()
            #expect(try share.state.trash(after: 0, limit: 9).count == 2)
        }
        let found = try share.state.trash(after: 0, limit: 9).first { $0.path.segments.count == 2 }
        let entry = try #require(found)
        #expect(entry.path == Self.path("v w/recovered-\(entry.id)"))
        #expect(try await share.restore(entry.id)["Location"] == "/v%20w/recovered-\(entry.id)")
        #expect(share.shell("grep -q a 'v w/recovered-\(entry.id)'") == 0)
    }

    static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
    }

    private static func volume(of resources: FileResourceStore) throws -> UInt64 {
        try #require(try resources.lookup(.root, last: .followed, wait: .allowed).info?.volume)
    }

    private static func makeFile(at location: String, in resources: FileResourceStore) throws
        -> ResourceIdentity
    {
        let staged = try resources.stageContent(for: path("new"), expectedLength: 0)
        let info = try staged.seal(replacing: nil, modified: nil)
        try staged.publish(isReplacing: false)
        try resources.rename(path("new"), toFree: path(location))
        return info.identity
    }
}

/// Runs recovery on the calling thread.
private struct Inline: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}
