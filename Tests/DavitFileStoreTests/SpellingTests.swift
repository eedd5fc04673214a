import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Canonical equivalence of names, on volumes that compare bytes only.
struct SpellingTests {
    private static let one = "\u{FC}"
    private static let two = "u\u{308}"

    /// Returns the names of the system calls that `body` makes.
    private func calls(_ body: () throws -> Void) throws -> [String] {
        let plan = FaultPlan()
        try FileFaults.$plan.withValue(plan, operation: body)
        return plan.calls
    }

    @Test(arguments: Resolver.allCases, Volume.allCases)
    func equivalentNamesAreFoundInEverySegment(resolver: Resolver, volume: Volume) throws {
        let sandbox = try Sandbox(on: volume)
        try sandbox.makeFolder(Self.one)
        try sandbox.write(Self.one + "/" + Self.two, "x")
        let store = try sandbox.store(resolver)
        for outer in [Self.one, Self.two] {
            for inner in [Self.one, Self.two] {
                let asked = try resource(outer + "/" + inner)
                let found = try store.lookup(asked, last: .followed, wait: .allowed).path
                #expect(Array(found.bytes) == Array((Self.one + "/" + Self.two).utf8))
                #expect(content(try store.open(asked, wait: .allowed)) == "x")
                let change = try store.lookupForChange(
                    asked, last: .notFollowed, reusing: nil, wait: .allowed)
                #expect(change.path == found)
            }
            // The path of a missing resource has its parents as stored, and its name as requested.
            let free = try store.lookup(resource(outer + "/o\u{308}"), last: .followed, wait: .allowed)
            #expect(Array(free.path.bytes) == Array((Self.one + "/o\u{308}").utf8))
        }
    }

    @Test func namesInASCIIHaveNoExtraCost() throws {
        let sandbox = try Sandbox()
        try sandbox.write(Self.one)
        let store = try sandbox.store()
        let absent = try calls { _ = try store.lookup(resource("u"), last: .followed, wait: .allowed) }
        #expect(absent == ["statx", "statx"])
        let present = try calls { _ = try store.lookup(resource(Self.one), last: .followed, wait: .allowed) }
        #expect(present == ["statx"])
    }

