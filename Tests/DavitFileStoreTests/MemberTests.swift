import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

struct MemberTests {
    @Test(arguments: Volume.allCases)
    func onlyServedMembersAreListed(volume: Volume) throws {
        let sandbox = try Sandbox(on: volume)
        try sandbox.write("file", "123", mode: 0o755)
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/inner", "4567")
        try sandbox.makeSpecial("fifo")
        try sandbox.link("link", to: "folder/inner")
        try sandbox.link("collection", to: "folder")
        for (name, text) in [
            ("outside", "../outside"), ("dangling", "none"), ("loop", "loop"), ("pipe", "fifo"),
        ] {
            try sandbox.link(name, to: text)
        }
        try sandbox.write(".hidden")
        let store = try sandbox.store()
        let members = try store.list("")
        #expect(members.map(\.text) == [".hidden", "collection", "file", "folder", "link"])
        #expect(members.map(\.info.isCollection) == [false, true, false, true, false])
        #expect(members.map(\.info.length) == [0, 0, 3, 0, 4])
        #expect(members.map { $0.canonicalPath?.description } == [nil, "/folder", nil, nil, "/folder/inner"])
        #expect(members.map(\.info.isExecutable) == [false, false, true, false, false])
        // A listing returns the same information as a lookup of the member.
        for member in members {
            let path = try resource(member.text)
            let info = try #require(try store.lookup(path, last: .followed, wait: .allowed).info)
            #expect(info.entityTag == member.info.entityTag)
            #expect(info.identity == member.info.identity)
            #expect(info.volume == member.info.volume)
        }
    }

    /// The journal watches these links, because each can become a member without a change of the collection.
    @Test func danglingLinksAreReportedThroughEveryStore() throws {
        let sandbox = try Sandbox()
        for name in ["file", ".hidden"] { try sandbox.link(name, to: "none") }
        let store = try sandbox.store()
        let sidecars = SidecarStore(
            store, sidecarFolder: try FileResourceStore(root: sandbox.base + "/outside"))
        func left(in store: any ResourceStore) throws -> [String] {
            let cursor = try store.members(of: .root)
            var member = Member()
            while try cursor.next(&member) {}
            return cursor.linksLeftOut.map { String(decoding: $0, as: UTF8.self) }.sorted()
        }
        #expect(try left(in: store) == [".hidden", "file"])
        #expect(try left(in: sidecars) == [".hidden", "file"])
        var rules = ShareRules()
        rules.allowsHiddenItems = false
        #expect(try left(in: FilteredStore(sidecars, rules: rules)) == ["file"])
    }

    @Test func membersInManyBlocksAreListed() throws {
        let sandbox = try Sandbox(on: .memory)
        let names = (0..<5000).map { "a member with a name of some length \($0)" }
        for name in names { try sandbox.write(name) }
        let cursor = try sandbox.store().members(of: .root)
        var member = Member()
        var listed: [String] = []
        while try cursor.next(&member) { listed.append(member.text) }
        #expect(listed.count == names.count)
        #expect(Set(listed) == Set(names))
        #expect(try !cursor.next(&member))
        #expect(try cursor.next(limit: 10).isEmpty)
    }

    @Test func atMostTheRequestedNumberOfMembersIsReturned() throws {
        let sandbox = try Sandbox()
        for name in ["a", "b", "c"] { try sandbox.write(name) }
        let cursor = try sandbox.store().members(of: .root)
        #expect(try (0..<3).map { _ in try cursor.next(limit: 2).count } == [2, 1, 0])
    }

