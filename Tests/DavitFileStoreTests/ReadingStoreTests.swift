import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// A store that only reads a folder removes nothing from it.
struct ReadingStoreTests {
    private static let leftover = ".davit-aaaaaaaaaaaaaaaa"

    /// Creates a folder with leftovers in every place that is swept, and an open upload.
    private func folder() throws -> (Sandbox, upload: [UInt8], ResourceIdentity) {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/file", "content")
        for folder in ["", "folder/"] { try sandbox.write(folder + Self.leftover) }
        try sandbox.makeFolder(".davit-bbbbbbbbbbbbbbbb")
        try sandbox.makeFolder(".davit-trashofthisshare")
        try sandbox.write(".davit-trashofthisshare/" + Self.leftover)
        let server = try FileResourceStore(root: sandbox.share)
        server.keepUploads { _ in true }
        let upload = try server.stageUpload(for: ResourceLocation(resource("file")), expectedLength: nil)
        try upload.write(buffer("one, "))
        return (sandbox, upload.stagedName, upload.identity)
    }

    private func names(_ sandbox: Sandbox) -> [[String]] {
        ["", "folder", ".davit-trashofthisshare"].map { sandbox.names($0) }
    }

    @Test func readerRemovesNothing() throws {
        let (sandbox, _, _) = try folder()
        let before = names(sandbox)
        let reader = try FileResourceReader(root: sandbox.share)
        for path in ["", "folder"] {
            let cursor = try reader.members(of: resource(path))
            #expect(try cursor.next().map(\.text) == [path == "" ? "folder" : "file"])
            #expect(try cursor.next().isEmpty)
        }
        #expect(throws: StoreError.forbidden) { try reader.members(of: resource(".davit-trashofthisshare")) }
        #expect(content(try reader.open(resource("folder/file"), wait: .allowed)) == "content")
        #expect(
            try reader.lookup(resource("folder/file"), last: .notFollowed, wait: .allowed).info?.length == 7)
        _ = reader.closeUnusedFiles()
        #expect(names(sandbox) == before)
    }

    /// A store removes leftovers only after `keepUploads` is called, as by a server.
    @Test func leftoversAreRemovedOnlyForAServer() throws {
        let (sandbox, name, identity) = try folder()
        let before = names(sandbox)
        let store = try FileResourceStore(root: sandbox.share)
        func lookEverywhere() throws {
            for path in ["", "folder"] { _ = try store.list(path) }
            store.sweepLeftovers { false }
            store.removeLeftover(at: try resource("folder/" + Self.leftover))
            let trash = try #require(store.trashFolder)
            _ = try store.trashed(in: trash)
        }
        try lookEverywhere()
        #expect(names(sandbox) == before)

        store.keepUploads { $0 == name }
        // A child process that another test has forked holds every lock until it calls exec.
        for _ in 0..<100_000 {
            try lookEverywhere()
            if names(sandbox).map(\.count) == [3, 1, 0] { break }
        }
        #expect(
            names(sandbox) == [
                [".davit-trashofthisshare", String(decoding: name, as: UTF8.self), "folder"].sorted(),
                ["file"],
                [],
            ])
        let upload = try store.upload(named: name, identity, for: ResourceLocation(resource("file")))
        try upload.write(buffer("two"))
        _ = try upload.seal(replacing: nil, modified: nil)
        try upload.publish(isReplacing: false)
        #expect(sandbox.read("file") == "one, two")
    }

    static let rooms: [(keepsFree: Int64?, room: Int64)] = [
        (nil, 100), (40, 60), (100, 0), (150, -50), (.max, 100 - .max),
    ]

    /// The space reported to clients is never negative. The store's own result is negative if less space is
    /// free than the configured reserve.
    @Test(arguments: rooms)
    func roomIsNegativeWithinTheReservedSpace(keepsFree: Int64?, room: Int64) throws {
        let sandbox = try Sandbox()
        let store = try FileResourceStore(root: sandbox.share, keepsFree: keepsFree)
        try withFaults(FaultPlan(availableBytes: 100)) {
            let (found, reported) = (try store.room(at: .root), try store.quota(at: .root).available)
            #expect(found == room)
            #expect(reported == max(0, room))
        }
    }

    /// A copy that does not fit is undone: it occupies no space and leaves the length unchanged.
    @Test(.enabled(if: TemporaryMount.isPossible, "mounting is not permitted here"))
    func failedCopyLeavesNothing() throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.makeFolder("v")
        try sandbox.mount("-t tmpfs -o size=1m tmpfs", at: "v")
        let store = try sandbox.store()
        let part = try store.stageContent(for: resource("part"), expectedLength: nil)
        for _ in 0..<3 { try part.write(buffer(String(repeating: "p", count: 256 << 10))) }
        let whole = try store.stageContent(for: resource("v/whole"), expectedLength: nil)
        try whole.write(contentOf: part, at: 0)
        let room = try store.room(at: resource("v"))
        #expect(throws: StoreError.outOfSpace) { try whole.write(contentOf: part, at: whole.length) }
        #expect(whole.length == 768 << 10)
        #expect(try store.room(at: resource("v")) == room)
    }
}
