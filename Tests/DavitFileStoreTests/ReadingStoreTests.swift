import DavitFileStore
import DavitHTTP
import DavitStore
import Testing

/// What reads a folder beside its server removes nothing from it, whatever it looks like.
struct ReadingStoreTests {
    private static let leftover = ".davit-aaaaaaaaaaaaaaaa"

    /// A folder with leftovers in each place where they are looked for, and an upload that waits.
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
        let upload = try server.stageUpload(for: Place(resource("file")), expectedLength: nil)
        try upload.write(buffer("one, "))
        return (sandbox, upload.stagedName, upload.identity)
    }

    private func names(_ sandbox: Sandbox) -> [[String]] {
        ["", "folder", ".davit-trashofthisshare"].map { sandbox.names($0) }
    }

    @Test func aReaderListsAndOpensAndRemovesNothing() throws {
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
        #expect(try reader.lookup(resource("folder/file"), last: .itself, wait: .allowed).info?.length == 7)
        _ = reader.closeUnusedFiles()
        #expect(names(sandbox) == before)
    }

    /// Commands that do the work of a server that does not run.
    @Test func aStoreRemovesLeftoversOnlyForAServer() throws {
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
        // A process that another test is just starting holds every lock until it runs its own program.
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
        let upload = try store.upload(named: name, identity, for: Place(resource("file")))
        try upload.write(buffer("two"))
        _ = try upload.seal(replacing: nil, modified: nil)
        try upload.publish(isReplacing: false)
        #expect(sandbox.read("file") == "one, two")
    }
}