    /// The folder is read for the first missing name only.
    @Test func folderIsReadOnce() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        let store = try sandbox.store()
        func reads(_ name: String) throws -> Int {
            try calls {
                _ = try store.lookup(resource("folder/" + name), last: .followed, wait: .allowed)
            }.count { $0 == "getdents64" }
        }
        #expect(try reads(Self.one) > 0)
        for number in 0..<10 {
            #expect(try reads(Self.one + "\(number)") == 0)
            try store.put("x", at: resource("folder/" + Self.two + "\(number)"))
            try sandbox.write("folder/o\u{308}\(number)")
            #expect(try store.summary("folder/\u{F6}\(number)").hasPrefix("content"))
        }
        #expect(try reads(Self.one) == 0)
        // The event loop never reads a folder.
        #expect(throws: StoreError.wouldBlock) {
            try store.lookup(resource("folder/" + Self.one), last: .followed, wait: .never)
        }
    }

    /// Without a watch, only the modification times of folders are available, which are too recent to be
    /// trusted.
    @Test func folderIsReadAgainWithoutAWatch() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        for number in 0..<20 {
            let plan = FaultPlan(failCalls: ["inotify_init1": EMFILE])
            try FileFaults.$plan.withValue(plan) { () throws in
                #expect(try store.summary(Self.two + "\(number)").hasPrefix("unmapped"))
                try sandbox.write(Self.one + "\(number)")
                #expect(try store.summary(Self.two + "\(number)").hasPrefix("content"))
            }
        }
    }

    /// Causes more events than the kernel queues without a reader.
    @Test func folderIsReadAgainAfterLostEvents() throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.write("a")
        let store = try sandbox.store()
        #expect(try store.summary(Self.one).hasPrefix("unmapped"))
        for _ in 0..<9_000 {
            unsafe rename(sandbox.path("a"), sandbox.path("b"))
            unsafe rename(sandbox.path("b"), sandbox.path("a"))
        }
        try sandbox.write(Self.two)
        #expect(try store.summary(Self.one).hasPrefix("content"))
        try sandbox.write("o\u{308}")
        #expect(try store.summary("\u{F6}").hasPrefix("content"))
    }

    /// Uses more folders than are cached, and replaces each of them.
    @Test func evictedFolderIsReadAgain() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        for _ in 0..<2 {
            for number in 0..<100 {
                if sandbox.status("\(number)") == nil { try sandbox.makeFolder("\(number)") }
                #expect(try store.summary("\(number)/\(Self.one)").hasPrefix("unmapped"))
            }
        }
        for number in 0..<100 {
            try sandbox.write("\(number)/\(Self.two)")
            #expect(try store.summary("\(number)/\(Self.one)").hasPrefix("content"))
            #expect(store.detachAndDestroy("\(number)") == [])
            try sandbox.makeFolder("\(number)")
            #expect(try store.summary("\(number)/\(Self.one)").hasPrefix("unmapped"))
        }
    }

    /// If several spellings exist, an exact match is used. After the exact spelling is removed, a request for
    /// it finds one of the others.
    @Test func firstOfSeveralSpellingsIsUsed() throws {
        let sandbox = try Sandbox()
        let spellings = ["\u{1D7}", "\u{DC}\u{301}", "U\u{308}\u{301}"]
        for spelling in spellings { try sandbox.write(spelling, spelling) }
        let store = try sandbox.store()
        for spelling in spellings {
            #expect(try content(store.open(resource(spelling), wait: .allowed)) == spelling)
        }
        for gone in [2, 1, 0] {
            unsafe unlink(sandbox.path(spellings[gone]))
            let left = spellings[..<gone].last
            let found = try store.lookup(resource(spellings[gone]), last: .followed, wait: .allowed)
            #expect((found.info != nil) == (left != nil))
            if left != nil { #expect(found.path.bytes != Array(spellings[gone].utf8)) }
        }
    }

    @Test func unreadableFolderIsSearchedByExactName() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/" + Self.one)
        let store = try sandbox.store()
        let plan = FaultPlan(failCalls: ["getdents64": EACCES])
        try FileFaults.$plan.withValue(plan) { () throws in
            #expect(try store.summary("folder/" + Self.one).hasPrefix("content"))
            #expect(try store.summary("folder/" + Self.two).hasPrefix("unmapped"))
        }
    }

    /// Hard links are separate names: renaming one over the other removes the former.
    @Test func hardLinksAreSeparateEntries() throws {
        let sandbox = try Sandbox()
        try sandbox.write("a", "x")
        try sandbox.hardLink("a", "b")
        let store = try sandbox.store()
        #expect(try !store.refersToSameEntry(resource("a"), resource("b")))
        #expect(try !store.refersToSameEntry(resource("a"), resource("a")))
        #expect(throws: StoreError.alreadyExists) { try store.rename(resource("a"), toFree: resource("b")) }
        try store.rename(resource("a"), overContent: resource("b"))
        #expect(sandbox.names() == ["b"])
        #expect(sandbox.read("b") == "x")
    }

    static let ages: [(seconds: Int64, isCurrent: Bool)] = [
        (-10, false), (0, false), (2, false), (3, false), (4, true), (1_000_000, true),
    ]

    /// Without a watch, a missing name is cached only if the folder had not changed for some time before it
    /// was read.
    @Test(arguments: ages)
    func modificationTimeIsTrustedOnlyForOldFolders(age: (seconds: Int64, isCurrent: Bool)) throws {
        let sandbox = try Sandbox()
        var status = try #require(sandbox.status("."))
        (status.modified, status.changed) = (1_000_000_000, 2_000_000_000)
        var index = NameIndex(watch: nil)
        #expect(!index.isCurrent(status))
        index.complete(with: [], status: status, at: 2_000_000_000 + age.seconds * 1_000_000_000)
        #expect(index.isCurrent(status) == age.isCurrent)
        status.changed += 1
        #expect(!index.isCurrent(status))
    }

    /// Above the limit, the least recently used folder is evicted, and then read again.
    @Test func cachedFoldersAreLimited() throws {
        let sandbox = try Sandbox()
        for number in 0...64 { try sandbox.makeFolder("\(number)") }
        let store = try sandbox.store()
        func isRead(_ number: Int) throws -> Bool {
            try calls {
                _ = try store.lookup(resource("\(number)/\(Self.one)"), last: .followed, wait: .allowed)
            }.contains("getdents64")
        }
        for number in 0..<64 { #expect(try isRead(number)) }
        for number in 0..<64 { #expect(try !isRead(number)) }
        #expect(try isRead(64))
        #expect(try isRead(0))
        #expect(try !isRead(64))
    }

    /// A folder with more non-ASCII names than can be cached in total is read each time.
    @Test func cachedNamesAreLimited() throws {
        let sandbox = try Sandbox(on: .memory)
        let store = try sandbox.store()
        func isRead(_ name: String) throws -> Bool {
            try calls {
                _ = try store.lookup(resource(name), last: .followed, wait: .allowed)
            }.contains("getdents64")
        }
        for number in 0..<131_072 { try sandbox.write("\u{E4}\(number)") }
        #expect(try isRead(Self.one))
        #expect(try !isRead(Self.two))
        try sandbox.write("\u{E4}more")
        let other = try sandbox.store()
        for _ in 0..<2 {
            #expect(
                try calls {
                    _ = try other.lookup(resource(Self.one), last: .followed, wait: .allowed)
                }.contains("getdents64"))
        }
    }
}
