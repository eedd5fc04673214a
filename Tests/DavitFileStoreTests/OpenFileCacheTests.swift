import DavitHTTP
import DavitStore
import DavitSystem
import Glibc
import Synchronization
import Testing

@testable import DavitFileStore

/// Files that are requested repeatedly stay open. Whatever other processes do to them, the result equals that
/// of a newly opened store.
@Suite(.serialized)
struct OpenFileCacheTests {
    /// Shell commands in a share with `file`, `folder/inner/file`, `alias` (a hard link to the first) and
    /// `spare`. In the commands, @ is the path of an open file and % its folder.
    static let changes: [String] = [
        "printf 2222 | dd of=@ conv=notrunc",
        "printf 22 > @",
        ": > @",
        "printf 55555 >> @",
        "printf 2222 > spare && mv spare @",
        "mv spare @",
        "ln -f spare @",
        "rm @",
        "rm @ && printf 2222 > @",
        "rm @ && mkdir @",
        "rm @ && mkfifo @",
        "mv @ moved && ln -s \"$PWD/moved\" @",
        "mv @ ../outside/file && ln -s \"$PWD/../outside/file\" @",
        "chmod 000 @",
        "chmod 755 @",
        "touch -d 2001-09-09 @",
        // Writes of the same length, with the modification time restored.
        "touch -r @ spare && printf 2222 > @ && touch -r spare @",
        // Writes through a hard link, also with the modification time restored.
        "printf 2222 > alias",
        "touch -r @ spare && printf 2222 > alias && touch -r spare alias",
        "mv folder ../outside/folder",
        "mv folder ../outside/folder && ln -s ../outside/folder folder",
        "mv folder ../outside/folder && ln -s \"$PWD/../outside/folder\" folder",
        "mv folder other && ln -s other folder",
        "mv folder/inner folder/other && ln -s other folder/inner",
        "mv folder other && mkdir -p folder/inner && printf 2222 > folder/inner/file",
        "mv folder other && mkdir -p folder/inner && ln other/inner/file folder/inner/file",
        "mv folder other && mkfifo folder",
        "mv folder other && mv other folder",
        "mv %/file %/other && mv %/other %/file",
    ]

    static let paths = ["file", "folder/inner/file"]

    @Test(arguments: changes, Resolver.allCases)
    func changeIsVisibleImmediately(change: String, resolver: Resolver) throws {
        for path in Self.paths {
            let sandbox = try sandbox()
            let store = try sandbox.store(resolver)
            try requireKept(path, in: store)
            sandbox.shell(
                change.replacing("@", with: path).replacing("%/", with: path.dropLast("file".count)))
            let expected = outcome(of: path, in: try sandbox.store(resolver))
            for time in 1...4 {
                #expect(outcome(of: path, in: store) == expected, "\(path), time \(time)")
            }
        }
    }

    /// The kernel does not update the time of a file for a write through a memory map that has been written
    /// to before.
    @Test(arguments: Volume.allCases)
    func memoryMappedWriteIsVisibleImmediately(volume: Volume) throws {
        let sandbox = try sandbox(on: volume)
        let file = unsafe open(sandbox.path("file"), O_RDWR)
        let map = unsafe mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        let isMapped = unsafe map != MAP_FAILED
        try #require(isMapped)
        defer {
            unsafe munmap(map, 4)
            close(file)
        }
        let store = try sandbox.store()
        for digit in "23456789" {
            try requireKept("file", in: store)
            if let map = unsafe map { unsafe memset(map, Int32(digit.asciiValue ?? 0), 4) }
            let opened = try store.open(resource("file"), wait: .never)
            #expect(content(opened) == String(repeating: digit, count: 4))
        }
    }

