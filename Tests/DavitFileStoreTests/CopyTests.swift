import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

struct CopyTests {
    private func copy(
        _ store: FileResourceStore, _ source: String, _ destination: String, includesMembers: Bool = true,
        isReplacing: Bool = false
    ) throws -> [String] {
        let tree = try store.stageCopy(
            of: resource(source), for: resource(destination), includesMembers: includesMembers)
        try tree.publish(isReplacing: isReplacing)
        if isReplacing { store.removeLeftover(at: tree.path) }
        return tree.failures.map { "\($0.path) \($0.error)" }
    }

    @Test(
        arguments: Volume.allCases, [[:], ["ficlone": Errno.notSupported, "copy_file_range": Errno.invalid]])
    func treeIsCopiedWithContentAndModes(volume: Volume, missing: [String: Int32]) throws {
        let sandbox = try Sandbox(on: volume)
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("tree/a")
        try sandbox.makeFolder("tree/a/b")
        try sandbox.makeFolder("tree/empty")
        let large = String(repeating: "0123456789", count: 100_000)
        try sandbox.write("tree/large", large, mode: 0o751)
        try sandbox.write("tree/a/b/small", "s")
        try sandbox.write("tree/a/none")
        try sandbox.makeSpecial("tree/fifo")
        try sandbox.write("tree/.davit-aaaaaaaaaaaaaaaa")
        try sandbox.open("tree/a").setAttribute("user.color", to: [1, 2])
        try sandbox.open("tree/large").setAttribute("user.color", to: [3])
        let store = try sandbox.store()
        let failures = try withFaults(FaultPlan(failCalls: missing)) { try copy(store, "tree", "copy") }
        #expect(failures == [])
        #expect(sandbox.names("copy") == ["a", "empty", "large"])
        #expect(sandbox.names("copy/a") == ["b", "none"])
        #expect(sandbox.read("copy/large") == large)
        #expect(sandbox.read("copy/a/b/small") == "s")
        #expect(sandbox.mode(of: "copy/large") == 0o751)
        #expect(sandbox.mode(of: "copy/a") == 0o755)
        #expect(try sandbox.open("copy/a").attribute("user.color") == [1, 2])
        #expect(try sandbox.open("copy/large").attribute("user.color") == [3])
        // A copy is a new resource with a new entity tag.
        let tags = try ["tree/large", "copy/large"].map {
            try store.lookup(resource($0), last: .followed, wait: .allowed).info?.entityTag
        }
        #expect(tags[0] != tags[1])
        #expect(sandbox.names() == ["copy", "tree"])
    }

