import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

struct FileChangeTests {
    /// The unmodified volume, one without renameat2 flags, and one that also lacks hard links.
    static let volumes: [[String: Int32]] = [
        [:], ["renameat2": Errno.invalid], ["renameat2": Errno.invalid, "linkat": Errno.notPermitted],
    ]

    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/inner", "1")
        try sandbox.write("file", "22")
        try sandbox.write("other", "333")
        try sandbox.link("link", to: "file")
        return sandbox
    }

    @Test func collectionsAreCreated() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try store.createCollection(at: resource("folder/new"))
        #expect(
            try store.lookup(resource("folder/new"), last: .followed, wait: .allowed).info?.isCollection
                == true)
        for (path, error) in [
            ("folder", StoreError.alreadyExists), ("file", .alreadyExists), ("link", .alreadyExists),
            ("", .alreadyExists), ("none/new", .missingAncestor), ("file/new", .missingAncestor),
        ] {
            #expect(throws: error, "\(path)") { try store.createCollection(at: resource(path)) }
        }
        for (number, error) in [
            (Errno.noSpace, StoreError.outOfSpace), (Errno.access, .forbidden), (Errno.noDescriptors, .busy),
        ] {
            _ = withFaults(FaultPlan(failCalls: ["mkdirat": number])) {
                #expect(throws: error) { try store.createCollection(at: resource("x")) }
            }
        }
    }

    /// Between the lookup and the change, another process moves the folder and puts a new one in its place.
    @Test func changesApplyToTheCollectionFoundByTheLookup() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        func look(_ path: String, reusing other: Lookup? = nil) throws -> Lookup {
            try store.lookupForChange(resource(path), last: .followed, reusing: other, wait: .allowed)
        }
        let inner = try look("folder/inner")
        let free = try look("folder/free", reusing: inner)
        let new = try look("folder/new", reusing: inner)
        let content = try look("folder/content", reusing: inner)
        try store.rename(resource("folder"), toFree: resource("moved"))
        try sandbox.makeFolder("folder")

        try store.createCollection(at: new.location)
        #expect(try store.renameInOneStep(inner.location, toFree: free.location))
        let staged = try store.stageContent(for: content.location, expectedLength: 0, replaces: false)
        _ = try staged.seal(replacing: nil, modified: nil)
        try staged.publish(isReplacing: false)
        #expect(sandbox.names("moved") == ["content", "free", "new"])
        try store.removeContent(at: content.location)
        #expect(sandbox.names("moved") == ["free", "new"])
        #expect(sandbox.names("folder") == [])
    }

    @Test(arguments: volumes)
    func resourcesAreRenamedToAFreeName(missing: [String: Int32]) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) {
            try store.rename(resource("file"), toFree: resource("folder/moved"))
            try store.rename(resource("folder"), toFree: resource("elsewhere"))
            // The link itself moves, and is broken afterwards.
            try store.rename(resource("link"), toFree: resource("elsewhere/link"))
            #expect(sandbox.names() == ["elsewhere", "other"])
            #expect(sandbox.names("elsewhere") == ["inner", "link", "moved"])
            for (source, destination, error) in [
                ("other", "elsewhere/inner", StoreError.alreadyExists),
                ("elsewhere", "other", .alreadyExists), ("other", "elsewhere", .alreadyExists),
                ("none", "new", .notFound), ("other", "none/new", .missingAncestor),
                ("other", "elsewhere/link", .alreadyExists),
            ] {
                #expect(throws: error, "\(source) to \(destination)") {
                    try store.rename(resource(source), toFree: resource(destination))
                }
            }
        }
        #expect(sandbox.read("other") == "333")
    }

    @Test func renameReplacesContent() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let tag = try store.lookup(resource("file"), last: .followed, wait: .allowed).info?.entityTag
        try store.rename(resource("file"), overContent: resource("other"))
        #expect(sandbox.names() == ["folder", "link", "other"])
        // A MOVE preserves the entity tag.
        #expect(try store.lookup(resource("other"), last: .followed, wait: .allowed).info?.entityTag == tag)
        #expect(throws: StoreError.wrongKind) {
            try store.rename(resource("other"), overContent: resource("folder"))
        }
        #expect(throws: StoreError.notFound) {
            try store.rename(resource("none"), overContent: resource("other"))
        }
        // These are two names of one file, of which rename(2) would keep both.
        try sandbox.hardLink("other", "twin")
        try store.rename(resource("other"), overContent: resource("twin"))
        #expect(sandbox.names() == ["folder", "link", "twin"])
        try store.rename(resource("twin"), overContent: resource("twin"))
        #expect(sandbox.read("twin") == "22")
    }

    @Test(arguments: volumes)
    func twoResourcesAreExchanged(missing: [String: Int32]) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) {
            try store.exchange(resource("file"), resource("folder"))
            #expect(sandbox.read("folder") == "22")
            #expect(sandbox.read("file/inner") == "1")
            try store.exchange(resource("file/inner"), resource("other"))
            #expect(sandbox.read("other") == "1")
            try store.exchange(resource("link"), resource("other"))
            #expect(sandbox.read("link") == "1")
            #expect(throws: StoreError.notFound) { try store.exchange(resource("other"), resource("none")) }
            #expect(throws: StoreError.notFound) { try store.exchange(resource("none"), resource("other")) }
        }
        #expect(sandbox.names() == ["file", "folder", "link", "other"])
    }

    @Test func contentAndLinksAreRemoved() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try store.removeContent(at: resource("link"))
        try store.removeContent(at: resource("folder/inner"))
        #expect(sandbox.names() == ["file", "folder", "other"])
        #expect(throws: StoreError.wrongKind) { try store.removeContent(at: resource("folder")) }
        #expect(throws: StoreError.notFound) { try store.removeContent(at: resource("none")) }
        #expect(throws: StoreError.forbidden) { try store.removeContent(at: .root) }
        #expect(throws: StoreError.wrongKind) { try store.removeEmptyCollection(at: resource("file")) }
        #expect(throws: StoreError.alreadyExists) {
            try sandbox.write("folder/more")
            try store.removeEmptyCollection(at: resource("folder"))
        }
        try store.removeContent(at: resource("folder/more"))
        try store.removeEmptyCollection(at: resource("folder"))
        #expect(sandbox.names() == ["file", "other"])
    }

    static let modes: [(before: UInt32, isExecutable: Bool, after: UInt32)] = [
        (0o644, true, 0o755), (0o640, true, 0o750), (0o600, true, 0o700), (0o755, false, 0o644),
        (0o755, true, 0o755), (0o200, true, 0o200),
    ]

    @Test(arguments: modes)
    func executeBitsFollowTheReadBits(before: UInt32, isExecutable: Bool, after: UInt32) throws {
        let sandbox = try sandbox()
        try sandbox.write("tool", mode: before)
        let store = try sandbox.store()
        let tag = try store.lookup(resource("tool"), last: .followed, wait: .allowed).info?.entityTag
        try store.setAttributes(ResourceAttributes(isExecutable: isExecutable), at: resource("tool"))
        #expect(sandbox.mode(of: "tool") == after)
        #expect(try store.lookup(resource("tool"), last: .followed, wait: .allowed).info?.entityTag == tag)
        #expect(throws: StoreError.wrongKind) {
            try store.setAttributes(ResourceAttributes(isExecutable: true), at: resource("folder"))
        }
    }

    @Test func quotaOfEveryResourceIsReturned() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        for path in ["", "folder", "file", "folder/inner"] {
            let quota = try store.quota(at: resource(path))
            #expect(quota.available > 0 && quota.used > 0, "\(path)")
        }
        #expect(throws: StoreError.notFound) { try store.quota(at: resource("none")) }
    }

    @Test func detachedTreeIsRestored() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let tree = try store.detach(resource("folder"))
        #expect(try store.summary("folder") == "unmapped /folder")
        // The tree is in use, so a sweep must not remove it.
        #expect(try store.list("").count == 3)
        store.sweepLeftovers { false }
        try tree.restore()
        #expect(sandbox.names("folder") == ["inner"])
        let again = try store.detach(resource("folder"))
        try sandbox.makeFolder("folder")
        #expect(throws: StoreError.alreadyExists) { try again.restore() }
        #expect(again.destroy().isEmpty)
        #expect(sandbox.names("folder") == [])
        #expect(store.detachAndDestroy("file") == [])
        #expect(sandbox.names() == ["folder", "link", "other"])
        #expect(throws: StoreError.notFound) { try store.detach(resource("none")) }
        #expect(throws: StoreError.forbidden) { try store.detach(.root) }
    }

    @Test func membersThatCannotBeRemovedAreReturned() throws {
        let sandbox = try sandbox()
        try sandbox.makeFolder("folder/sub")
        try sandbox.write("folder/sub/deep")
        try sandbox.link("folder/sub/link", to: "../../file")
        let store = try sandbox.store()
        let tree = try store.detach(resource("folder"))
        let failures = withFaults(FaultPlan(failCalls: ["getdents64": Errno.io])) { tree.destroy() }
        #expect(failures.map(\.path.description) == ["/folder"])
        // unlinkat is called for the tree, then for each file.
        let some = withFaults(FaultPlan(failCalls: ["unlinkat": Errno.access])) { tree.destroy() }
        #expect(some.map(\.error) == [.forbidden])
        try tree.restore()
        #expect(sandbox.names("folder/sub") == ["deep", "link"])
        #expect(store.detachAndDestroy("folder") == [])
        #expect(sandbox.read("file") == "22")
    }

    @Test func remainingMembersAreReported() throws {
        let sandbox = try sandbox()
        for name in ["a", "b", "c"] { try sandbox.write("folder/\(name)") }
        let store = try sandbox.store()
        var failed = Set<String>()
        for step in 1...40 {
            let tree = try store.detach(resource("folder"))
            let failures = withFaults(FaultPlan(failAt: (step, Errno.access))) { tree.destroy() }
            failed.formUnion(failures.map(\.path.description))
            if failures.isEmpty { break }
            try tree.restore()
            if !sandbox.names("folder").contains("inner") { try sandbox.write("folder/inner") }
        }
        #expect(failed.contains("/folder"))
        #expect(failed.contains("/folder/inner"))
        #expect(sandbox.names() == ["file", "link", "other"])
    }

    @Test func onlyUnlockedLeftoversAreSwept() throws {
        let sandbox = try sandbox()
        let names = [".davit-aaaaaaaaaaaaaaaa", ".davit-bbbbbbbbbbbbbbbb", ".davit-cccccccccccccccc"]
        try sandbox.write(names[0])
        try sandbox.makeFolder("folder/" + names[1])
        try sandbox.makeFolder("folder/\(names[1])/x")
        try sandbox.write("folder/\(names[1])/x/y")
        try sandbox.link("folder/" + names[2], to: "inner")
        try sandbox.write(".davit-file")
        let store = try sandbox.store()
        let held = try sandbox.open(names[0])
        #expect(try held.tryLock())
        #expect(try store.list("").count == 5)
        #expect(sandbox.names().contains(names[0]))
        #expect(try store.list("folder").map(\.text) == ["inner"])
        #expect(sandbox.names("folder") == ["inner"])
        _ = consume held
        store.sweepLeftovers { true }
        #expect(sandbox.names().contains(names[0]))
        #expect(sandbox.isSwept(by: store))
        #expect(sandbox.names() == [".davit-file", "file", "folder", "link", "other"])
        // Only files with reserved names are leftovers.
        store.removeLeftover(at: try resource("file"))
        #expect(sandbox.read("file") == "22")
    }

    @Test func largeLeftoversAreSweptInSteps() throws {
        let sandbox = try Sandbox(on: .memory)
        let name = ".davit-aaaaaaaaaaaaaaaa"
        try sandbox.makeFolder(name)
        for number in 0..<600 { try sandbox.write("\(name)/\(number)") }
        let store = try sandbox.store()
        _ = try store.list("")
        // A listing removes only part of the leftover.
        #expect(sandbox.names(name).count == 600 - 256)
        var steps = 0
        store.sweepLeftovers {
            steps += 1
            return false
        }
        #expect(steps > 6)
        #expect(sandbox.names() == [])
    }
}