    @Test func unchangedFileIsOpenedWithOneOrTwoCalls() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        for path in Self.paths { try requireKept(path, in: store) }
        let plan = FaultPlan()
        try withFaults(plan) {
            for path in Self.paths { _ = try store.open(resource(path), wait: .never) }
        }
        #expect(plan.calls == ["statx", "openat2", "statx"])
    }

    @Test func fileReadOnceIsNotKeptOpen() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try sandbox.makeFolder("many")
        for number in 0..<50 { try sandbox.write("many/\(number)") }
        for number in 0..<50 { _ = try store.open(resource("many/\(number)"), wait: .allowed) }
        #expect(sandbox.openFileCount == 0)
    }

    @Test func fileOpenedThroughALinkIsNotKeptOpen() throws {
        let sandbox = try sandbox()
        try sandbox.link("link", to: "file")
        let store = try sandbox.store()
        for _ in 0..<5 { _ = try store.open(resource("link"), wait: .allowed) }
        #expect(sandbox.openFileCount == 0)
    }

    /// The number of files that stay open at most.
    private let limit = min(CachedOpenFile.countLimit, ResourceLimits.raiseDescriptorLimit() / 8)

    /// Not at the same time as the next test: all caches of a process have a common limit.
    @Test func openFilesAreLimited() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let count = limit + limit / 2
        for number in 0..<count { try sandbox.write("\(number)") }
        for number in 0..<count {
            for _ in 0..<3 { _ = try store.open(resource("\(number)"), wait: .allowed) }
            _ = try store.open(resource("file"), wait: .allowed)
        }
        // A few are not recognized as requested before.
        #expect((limit - limit / 50...limit).contains(sandbox.openFileCount))
        let plan = FaultPlan()
        try withFaults(plan) { _ = try store.open(resource("file"), wait: .never) }
        #expect(plan.calls == ["statx"])
    }

    @Test func repeatedScanFindsFilesOpen() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let count = limit + limit / 2
        for number in 0..<count { try sandbox.write("\(number)") }
        func scan() throws {
            for number in 0..<count { _ = try store.open(resource("\(number)"), wait: .allowed) }
        }
        for _ in 0..<4 { try scan() }
        let plan = FaultPlan()
        try withFaults(plan) { try scan() }
        let openCount = plan.calls.count { $0 == "openat2" || $0 == "openat" }
        #expect(openCount < count / 2)
    }

    @Test func unusedFilesAreClosed() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        for path in Self.paths { try requireKept(path, in: store) }
        sandbox.shell("rm -r file folder")
        #expect(sandbox.openFileCount == 2)
        #expect(store.closeUnusedFiles())
        #expect(!store.closeUnusedFiles())
        #expect(sandbox.openFileCount == 0)
    }

    /// Changes that remove or replace `folder/inner/file`, after which its space is immediately available.
    static let removals: [(name: String, change: @Sendable (FileResourceStore) throws -> Void)] = [
        ("removeContent", { try $0.removeContent(at: resource("folder/inner/file")) }),
        (
            "rename over",
            { try $0.rename(resource("spare"), overContent: resource("folder/inner/file")) }
        ),
        (
            "publish",
            { store in
                let path = try resource("folder/inner/file")
                let staged = try store.stageContent(for: path, expectedLength: 0)
                let old = try store.lookup(path, last: .notFollowed, wait: .allowed).info
                _ = try staged.seal(replacing: old, modified: nil)
                try staged.publish(isReplacing: true)
            }
        ),
        ("detach", { _ = try $0.detach(resource("folder")).destroy() }),
        (
            "exchange",
            { store in
                try store.exchange(resource("spare"), resource("folder"))
                _ = try store.detach(resource("spare")).destroy()
            }
        ),
    ]

    @Test(arguments: removals.indices)
    func removedFileIsNotKeptOpen(index: Int) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try requireKept("folder/inner/file", in: store)
        #expect(sandbox.openFileCount == 1)
        try Self.removals[index].change(store)
        #expect(sandbox.openFileCount == 0, "\(Self.removals[index].name)")
    }

    /// - Parameter isIdle: whether the cached file has not been used since the last maintenance.
    @Test(arguments: [false, true])
    func cachedFilesAreClosedWhenDescriptorsRunOut(isIdle: Bool) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try requireKept("file", in: store)
        if isIdle { #expect(store.closeUnusedFiles()) }
        let opened = try withFaults(FaultPlan(failAt: (1, Errno.noDescriptors))) {
            try store.open(resource("spare"), wait: .allowed)
        }
        #expect(content(opened) == "0000")
        // Only the file that was just opened is still open.
        #expect(sandbox.openFileCount == 1)
        #expect(throws: StoreError.busy) {
            try withFaults(FaultPlan(failAt: (1, Errno.noDescriptors))) {
                try store.open(resource("spare"), wait: .allowed)
            }
        }
    }

    /// While a file is repeatedly replaced, readers must never get content that was replaced before their
    /// request.
    @Test(arguments: ["mv", "write"])
    func replacedContentIsNeverRead(way: String) async throws {
        let sandbox = try sandbox(on: .memory)
        let store = try sandbox.store()
        try sandbox.write("file", "10000")
        let latest = Atomic<Int>(10_000)
        let isOver = Atomic<Bool>(false)
        let paths = (file: sandbox.path("file"), new: sandbox.path("new"))
        let readers = Latch(count: 2)
        let asked = try resource("file")
        for _ in 0..<2 {
            try SystemThread.start(named: "reader") {
                while !isOver.load(ordering: .acquiring) {
                    let known = latest.load(ordering: .acquiring)
                    let opened = try? store.open(asked, wait: .allowed)
                    let number = opened.flatMap(content).flatMap { Int($0) } ?? 0
                    #expect(number >= known)
                }
                readers.countDown()
            }
        }
        for number in 10_001...12_000 {
            let text = Array("\(number)".utf8)
            let name = way == "mv" ? paths.new : paths.file
            let file = unsafe open(name, O_WRONLY | O_CREAT, 0o644)
            #expect(unsafe pwrite(file, text, text.count, 0) == text.count)
            close(file)
            if way == "mv" { #expect(unsafe rename(paths.new, paths.file) == 0) }
            latest.store(number, ordering: .releasing)
        }
        isOver.store(true, ordering: .releasing)
        readers.wait()
    }

    private func sandbox(on volume: Volume = .disk) throws -> Sandbox {
        let sandbox = try Sandbox(on: volume)
        try sandbox.write("file", "1111")
        try sandbox.hardLink("file", "alias")
        try sandbox.write("spare", "0000")
        try sandbox.makeFolder("folder")
        try sandbox.makeFolder("folder/inner")
        try sandbox.write("folder/inner/file", "1111")
        return sandbox
    }

    /// Opens the file repeatedly, and requires that the store keeps it open.
    private func requireKept(_ path: String, in store: FileResourceStore) throws {
        for _ in 0..<2 { _ = try store.open(resource(path), wait: .allowed) }
        let first = try store.open(resource(path), wait: .allowed).content?.file
        let second = try store.open(resource(path), wait: .allowed).content?.file
        try #require(first != nil && first === second)
    }

    /// Returns what a GET would return.
    private func outcome(of path: String, in store: FileResourceStore) -> String {
        do throws(StoreError) {
            let opened = try store.open(try path.resource(), wait: .allowed)
            guard let content = opened.content else { return "collection" }
            let fields = String(decoding: content.head.fields.encoded, as: UTF8.self)
            return "\(DavitFileStoreTests.content(opened) ?? "") \(opened.info) \(fields)"
        } catch {
            return "\(error)"
        }
    }
}

extension String {
    fileprivate func resource() throws(StoreError) -> ResourcePath {
        guard let path = ResourcePath(segments: utf8.split(separator: UInt8(ascii: "/"))) else {
            throw .invalidName
        }
        return path
    }
}

extension Sandbox {
    /// Runs shell commands in the share.
    fileprivate func shell(_ commands: String) {
        #expect(unsafe system("cd '\(share)' && { \(commands); } 2>/dev/null") == 0, "\(commands)")
    }
}
