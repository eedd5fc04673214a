import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

struct StagedFileTests {
    /// The unmodified volume, one without unnamed files, one that also lacks exclusive renames, and one that
    /// also lacks hard links.
    static let volumes: [[String: Int32]] = [
        [:],
        ["opentmpfile": Errno.notSupported],
        ["opentmpfile": Errno.notSupported, "renameat2": Errno.invalid],
        ["opentmpfile": Errno.notSupported, "renameat2": Errno.invalid, "linkat": Errno.notPermitted],
    ]

    @Test(arguments: volumes, [(Volume.memory, true), (.memory, false), (.disk, true), (.disk, false)])
    func contentIsCreatedAndReplaced(missing: [String: Int32], way: (volume: Volume, isInMemory: Bool)) throws
    {
        let (volume, isInMemory) = way
        let sandbox = try Sandbox(on: volume)
        let store = try sandbox.store()
        let path = try resource("file")
        try withFaults(FaultPlan(failCalls: missing)) {
            let first = try store.put("one", at: path)
            #expect(sandbox.read("file") == "one")
            #expect(try store.open(path, wait: .allowed).info.entityTag == first.entityTag)
            let second = try store.put("two", at: path, isInMemory: isInMemory)
            #expect(sandbox.read("file") == "two")
            #expect(
                try store.lookup(path, last: .followed, wait: .allowed).info?.entityTag == second.entityTag)
            #expect(try store.list("").map(\.info.entityTag) == [second.entityTag])
            #expect(first.entityTag != second.entityTag)
        }
        #expect(sandbox.names() == ["file"])
    }

    @Test(arguments: volumes)
    func fileIsInvisibleUntilPublished(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) {
            do {
                let staged = try store.stageContent(for: resource("file"), expectedLength: nil)
                try staged.write(buffer("bytes"))
                #expect(staged.length == 5)
                #expect(try store.list("").isEmpty)
                // The file is locked: a listing does not remove it.
                #expect(sandbox.names().count == (missing.isEmpty ? 0 : 1))
                _ = try staged.seal(replacing: nil, modified: nil)
                #expect(try store.summary("file") == "unmapped /file")
            }
            #expect(sandbox.names() == [])
        }
    }

    /// Whichever call fails, the file has either its old or its new content; after a replacement, the old
    /// content is either in the trash or removed.
    @Test(arguments: volumes)
    func replacedFileIsKeptOrRemovedAtomically(missing: [String: Int32]) throws {
        var outcomes: Set<Bool?> = []
        for step in 1...12 {
            let sandbox = try Sandbox()
            let store = try sandbox.store()
            _ = try store.put("old", at: resource("file"))
            let info = try #require(
                try store.lookup(resource("file"), last: .notFollowed, wait: .allowed).info)
            let location = ResourceLocation(try resource("file"))
            let trash = try #require(
                try withFaults(FaultPlan(failCalls: missing)) {
                    try store.trashLocation("old", for: location, volume: info.volume)
                })
            let staged = try withFaults(FaultPlan(failCalls: missing)) {
                let staged = try store.stageContent(for: resource("file"), expectedLength: nil)
                try staged.write(buffer("new"))
                _ = try staged.seal(replacing: info, modified: nil)
                return staged
            }
            let plan = FaultPlan(failAt: (step, Errno.access), failCalls: missing)
            let isKept = withFaults(plan) { try? staged.publish(keepingReplacedAt: trash) }
            outcomes.insert(isKept)
            #expect(sandbox.read("file") == (isKept == nil ? "old" : "new"), "\(step)")
            let kept = sandbox.names(".davit-trashofthisshare").map {
                sandbox.read(".davit-trashofthisshare/" + $0)
            }
            #expect(kept == (isKept == true ? ["old"] : []), "\(step)")
        }
        #expect(outcomes.contains(false))
        #expect(outcomes.contains(true) || missing["linkat"] != nil)
    }

    @Test(arguments: volumes)
    func contentIsReplacedOnlyOnRequest(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) {
            let staged = try store.stageContent(for: resource("file"), expectedLength: 1)
            _ = try staged.seal(replacing: nil, modified: nil)
            try sandbox.write("file", "theirs")
            #expect(throws: StoreError.alreadyExists) { try staged.publish(isReplacing: false) }
            #expect(sandbox.read("file") == "theirs")
        }
        #expect(sandbox.names() == ["file"])
    }

    @Test func targetsThatCannotBeContentAreRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("file")
        let store = try sandbox.store()
        #expect(throws: StoreError.missingAncestor) { try store.put("", at: resource("none/file")) }
        #expect(throws: StoreError.missingAncestor) { try store.put("", at: resource("file/file")) }
        #expect(throws: StoreError.wrongKind) { try store.put("", at: .root) }
        let staged = try store.stageContent(for: resource("folder"), expectedLength: nil)
        _ = try staged.seal(replacing: nil, modified: nil)
        #expect(throws: StoreError.wrongKind) { try staged.publish(isReplacing: true) }
        #expect(sandbox.names() == ["file", "folder"])
    }

    @Test func contentIsPublishedAtTheCurrentPath() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("a")
        let store = try sandbox.store()
        let staged = try store.stageContent(for: resource("a/file"), expectedLength: nil)
        try store.rename(resource("a"), toFree: resource("b"))
        _ = try staged.seal(replacing: nil, modified: nil)
        #expect(throws: StoreError.missingAncestor) { try staged.publish(isReplacing: false) }
        try store.createCollection(at: resource("a"))
        try staged.publish(isReplacing: false)
        #expect(sandbox.names("a") == ["file"])
        #expect(sandbox.names("b") == [])
    }

    @Test func modeAndAttributesArePreserved() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "old", mode: 0o6750)
        // One access control entry for a user, in the format of the kernel: u::rwx,u:1:r,g::r,m::r,o::-.
        let list: [UInt8] = [
            2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 4, 0, 1, 0, 0, 0, 4, 0, 4, 0, 255, 255, 255,
            255,
            16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
        ]
        let long = [UInt8](repeating: 7, count: 2000)
        do {
            let file = try sandbox.open("file")
            try file.setAttribute("user.color", to: Array("red".utf8))
            try file.setAttribute("user.long", to: long)
            try file.setAttribute("user.davit.stamp", to: long)
            try file.setAttribute("system.posix_acl_access", to: list)
        }
        let store = try sandbox.store()
        let info = try store.put("new", at: resource("file"))
        #expect(info.isExecutable)
        let file = try sandbox.open("file")
        #expect(try file.attribute("user.color") == Array("red".utf8))
        #expect(try file.attribute("user.long") == long)
        #expect(try file.attribute("user.davit.stamp") == nil)
        #expect(try file.attribute("system.posix_acl_access") == list)
        // The group bits are the mask of the list; set-user and set-group bits are removed.
        #expect(sandbox.mode(of: "file") == 0o740)
        #expect(sandbox.read("file") == "new")
    }

    @Test(arguments: volumes)
    func newContentHasTheDefaultMode(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        try sandbox.write("usual", mode: 0o666 & ~Umask.bits)
        let store = try sandbox.store()
        try withFaults(FaultPlan(failCalls: missing)) { try store.put("", at: resource("file")) }
        #expect(sandbox.mode(of: "file") == sandbox.mode(of: "usual"))
    }

    @Test(arguments: volumes)
    func replacementHasTheDefaultModeIfTheOldContentIsGone(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        try sandbox.write("usual", mode: 0o666 & ~Umask.bits)
        let store = try sandbox.store()
        let path = try resource("file")
        try withFaults(FaultPlan(failCalls: missing)) {
            let old = try store.put("old", at: path)
            let staged = try store.stageContent(
                for: ResourceLocation(path), expectedLength: 0, replaces: true)
            try store.removeContent(at: ResourceLocation(path))
            _ = try staged.seal(replacing: old, modified: nil)
            try staged.publish(isReplacing: true)
        }
        #expect(sandbox.mode(of: "file") == sandbox.mode(of: "usual"))
        #expect(sandbox.names() == ["file", "usual"])
    }

    /// Otherwise, members of the new file's group could read the content under the hidden name before the file
    /// has the group and the access control list of the old one.
    @Test(arguments: volumes)
    func hiddenReplacementIsPrivateUntilItIsSealed(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "old", mode: 0o666)
        let store = try sandbox.store()
        let path = try resource("file")
        try withFaults(FaultPlan(failCalls: missing)) {
            let old = try #require(try store.lookup(path, last: .followed, wait: .allowed).info)
            let staged = try store.stageContent(
                for: ResourceLocation(path), expectedLength: 0, replaces: true)
            let hidden = try #require(sandbox.names().first { $0 != "file" })
            #expect(sandbox.mode(of: hidden) == 0o600)
            _ = try staged.seal(replacing: old, modified: nil)
            try staged.publish(isReplacing: true)
        }
        #expect(sandbox.mode(of: "file") == 0o666)
        #expect(sandbox.names() == ["file"])
    }

    @Test func unpublishedReplacementIsRemoved() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let path = try resource("file")
        _ = try store.put("old", at: path)
        do {
            let staged = try store.stageContent(
                for: ResourceLocation(path), expectedLength: 0, replaces: true)
            #expect(try store.list("").count == 1)
            // A sweep does not remove the staged collection while it is in use.
            store.sweepLeftovers { false }
            #expect(sandbox.names().count == 2)
            _ = staged
        }
        #expect(sandbox.names() == ["file"])
        #expect(sandbox.read("file") == "old")
    }

    /// Read-only files are not replaced, although the system would allow a rename over them.
    @Test func readOnlyFilesAreNotReplaced() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "old", mode: 0o444)
        let store = try sandbox.store()
        let large = String(repeating: "x", count: 1 << 16)
        withFaults(FaultPlan(failCalls: ["faccessat": Errno.access])) {
            #expect(throws: StoreError.forbidden) { try store.put("new", at: resource("file")) }
            // Long content is refused before its first byte.
            #expect(throws: StoreError.forbidden) {
                try store.stageContent(for: resource("file"), expectedLength: Int64(large.utf8.count))
            }
        }
        #expect(sandbox.read("file") == "old")
    }

    @Test(arguments: [Timestamp(seconds: 1_000_000_000), Timestamp(seconds: -1), Timestamp(nanoseconds: 999)])
    func requestedModificationTimeIsSet(time: Timestamp) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let info = try store.put("", at: resource("file"), modified: time)
        #expect(info.modified.seconds == time.seconds)
        #expect(
            try store.lookup(resource("file"), last: .followed, wait: .allowed).info?.modified
                == info.modified)
    }

    @Test(arguments: [Timestamp(seconds: 1_000_000_000), nil], [false, true])
    func everyVersionHasItsOwnTag(time: Timestamp?, isCoarse: Bool) throws {
        let sandbox = try Sandbox(on: .memory)
        let store = try sandbox.store()
        let path = try resource("file")
        var tags = Set<EntityTag>()
        let count = isCoarse ? 2_000 : 20_000
        try withFaults(FaultPlan(cutsTimes: isCoarse)) {
            for _ in 0..<count { tags.insert(try store.put("same", at: path, modified: time).entityTag) }
            #expect(tags.count == count)
            let last = try store.open(path, wait: .allowed).info
            #expect(tags.contains(last.entityTag))
            #expect((last.stamp != 0) == isCoarse)
            // Another process finds the same entity tag.
            #expect(try sandbox.store().list("").map(\.info.entityTag) == [last.entityTag])
            #expect(
                try store.lookup(path, last: .followed, wait: .allowed).info?.entityTag == last.entityTag)
        }
    }

    @Test func fullDiskIsReportedEarly() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        #expect(throws: StoreError.outOfSpace) {
            try store.stageContent(for: resource("file"), expectedLength: 1 << 60)
        }
        try sandbox.write("file", "old")
        withFaults(FaultPlan(failCalls: ["pwrite": Errno.noSpace])) {
            #expect(throws: StoreError.outOfSpace) { try store.put("new", at: resource("file")) }
        }
        #expect(sandbox.read("file") == "old")
        #expect(sandbox.names() == ["file"])
    }

    /// Whichever call fails, either the old or the new content exists, and nothing else.
    @Test(arguments: volumes, [false, true])
    func failureLeavesTheOldOrTheNewContent(missing: [String: Int32], isReplacing: Bool) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let path = try resource("file")
        var step = 0
        var isDone = false
        while !isDone {
            step += 1
            if isReplacing { try sandbox.write("file", "old") } else { try? store.removeContent(at: path) }
            let plan = FaultPlan(failAt: (step, Errno.io), failCalls: missing)
            let result = withFaults(plan) { Result { try store.put("new", at: path) } }
            isDone = plan.count < step
            let old = isReplacing ? "old" : nil
            switch result {
            case .success: #expect(sandbox.read("file") == "new")
            case .failure: #expect(sandbox.read("file") == old || sandbox.read("file") == "new")
            }
            #expect(sandbox.isSwept(by: store))
            #expect(sandbox.names() == (sandbox.read("file") == nil ? [] : ["file"]), "step \(step)")
        }
        #expect(step > 8)
        #expect(sandbox.read("file") == "new")
    }
}

func buffer(_ text: String) -> IOBuffer {
    let buffer = IOBuffer(capacity: max(text.utf8.count, 1))
    _ = buffer.append(Array(text.utf8))
    return buffer
}
