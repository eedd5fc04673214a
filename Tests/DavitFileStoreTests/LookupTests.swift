import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

struct LookupTests {
    /// `expected` is the kind or the state, and the canonical path.
    static let plain: [(path: String, expected: String)] = [
        ("", "collection /"), ("file", "content /file"), ("folder", "collection /folder"),
        ("folder/file", "content /folder/file"), ("none", "unmapped /none"),
        ("folder/none", "unmapped /folder/none"), ("none/none", "missingAncestor"),
        ("file/none", "missingAncestor"), ("fifo", "unservable"), ("fifo/none", "missingAncestor"),
    ]

    static let links: [(path: String, text: String, followed: String, itself: String)] = [
        ("relative", "folder/file", "content /folder/file", "content /relative"),
        ("dotted", "./folder/../folder/./file", "content /folder/file", "content /dotted"),
        ("slash", "folder/", "collection /folder", "content /slash"),
        ("absolute", "SHARE/folder", "collection /folder", "content /absolute"),
        ("outside", "OUTSIDE", "unservable", "unservable"),
        ("upward", "../outside", "unservable", "unservable"),
        ("etc", "/etc/passwd", "unservable", "unservable"),
        ("back", "../share/folder", "collection /folder", "content /back"),
        ("far", "../../../../../../../..SHARE/file", "content /file", "content /far"),
        ("above", "..", "unservable", "unservable"),
        ("root", ".", "collection /", "content /root"),
        ("sibling", "../share-2/file", "unservable", "unservable"),
        ("dangling", "folder/none", "unservable", "unservable"),
        ("special", "fifo", "unservable", "unservable"),
        ("chain", "relative", "content /folder/file", "content /chain"),
        ("throughFile", "file/none", "unservable", "unservable"),
        ("reserved", ".davit-aaaaaaaaaaaaaaaa", "unservable", "unservable"),
    ]

