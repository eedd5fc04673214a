import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// The synchronization calls of each level, and their order.
struct SyncTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The calls that change names, and the synchronization calls of each level between them.
        let calls: [SyncLevel: [String]]
        let run: @Sendable (FileResourceStore) throws -> Void

        /// - Parameter full: the calls at level `full`; other levels omit some of them.
        init(
            _ description: String, data: [String] = [], full: [String],
            _ run: @escaping @Sendable (FileResourceStore) throws -> Void
        ) {
            testDescription = description
            let names = full.filter { !SyncTests.waits.contains($0) }
            calls = [.none: names, .data: data.isEmpty ? names : data, .full: full]
            self.run = run
        }
    }

    static let waits = ["fsync", "syncfs"]
    static let watched = waits + ["linkat", "renameat", "renameat2", "mkdirat", "unlinkat", "fchmodat"]

    static let changes: [Change] = [
        Change("PUT, new", data: ["fsync", "linkat"], full: ["fsync", "linkat", "fsync"]) {
            try $0.put("new", at: resource("folder/new"))
        },
        Change("PUT over a file", data: ["fsync", "renameat"], full: ["fsync", "renameat", "fsync"]) {
            try $0.put("new", at: resource("file"))
        },
        Change(
            "PUT of long content over a file", data: ["fsync", "linkat", "renameat"],
            full: ["fsync", "linkat", "renameat", "fsync"]
        ) {
            try $0.put("new", at: resource("file"), isInMemory: false)
        },
        Change("MKCOL", full: ["mkdirat", "fsync"]) {
            _ = try $0.createCollection(at: resource("folder/new"))
        },
        Change("DELETE of content", full: ["unlinkat", "fsync"]) {
            try $0.removeContent(at: resource("file"))
        },
        Change("DELETE of a tree: its removal is not synchronized", full: ["renameat2", "fsync"]) {
            // The hidden tree is removed at the end; only hiding it is synchronized.
            withExtendedLifetime(try $0.detach(resource("folder"))) {}
        },
        Change("DELETE of an empty collection", full: ["unlinkat", "fsync"]) {
            try $0.removeEmptyCollection(at: resource("empty"))
        },
        Change("MOVE within a folder", full: ["renameat2", "fsync"]) {
            try $0.rename(resource("file"), toFree: resource("moved"))
        },
        Change("MOVE to another folder", full: ["renameat2", "fsync", "fsync"]) {
            try $0.rename(resource("file"), toFree: resource("folder/moved"))
        },
        Change("MOVE over", full: ["renameat", "fsync", "fsync"]) {
            try $0.rename(resource("file"), overContent: resource("folder/inner"))
        },
        Change("MOVE with exchange", full: ["renameat2", "fsync", "fsync"]) {
            try $0.exchange(resource("file"), resource("folder/inner"))
        },
        Change("COPY of content", data: ["fsync", "renameat2"], full: ["fsync", "renameat2", "fsync"]) {
            try $0.stageCopy(of: resource("file"), for: resource("copy"), includesMembers: true)
                .publish(isReplacing: false)
        },
        Change(
            "COPY of a tree: one sync for all its files", data: ["mkdirat", "syncfs", "renameat2"],
            full: ["mkdirat", "syncfs", "renameat2", "fsync"]
        ) {
            try $0.stageCopy(of: resource("folder"), for: resource("copy"), includesMembers: true)
                .publish(isReplacing: false)
        },
        Change("execute bits", full: ["fchmodat", "fsync"]) {
            try $0.setAttributes(ResourceAttributes(isExecutable: true), at: resource("file"))
        },
    ]

    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.makeFolder("empty")
        try sandbox.write("folder/inner", "1")
        try sandbox.write("folder/second", "2")
        try sandbox.write("file", "old")
        return sandbox
    }

    private func store(_ sandbox: Sandbox, _ level: SyncLevel) throws -> FileResourceStore {
        try FileResourceStore(root: sandbox.share, sync: level)
    }

    @Test(arguments: changes, SyncLevel.allCases)
    func synchronizationCallsMatchTheLevel(_ change: Change, _ level: SyncLevel) throws {
        let sandbox = try sandbox()
        let store = try store(sandbox, level)
        let plan = FaultPlan()
        try withFaults(plan) { try change.run(store) }
        // An unnamed file is linked with a second call if the first one fails because it requires a
        // privilege.
        let calls = plan.calls.filter { Self.watched.contains($0) }.reduce(into: [String]()) { calls, name in
            if name != "linkat" || calls.last != name { calls.append(name) }
        }
        #expect(calls == change.calls[level])
    }

    /// Content that cannot be synchronized must not replace the old content, and leaves no files.
    @Test(arguments: [(Errno.io, false), (Errno.noSpace, true)], [SyncLevel.data, .full])
    func unsynchronizedContentIsNotPublished(_ fault: (number: Int32, isFull: Bool), _ level: SyncLevel)
        throws
    {
        let sandbox = try sandbox()
        let store = try store(sandbox, level)
        for name in ["file", "folder/new"] {
            withFaults(FaultPlan(failCalls: ["fsync": fault.number])) {
                let error = #expect(throws: StoreError.self) { try store.put("new", at: resource(name)) }
                #expect((error == .outOfSpace) == fault.isFull)
            }
        }
        withFaults(FaultPlan(failCalls: ["syncfs": fault.number])) {
            let error = #expect(throws: StoreError.self) {
                try store.stageCopy(of: resource("folder"), for: resource("copy"), includesMembers: true)
            }
            #expect((error == .outOfSpace) == fault.isFull)
        }
        #expect(sandbox.read("file") == "old")
        #expect(sandbox.names() == ["empty", "file", "folder"])
        #expect(sandbox.names("folder") == ["inner", "second"])
    }

    /// Rows are changed after a rename, so a rename that cannot be synchronized must be undone.
    @Test func unsynchronizedRenameIsUndone() throws {
        let sandbox = try sandbox()
        let store = try store(sandbox, .full)
        for volume in FileChangeTests.volumes {
            let plan = FaultPlan(failCalls: volume.merging(["fsync": Errno.io]) { first, _ in first })
            withFaults(plan) {
                #expect(throws: StoreError.self) {
                    try store.rename(resource("file"), toFree: resource("folder/moved"))
                }
                #expect(throws: StoreError.self) {
                    try store.rename(resource("folder"), toFree: resource("moved"))
                }
                #expect(throws: StoreError.self) { try store.detach(resource("folder")) }
            }
            #expect(sandbox.names() == ["empty", "file", "folder"])
            #expect(sandbox.names("folder") == ["inner", "second"])
        }
        withFaults(FaultPlan(failCalls: ["fsync": Errno.io])) {
            #expect(throws: StoreError.self) {
                try store.exchange(resource("file"), resource("folder/inner"))
            }
            #expect(throws: StoreError.self) {
                try store.setAttributes(
                    ResourceAttributes(isExecutable: true, modified: Timestamp(seconds: 1_000_000)),
                    at: resource("file"))
            }
            #expect(throws: StoreError.self) {
                try store.setAttributes(ResourceAttributes(isExecutable: true), at: resource("file"))
            }
        }
        #expect(sandbox.read("file") == "old")
        #expect(sandbox.read("folder/inner") == "1")
        #expect(sandbox.mode(of: "file") == 0o644)
    }

    /// A user may be allowed to write to a folder without being allowed to list it. The status must not be
    /// 403 then.
    @Test func unreadableFolderIsSynchronized() throws {
        let sandbox = try sandbox()
        let store = try store(sandbox, .full)
        let change = { _ = try store.createCollection(at: resource("folder/new")) }
        let plan = FaultPlan()
        try withFaults(plan, change)
        let opening = try #require(plan.calls.lastIndex(of: "openat"))
        try store.removeEmptyCollection(at: resource("folder/new"))
        let refused = FaultPlan(failAt: (opening + 1, Errno.access))
        try withFaults(refused, change)
        #expect(refused.calls.suffix(2) == ["openat", "syncfs"])
        #expect(sandbox.names("folder") == ["inner", "new", "second"])
    }

    /// Some network volumes do not support synchronization of directories.
    @Test func volumeWithoutFolderSynchronizationIsServed() throws {
        let sandbox = try sandbox()
        let store = try store(sandbox, .full)
        try withFaults(FaultPlan(failCalls: ["fsync": Errno.invalid])) {
            _ = try store.createCollection(at: resource("new"))
        }
        #expect(sandbox.names() == ["empty", "file", "folder", "new"])
    }
}