    /// The memory of a member is reused for the next one and must not retain values.
    @Test func reusedMemberRetainsNoValues() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/with a long name", "12345")
        for index in 0..<9 {
            try sandbox.link("link \(index)", to: "folder/with a long name")
            try sandbox.write("\(index)")
        }
        let cursor = try sandbox.store().members(of: .root)
        var member = Member()
        var seen = 0
        while try cursor.next(&member) {
            seen += 1
            let isLink = member.text.hasPrefix("link")
            #expect((member.canonicalPath != nil) == isLink)
            #expect(member.info.length == (isLink ? 5 : 0))
            #expect(member.info.isCollection == (member.text == "folder"))
        }
        #expect(seen == 19)
    }

    @Test func namesOfAnyBytesAreListed() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let names: [[UInt8]] = [
            [UInt8](repeating: 0xFF, count: 255), [0x80], Array("...".utf8), Array(" ".utf8),
            Array("\n%".utf8),
        ]
        for name in names { try store.put("", at: #require(ResourcePath.root.appending(name))) }
        #expect(Set(try store.list("").map(\.name)) == Set(names))
    }

    @Test func listingErrorsAreReported() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file")
        try sandbox.makeSpecial("fifo")
        let store = try sandbox.store()
        #expect(throws: StoreError.wrongKind) { try store.list("file") }
        #expect(throws: StoreError.notFound) { try store.list("none") }
        #expect(throws: StoreError.missingAncestor) { try store.list("file/none") }
        withFaults(FaultPlan(failCalls: ["getdents64": Errno.io])) {
            #expect(throws: StoreError.self) { try store.list("") }
        }
        // A listing must fail rather than be silently incomplete.
        try sandbox.link("link", to: "file")
        let plan = FaultPlan(failCalls: ["readlinkat": Errno.noDescriptors])
        withFaults(plan) { #expect(throws: StoreError.busy) { try store.list("") } }
    }

    @Test func contentIsOpenedWithThreeOrFourCalls() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "text")
        let store = try sandbox.store()
        let plan = FaultPlan()
        let opened = try withFaults(plan) { try store.open(resource("file"), wait: .allowed) }
        #expect(content(opened) == "text")
        #expect(plan.calls == ["statx", "openat2", "statx"])
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/file", "text")
        let deeper = FaultPlan()
        _ = try withFaults(deeper) { try store.open(resource("folder/file"), wait: .allowed) }
        #expect(deeper.calls == ["openat2", "statx", "openat2", "statx"])
        #expect(opened.info.length == 4)
        // An open resource keeps its content.
        try store.put("other text", at: resource("file"))
        #expect(content(opened) == "text")
    }

    @Test func collectionsAreOpenedWithoutADescriptor() throws {
        let sandbox = try Sandbox()
        let opened = try sandbox.store().open(.root, wait: .allowed)
        #expect(opened.info.isCollection)
        #expect(opened.content == nil)
        #expect(throws: StoreError.notFound) { try sandbox.store().open(resource("none"), wait: .allowed) }
    }

    @Test func fifoIsNotOpenedAsContent() throws {
        let sandbox = try Sandbox()
        try sandbox.makeSpecial("fifo")
        let store = try sandbox.store()
        // The FIFO has no writer: a blocking open would never return.
        #expect(throws: StoreError.notFound) { try store.open(resource("fifo"), wait: .allowed) }
        #expect(throws: StoreError.notFound) { try store.open(resource("fifo"), wait: .never) }
    }

    /// Uses kernel notifications of opens. A descriptor that only refers to a file (O_PATH) does not count.
    @Test func specialFilesAreNeverOpened() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.makeSpecial("folder/fifo")
        try sandbox.link("link", to: "folder/fifo")
        let watch = try OpenWatch(sandbox.path("folder/fifo"))
        let store = try sandbox.store()
        let components = try sandbox.store(.components)
        for store in [store, components] {
            for name in ["folder/fifo", "link"] {
                _ = try store.lookup(resource(name), last: .followed, wait: .allowed)
                _ = try store.lookup(resource(name), last: .notFollowed, wait: .allowed)
                #expect(throws: StoreError.notFound) { try store.open(resource(name), wait: .allowed) }
                #expect(throws: StoreError.self) { try store.put("", at: resource(name)) }
            }
            #expect(try store.list("").map(\.text) == ["folder"])
            #expect(try store.list("folder").isEmpty)
        }
        _ = try store.stageCopy(of: resource("folder"), for: resource("copy"), includesMembers: true)
        store.sweepLeftovers { false }
        #expect(watch.count == 0)
        #expect(store.detachAndDestroy("folder") == [])
        // Check that the watch works: it reports an open by this test.
        try sandbox.makeSpecial("seen")
        let other = try OpenWatch(sandbox.path("seen"))
        _ = sandbox.read("seen")
        #expect(other.count == 1)
    }
}