    @Test func copyWithoutMembersCopiesOneResource() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.write("tree/file", "1")
        let store = try sandbox.store()
        #expect(try copy(store, "tree", "bare", includesMembers: false) == [])
        #expect(sandbox.names("bare") == [])
        #expect(try copy(store, "tree/file", "file") == [])
        #expect(sandbox.read("file") == "1")
        #expect(throws: StoreError.notFound) { try copy(store, "none", "x") }
        #expect(throws: StoreError.missingAncestor) { try copy(store, "tree", "none/x") }
    }

    @Test func copyReplacesAnotherResource() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.write("tree/new", "1")
        try sandbox.makeFolder("old")
        try sandbox.write("old/file", "2")
        let store = try sandbox.store()
        let tree = try store.stageCopy(of: resource("tree"), for: resource("old"), includesMembers: true)
        #expect(tree.path.parent?.isRoot == true)
        #expect(throws: StoreError.alreadyExists) { try tree.publish(isReplacing: false) }
        #expect(sandbox.names("old") == ["file"])
        try tree.publish(isReplacing: true)
        #expect(sandbox.names("old") == ["new"])
        // The replaced resource is now at the temporary path of the copy.
        let hidden = String(decoding: tree.path.name, as: UTF8.self)
        #expect(sandbox.names(hidden) == ["file"])
        #expect(try store.summary("old/new") == "content /old/new")
        store.removeLeftover(at: tree.path)
        #expect(sandbox.names() == ["old", "tree"])
    }

    @Test func unpublishedCopyIsRemoved() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("tree/a")
        try sandbox.write("tree/a/file", "2")
        let store = try sandbox.store()
        do {
            let tree = try store.stageCopy(of: resource("tree"), for: resource("x"), includesMembers: true)
            // The copy is in use: neither a listing nor a sweep removes it.
            #expect(try store.list("").map(\.text) == ["tree"])
            store.sweepLeftovers { false }
            store.removeLeftover(at: tree.path)
            #expect(sandbox.names().count == 2)
        }
        #expect(sandbox.names() == ["tree"])
    }

    @Test func targetsOfLinksAreCopied() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("tree/sub")
        try sandbox.makeFolder("other")
        try sandbox.makeFolder("other/deep")
        try sandbox.write("other/deep/file", "1")
        try sandbox.link("other/deep/up", to: "..")
        try sandbox.link("tree/file", to: "../other/deep/file")
        try sandbox.link("tree/folder", to: "../other")
        try sandbox.link("tree/outside", to: "../../outside")
        try sandbox.link("tree/dangling", to: "none")
        try sandbox.link("tree/self", to: ".")
        try sandbox.link("tree/sub/up", to: "..")
        try sandbox.write("tree/sub/last", "2")
        let store = try sandbox.store()
        #expect(try copy(store, "tree", "copy") == [])
        #expect(sandbox.names("copy") == ["file", "folder", "sub"])
        #expect(sandbox.read("copy/file") == "1")
        #expect(sandbox.names("copy/folder/deep") == ["file"])
        #expect(sandbox.names("copy/sub") == ["last"])
        #expect(sandbox.status("copy/file")?.kind == .regular)
    }

    @Test func copyIntoItsSourceDoesNotContainItself() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.write("tree/file", "1")
        #expect(try copy(sandbox.store(), "tree", "tree/copy") == [])
        #expect(sandbox.names("tree") == ["copy", "file"])
        #expect(sandbox.names("tree/copy") == ["file"])
    }

    @Test func nestedLinksAreLimited() throws {
        let sandbox = try Sandbox()
        for number in 0..<20 {
            try sandbox.makeFolder("f\(number)")
            try sandbox.link("f\(number)/next", to: "../f\(number + 1)")
        }
        try sandbox.makeFolder("f20")
        let failures = try copy(sandbox.store(), "f0", "copy")
        #expect(failures == ["/f0" + String(repeating: "/next", count: 17) + " loop"])
    }

    @Test func holesArePreserved() throws {
        let sandbox = try Sandbox()
        try sandbox.write("sparse", "head")
        do {
            let file = try sandbox.openForWriting("sparse")
            try file.setLength(1 << 24)
            try unsafe "tail".withCString {
                unsafe try file.writeAll(UnsafeRawBufferPointer(start: $0, count: 4))
            }
        }
        let store = try sandbox.store()
        #expect(try copy(store, "sparse", "copy") == [])
        let status = try #require(sandbox.status("copy"))
        #expect(status.length == 1 << 24)
        #expect(status.allocated < 1 << 19)
        #expect(try content(store.open(resource("copy"), wait: .allowed))?.hasPrefix("tail\0") == true)
    }

    @Test func otherMembersAreCopiedIfSomeFail() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("tree/a")
        try sandbox.write("tree/a/one", "1")
        try sandbox.write("tree/two", "2")
        let store = try sandbox.store()
        let failures = try withFaults(FaultPlan(failCalls: ["fchmod": Errno.io])) {
            let tree = try store.stageCopy(of: resource("tree"), for: resource("x"), includesMembers: true)
            return tree.failures.map(\.path.description)
        }
        #expect(Set(failures) == ["/tree/two", "/tree/a/one", "/tree/a", "/tree"])
        // The disk is full: nothing remains.
        try sandbox.open("tree/two").setAttribute("user.color", to: [3])
        for call in ["ficlone", "fsetxattr", "mkdirat", "openat"] {
            withFaults(FaultPlan(failCalls: [call: Errno.noSpace])) {
                _ = #expect(throws: StoreError.outOfSpace, "\(call)") {
                    try store.stageCopy(of: resource("tree"), for: resource("x"), includesMembers: true)
                }
            }
            // Without `openat`, nothing can be removed either.
            if call == "openat" { #expect(sandbox.isSwept(by: store)) }
            #expect(sandbox.names() == ["tree"], "\(call)")
        }
    }

    /// ext4 reports a file as stale that is removed while it is opened.
    @Test func copyOfAFileThatVanishesCanBeRepeated() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "1")
        let store = try sandbox.store()
        for call in ["openat", "openat2"] {
            withFaults(FaultPlan(failCalls: [call: Errno.stale])) {
                _ = #expect(throws: StoreError.busy, "\(call)") {
                    try store.stageCopy(of: resource("file"), for: resource("x"), includesMembers: true)
                }
            }
        }
    }

    @Test func tenThousandLevelsAreCopiedAndRemoved() throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.makeDeepTree("deep", levels: 10_000)
        let store = try sandbox.store()
        #expect(try copy(store, "deep", "copy") == [])
        #expect(store.detachAndDestroy("copy") == [])
        #expect(store.detachAndDestroy("deep") == [])
        #expect(sandbox.names() == [])
    }

    /// Whichever call fails, the destination is either the old or the new resource.
    @Test(arguments: [[:], ["renameat2": Errno.invalid]])
    func failureLeavesTheOldOrTheNewResource(missing: [String: Int32]) throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("tree/a")
        try sandbox.write("tree/a/new", "1")
        let store = try sandbox.store()
        var step = 0
        var isDone = false
        while !isDone {
            step += 1
            if sandbox.names("x") != ["old"] {
                _ = store.detachAndDestroy("x")
                try sandbox.makeFolder("x")
                try sandbox.write("x/old")
            }
            let plan = FaultPlan(failAt: (step, Errno.io), failCalls: missing)
            let failures = withFaults(plan) { Result { try copy(store, "tree", "x", isReplacing: true) } }
            isDone = plan.count < step
            if case .success([]) = failures {
                #expect(sandbox.names("x") == ["a"], "step \(step)")
                #expect(sandbox.names("x/a") == ["new"], "step \(step)")
            } else if case .failure = failures {
                #expect(sandbox.names("x") == ["old"], "step \(step)")
            }
            #expect(sandbox.isSwept(by: store))
            #expect(sandbox.names() == ["tree", "x"], "step \(step)")
        }
        #expect(step > 30)
    }
}
