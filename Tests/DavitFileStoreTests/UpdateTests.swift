import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// Partial updates, which change a copy of the content, and staged collections.
struct UpdateTests {
    /// The unmodified volume; one without shared blocks; one without copies in the kernel; one without
    /// unnamed files.
    static let volumes: [[String: Int32]] = [
        [:], ["ficlone": Errno.notSupported],
        ["ficlone": Errno.notSupported, "copy_file_range": Errno.notSupported],
        ["opentmpfile": Errno.notSupported],
    ]

    @Test(arguments: volumes, Volume.allCases)
    func updateChangesACopy(missing: [String: Int32], volume: Volume) throws {
        let sandbox = try Sandbox(on: volume)
        try sandbox.write("file", "0123456789")
        let store = try sandbox.store()
        let path = try resource("file")
        let old = try #require(try store.lookup(path, last: .followed, wait: .allowed).info)
        try withFaults(FaultPlan(failCalls: missing)) {
            let (content, base) = try store.stageUpdate(of: ResourceLocation(path))
            #expect(base.entityTag == old.entityTag && content.length == 10)
            try content.write(buffer("ab"), at: 4)
            let part = try store.stageContent(for: path, expectedLength: nil)
            try part.write(buffer("xyz"))
            try content.write(contentOf: part, at: 9)
            try content.write(buffer("!"), at: 14)
            #expect(content.length == 15)
            // The change is not visible yet.
            #expect(sandbox.read("file") == "0123456789")
            let new = try content.seal(replacing: old, modified: nil)
            try content.publish(isReplacing: true)
            #expect(sandbox.read("file") == "0123ab678xyz\0\0!")
            #expect(new.length == 15 && new.entityTag != old.entityTag)
        }
        #expect(sandbox.names() == ["file"])
    }

    /// Holes are preserved, both in the copy and after the end.
    @Test func holesArePreserved() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "")
        let store = try sandbox.store()
        let path = try resource("file")
        for offset: Int64 in [1 << 26, 1 << 27] {
            let (content, base) = try store.stageUpdate(of: ResourceLocation(path))
            try content.write(buffer("end"), at: offset)
            _ = try content.seal(replacing: base, modified: nil)
            try content.publish(isReplacing: true)
            let info = try #require(try store.lookup(path, last: .followed, wait: .allowed).info)
            #expect(info.length == offset + 3)
            #expect(try #require(sandbox.status("file")).allocated < 1 << 20)
        }
    }

    @Test func targetsThatAreNotContentAreRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        let store = try sandbox.store()
        #expect(throws: StoreError.notFound) {
            try store.stageUpdate(of: ResourceLocation(resource("folder")))
        }
        #expect(throws: StoreError.notFound) { try store.stageUpdate(of: ResourceLocation(resource("none"))) }
        #expect(sandbox.names() == ["folder"])
    }

    @Test(arguments: [[:], ["renameat2": Errno.invalid]] as [[String: Int32]])
    func collectionIsInvisibleUntilPublished(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) {
            do {
                let staged = try store.stageCollection(at: resource("folder"))
                #expect(try store.list("").isEmpty)
                #expect(staged.info.isCollection)
            }
            #expect(sandbox.names() == [])
            try store.createCollection(at: resource("plain"))
            let staged = try store.stageCollection(at: resource("folder"))
            try staged.publish(isReplacing: false)
            let made = try #require(
                try store.lookup(resource("folder"), last: .followed, wait: .allowed).info)
            #expect(made.identity == staged.info.identity)
            let other = try store.stageCollection(at: resource("plain"))
            #expect(throws: StoreError.alreadyExists) { try other.publish(isReplacing: false) }
        }
        #expect(sandbox.names() == ["folder", "plain"])
        #expect(sandbox.mode(of: "folder") == sandbox.mode(of: "plain"))
    }
}
