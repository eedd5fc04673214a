import DavitHTTP
import DavitStore
import DavitSystem
import Glibc
import Testing

@testable import DavitFileStore

/// Folders in the root stay open between changes of their members. Whatever other programs do to such a folder, a
/// change takes effect where a newly opened store would make it.
@Suite(.serialized)
struct OpenFolderTests {
    /// Shell commands in a share with `folder`, which is open.
    static let changes = [
        "true",
        "mv folder other",
        "mv folder ../outside/folder",
        "mv folder other && mkdir folder",
        "rm -r folder && mkdir folder",
        "mv folder other && ln -s other folder",
        "mv folder ../outside/folder && ln -s ../outside/folder folder",
        "mv folder ../outside/folder && ln -s \"$PWD/../outside/folder\" folder",
        "mv folder other && printf 1 > folder",
        "mv folder other && mkfifo folder",
        "mv folder other && mv other folder",
    ]

    @Test(arguments: changes, Resolver.allCases)
    func replacedFolderIsNotChanged(change: String, resolver: Resolver) throws {
        for (volume, wait) in [(Volume.disk, Wait.allowed), (.memory, .allowed), (.memory, .never)] {
            // Without a call for the whole path, only the open folder can be changed without waiting.
            if wait == .never, resolver == .components { continue }
            let expected = try outcome(of: change, on: volume, resolver, wait, isOpen: false)
            let outcome = try outcome(of: change, on: volume, resolver, wait, isOpen: true)
            #expect(outcome == expected, "\(volume) \(wait)")
        }
    }

    @Test func openFolderTakesOneCall() throws {
        let sandbox = try sandbox(on: .memory)
        let store = try sandbox.store()
        try makeCollection("folder/first", in: store, .allowed)
        let plan = FaultPlan()
        try withFaults(plan) { try makeCollection("folder/second", in: store, .never) }
        #expect(plan.calls == ["statx", "statx", "mkdirat"])
    }

    @Test func deeperFolderIsNotKeptOpen() throws {
        let sandbox = try sandbox(on: .memory)
        try sandbox.makeFolder("folder/inner")
        let store = try sandbox.store()
        for name in ["first", "second"] { try makeCollection("folder/inner/\(name)", in: store, .allowed) }
        #expect(sandbox.openFileCount == 0)
    }

    @Test func openFoldersAreLimited() throws {
        let sandbox = try sandbox(on: .memory)
        let store = try sandbox.store()
        let limit = min(OpenFolder.countLimit, ResourceLimits.raiseDescriptorLimit() / 8)
        for number in 0..<limit + 10 {
            try sandbox.makeFolder("\(number)")
            try makeCollection("\(number)/member", in: store, .allowed)
        }
        // Fewer if the tests that run at the same time keep many files open: all folders have a common limit.
        #expect((1...limit).contains(sandbox.openFileCount))
        // A folder that does not stay open costs no additional call.
        let plan = FaultPlan()
        try withFaults(plan) { try makeCollection("\(limit + 9)/other", in: store, .allowed) }
        #expect(plan.calls == ["openat2", "statx", "mkdirat"])
    }

    @Test func openFoldersAreClosedWhenDescriptorsRunOut() throws {
        let sandbox = try sandbox(on: .memory)
        try sandbox.write("file")
        let store = try sandbox.store()
        try makeCollection("folder/member", in: store, .allowed)
        #expect(sandbox.openFileCount == 1)
        _ = try withFaults(FaultPlan(failAt: (1, Errno.noDescriptors))) {
            try store.open(resource("file"), wait: .allowed)
        }
        #expect(sandbox.openFileCount == 0)
    }

    @Test func unusedFoldersAreClosed() throws {
        let sandbox = try sandbox(on: .memory)
        let store = try sandbox.store()
        for name in ["first", "second"] { try makeCollection("folder/\(name)", in: store, .allowed) }
        #expect(sandbox.openFileCount == 1)
        #expect(store.closeUnusedFiles())
        #expect(!store.closeUnusedFiles())
        #expect(sandbox.openFileCount == 0)
    }

    /// Changes that remove `folder`.
    static let removals: [(name: String, change: @Sendable (FileResourceStore) throws -> Void)] = [
        ("detach", { _ = try $0.detach(ResourcePath(text: "folder")).destroy() }),
        (
            "removeEmptyCollection",
            { store in
                try store.removeEmptyCollection(at: ResourcePath(text: "folder/member"))
                try store.removeEmptyCollection(at: ResourcePath(text: "folder"))
            }
        ),
        (
            "rename",
            { store in
                let (folder, moved) = (try ResourcePath(text: "folder"), try ResourcePath(text: "moved"))
                try store.rename(folder, toFree: moved)
                _ = try store.detach(moved).destroy()
            }
        ),
        (
            "exchange",
            { store in
                let (spare, folder) = (try ResourcePath(text: "spare"), try ResourcePath(text: "folder"))
                try store.exchange(spare, folder)
                _ = try store.detach(spare).destroy()
            }
        ),
    ]

    @Test(arguments: removals.indices)
    func removedFolderIsNotKeptOpen(index: Int) throws {
        let sandbox = try sandbox(on: .memory)
        let store = try sandbox.store()
        try makeCollection("folder/member", in: store, .allowed)
        #expect(sandbox.openFileCount == 1)
        try Self.removals[index].change(store)
        #expect(sandbox.openFileCount == 0, "\(Self.removals[index].name)")
    }

    private func sandbox(on volume: Volume) throws -> Sandbox {
        let sandbox = try Sandbox(on: volume)
        try sandbox.makeFolder("folder")
        try sandbox.makeFolder("spare")
        return sandbox
    }

    /// Creates `folder/new` after other programs have changed `folder`.
    /// - Parameter isOpen: whether the store has changed members of `folder` before.
    /// - Returns: the error, if any, and where the new collection is.
    private func outcome(
        of change: String, on volume: Volume, _ resolver: Resolver, _ wait: Wait, isOpen: Bool
    ) throws -> String {
        let sandbox = try sandbox(on: volume)
        let store = try sandbox.store(resolver)
        if isOpen {
            for name in ["first", "second"] { try makeCollection("folder/\(name)", in: store, .allowed) }
            try #require(sandbox.openFileCount == 1)
        }
        #expect(unsafe system("cd '\(sandbox.share)' && { \(change); } 2>/dev/null") == 0, "\(change)")
        var outcome = ""
        do {
            try makeCollection("folder/new", in: store, wait)
        } catch {
            outcome = "\(error) "
        }
        let places = ["folder/new", "other/new", "../outside/folder/new"]
        return outcome
            + places.filter { unsafe access(sandbox.path($0), F_OK) == 0 }.joined(separator: " ")
    }

    private func makeCollection(_ path: String, in store: FileResourceStore, _ wait: Wait) throws(StoreError)
    {
        let found = try store.lookupForChange(
            ResourcePath(text: path), last: .followed, reusing: nil, wait: wait)
        guard case .unmapped = found.state else { throw .failed(reason: "\(found.state)") }
        try store.createCollection(at: found.location)
    }
}

extension ResourcePath {
    fileprivate init(text: String) throws(StoreError) {
        guard let path = ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) else {
            throw .invalidName
        }
        self = path
    }
}