    /// Volumes reuse inode numbers of removed files.
    @Test func identityIncludesTheBirthTime() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "1")
        let info = try sandbox.store().lookup(resource("file"), last: .followed, wait: .allowed).info
        #expect(info?.identity.birth != 0)
        #expect(info?.created?.nanoseconds == info?.identity.birth)
    }

    /// The kernel does not cache missing names on volumes in memory, unlike on volumes with a disk.
    @Test func missingNameInMemoryNeedsNoWait() throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.makeFolder("folder")
        let store = try sandbox.store()
        for _ in 0..<2 {
            for path in ["none", "folder/none", "none/none"] {
                #expect(throws: StoreError.notFound) { try store.open(resource(path), wait: .never) }
            }
        }
    }

    private func sandbox(on volume: Volume = .disk) throws -> Sandbox {
        let sandbox = try Sandbox(on: volume)
        try sandbox.write("file", "1")
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/file", "22")
        try sandbox.makeSpecial("fifo")
        try sandbox.write(".davit-aaaaaaaaaaaaaaaa")
        try sandbox.write("../share-2")
        return sandbox
    }

    @Test(arguments: Resolver.allCases)
    func statesOfPathsWithoutLinksAreReturned(resolver: Resolver) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store(resolver)
        for row in Self.plain {
            #expect(try store.summary(row.path) == row.expected, "\(row.path)")
            #expect(try store.summary(row.path, .notFollowed) == row.expected, "\(row.path), itself")
        }
    }

    @Test(arguments: Resolver.allCases)
    func linksInsideTheShareAreFollowed(resolver: Resolver) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store(resolver)
        for row in Self.links {
            let text = row.text.replacing("SHARE", with: store.rootPath)
                .replacing("OUTSIDE", with: sandbox.base + "/outside")
            try sandbox.link(row.path, to: text)
        }
        for row in Self.links {
            #expect(try store.summary(row.path) == row.followed, "\(row.path)")
            #expect(try store.summary(row.path, .notFollowed) == row.itself, "\(row.path), itself")
            let canOpen = row.followed.hasPrefix("content") || row.followed.hasPrefix("collection")
            let opened = Result { try store.open(resource(row.path), wait: .allowed) }
            #expect((opened.failure == nil) == canOpen, "\(row.path)")
            guard canOpen else { continue }
            let canonical = try store.open(resource(row.path), wait: .allowed).canonicalPath
            #expect(canonical != nil && row.followed.hasSuffix(" \(canonical ?? .root)"), "\(row.path)")
        }
        #expect(try store.open(resource("folder/file"), wait: .allowed).canonicalPath == nil)
        #expect(try store.open(resource("folder"), wait: .allowed).canonicalPath == nil)
    }

    /// A symbolic link in the middle of a path: members are looked up in the folder to which the link leads.
    static let through: [(path: String, expected: String)] = [
        ("in/file", "content /folder/file"), ("in/none", "unmapped /folder/none"),
        ("in/none/none", "missingAncestor"), ("in/file/none", "missingAncestor"),
        ("out/none", "missingAncestor"), ("out", "unservable"), ("gone/none", "missingAncestor"),
        ("in/up", "collection /"), ("in/up/in/up/file", "content /file"),
        ("in/up/none", "unmapped /none"), ("in/up/fifo", "unservable"),
    ]

    @Test(arguments: Resolver.allCases)
    func pathsThroughLinksAreResolved(resolver: Resolver) throws {
        let sandbox = try sandbox()
        try sandbox.link("in", to: "folder")
        try sandbox.link("folder/up", to: "..")
        try sandbox.link("out", to: "../outside")
        try sandbox.link("gone", to: "none")
        let store = try sandbox.store(resolver)
        for row in Self.through { #expect(try store.summary(row.path) == row.expected, "\(row.path)") }
    }

    @Test(arguments: Resolver.allCases)
    func atMostFortyLinksAreFollowed(resolver: Resolver) throws {
        let sandbox = try sandbox()
        try sandbox.link("1", to: "file")
        for number in 2...41 { try sandbox.link("\(number)", to: "\(number - 1)") }
        try sandbox.link("loop", to: "loop")
        let store = try sandbox.store(resolver)
        #expect(try store.summary("40") == "content /file")
        #expect(throws: StoreError.loop) { try store.summary("41") }
        #expect(throws: StoreError.loop) { try store.summary("loop") }
        #expect(throws: StoreError.loop) { try store.summary("loop/x") }
    }

    static let reserved: [(name: String, isReserved: Bool)] = [
        (".davit-abcdefghijklmnop", true), (".davit-234567abcdefghij", true),
        (".davit-abcdefghijklmno", false), (".davit-abcdefghijklmnopq", false),
        (".davit-ABCDEFGHIJKLMNOP", false), (".davit-abcdefghijklmno1", false),
        ("davit-.abcdefghijklmnop", false), (".davit-", false), (".davit", false),
    ]

    @Test(arguments: reserved)
    func reservedNamesAreForbidden(name: String, isReserved: Bool) throws {
        let sandbox = try sandbox()
        try sandbox.makeFolder(name)
        let store = try sandbox.store()
        for path in [name, "\(name)/x", "folder/\(name)", "x/\(name)/y"] {
            let refusal = Result { try store.lookup(resource(path), last: .followed, wait: .never) }
            #expect((refusal.failure as? StoreError == .forbidden) == isReserved, "\(path)")
        }
        if isReserved {
            #expect(throws: StoreError.forbidden) { try store.put("", at: resource(name)) }
            #expect(throws: StoreError.forbidden) { try store.createCollection(at: resource(name)) }
            #expect(throws: StoreError.forbidden) { try store.open(resource(name), wait: .allowed) }
            #expect(throws: StoreError.forbidden) { try store.members(of: resource(name)) }
        }
    }

    /// Only on a volume in memory can a resource be changed without a risk of waiting for a disk.
    @Test(arguments: Volume.allCases)
    func lookupForAChangeNeedsNoWaitOnlyInMemory(volume: Volume) throws {
        let sandbox = try sandbox(on: volume)
        let store = try sandbox.store()
        let file = try resource("folder/file")
        var answers: [StoreError?] = []
        // The kernel may request a retry if names change elsewhere concurrently.
        for _ in 0..<10_000 where !answers.contains(nil) {
            _ = try store.lookup(file, last: .followed, wait: .allowed)
            do throws(StoreError) {
                let lookup = try store.lookupForChange(
                    file, last: .followed, reusing: nil, wait: .never)
                #expect(lookup.collection != nil)
                answers.append(nil)
            } catch {
                answers.append(error)
                if volume == .disk { break }
            }
        }
        #expect(answers.last == (volume == .memory ? .some(nil) : .wouldBlock))
    }

    @Test func lookupNeverWaitsIfNotAllowed() throws {
        let sandbox = try sandbox()
        try sandbox.link("link", to: "file")
        let store = try sandbox.store()
        #expect(throws: StoreError.wouldBlock) {
            try store.lookup(resource("link"), last: .followed, wait: .never)
        }
        // The kernel has cached the entry, but may still request a retry if names change elsewhere
        // concurrently.
        var answers: [String?] = []
        for _ in 0..<10_000 where answers.isEmpty {
            _ = try store.open(resource("folder/file"), wait: .allowed)
            if let opened = try? store.open(resource("folder/file"), wait: .never) {
                answers.append(content(opened))
            }
        }
        #expect(answers == ["22"])
        withFaults(FaultPlan(failCalls: ["openat2": Errno.again])) {
            #expect(throws: StoreError.wouldBlock) {
                try store.lookup(resource("file"), last: .followed, wait: .never)
            }
            #expect(throws: StoreError.wouldBlock) { try store.open(resource("file"), wait: .never) }
        }
    }

    @Test(arguments: Resolver.allCases)
    func namesOfAnyBytesAreServed(resolver: Resolver) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store(resolver)
        let longest = [UInt8](repeating: 0xE4, count: 255)
        let path = try #require(ResourcePath.root.appending(longest))
        try store.put("long", at: path)
        #expect(content(try store.open(path, wait: .allowed)) == "long")
        let tooLong = try #require(ResourcePath.root.appending(longest + [0x61]))
        #expect(throws: StoreError.nameTooLong) { try store.lookup(tooLong, last: .followed, wait: .allowed) }
        #expect(throws: StoreError.nameTooLong) { try store.createCollection(at: tooLong) }
        #expect(throws: StoreError.nameTooLong) { try store.put("", at: tooLong) }
    }

    /// The path is longer than PATH_MAX, so no single system call accepts it.
    @Test func pathsOfAnyLengthAreServed() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        var path = ResourcePath.root
        for _ in 0..<30 {
            path = try #require(path.appending([UInt8](repeating: 0x64, count: 200)))
            try store.createCollection(at: path)
        }
        let file = try #require(path.appending(Array("file".utf8)))
        try store.put("deep", at: file)
        #expect(content(try store.open(file, wait: .allowed)) == "deep")
        #expect(try store.lookup(file, last: .followed, wait: .allowed).path == file)
        #expect(try store.members(of: path).next().map(\.text) == ["file"])
    }

    @Test func errorStatesWhyAFolderCannotBeShared() throws {
        let sandbox = try sandbox()
        for (path, error) in [
            (sandbox.path("none"), FileResourceStore.RootError.missing),
            (sandbox.path("file"), .notADirectory),
        ] {
            #expect(throws: error) { try FileResourceStore(root: path) }
        }
        withFaults(FaultPlan(failCalls: ["open": Errno.access])) {
            #expect(throws: FileResourceStore.RootError.notReadable) {
                _ = try FileResourceStore(root: sandbox.share)
            }
        }
        try sandbox.link("alias", to: sandbox.share)
        #expect(try FileResourceStore(root: sandbox.path("alias")).rootPath == sandbox.store().rootPath)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
