import DavitHTTP
import DavitSQLite
import DavitStore
import DavitWebDAV
import Testing

struct QueryPlanTests {
    /// Every query and every change uses an index, without sorting.
    @Test func everyStatementUsesAnIndex() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        #expect(store.invalidStatementCount == 0)
        var changes: [StateChange] = []
        for number in 0..<300 {
            changes += setting("a/b\(number % 7)/c\(number)") + adding("urn:\(number)", to: "x/\(number)")
        }
        try store.apply(changes)
        #expect(store.scanSteps == 0)

        #expect(try store.record(at: path("a/b0/c0")) != nil)
        #expect(
            try store.records(at: [path("a/b1/c1"), path("a/none"), path("a/b0/c0")]).map { $0 != nil } == [
                true, false, true,
            ])
        #expect(try store.records(under: path("a")).count == 300)
        let upload = UploadRecord(
            id: "a", collection: path("a/b2"), name: [97], stagedName: [98], identity: identity,
            principal: nil, fieldLines: [], options: [],
            progress: UploadRecord.Progress(length: nil, expiry: Timestamp(seconds: 1)))
        try store.apply([
            .removeProperty(path("a/b1/c1"), .init(namespace: "", local: "p")),
            .refreshLock(
                .init(uri: "urn:1"), root: path("x/1"), timeoutSeconds: 1, expiry: Timestamp(seconds: 1)),
            .removeLock(.init(uri: "urn:2"), root: path("x/2")),
            .removeExpiredLock(.init(uri: "urn:1"), root: path("x/1"), now: Timestamp(seconds: 2)),
            .removeLocks(under: path("x/3")), .removeRows(under: path("a/b2")),
            .moveRows(from: path("a/b3"), to: path("z")),
            .bind(path("z/c3"), current: identity, pending: nil),
            .putRecord(path("y"), PropertyRecord(binding: Binding(identity: identity), properties: [])),
            .dropIntent(id: 1), .putUpload(upload), .removeUpload(id: "b"),
            .setUploadProgress(id: "a", upload.progress),
        ])
        #expect(store.scanSteps == 0)
    }

    /// The cost of a change is independent of the number of other locks and properties.
    @Test func costIsIndependentOfOtherRows() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        func cost(_ changes: [StateChange]) throws -> Int {
            let before = store.steps
            try store.apply(changes)
            return store.steps - before
        }
        func costs(_ name: String) throws -> [Int] {
            let token = LockToken(uri: "urn:\(name)")
            return [
                try cost(adding("urn:\(name)", to: name)),
                try cost([
                    .refreshLock(token, root: path(name), timeoutSeconds: 1, expiry: Timestamp(seconds: 1))
                ]),
                try cost([.removeExpiredLock(token, root: path(name), now: Timestamp(seconds: 0))]),
                try cost([.removeLock(token, root: path(name))]),
                try cost(setting(name)), try cost(setting(name, "2")),
            ]
        }
        let alone = try costs("a")
        try store.apply((0..<10_000).flatMap { adding("urn:x\($0)", to: "other/\($0)") + setting("m/\($0)") })
        #expect(try costs("b") == alone)
        #expect(alone.allSatisfy { $0 > 0 })
    }

    /// A transaction leaves no unused binding.
    @Test func unusedBindingsAreRemoved() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        try store.apply(setting("a") + setting("a/b") + adding("urn:1", to: "a/c") + adding("urn:2", to: "d"))
        try store.apply([.moveRows(from: path("a"), to: path("e"))])
        try store.apply([.bind(path("free"), current: identity, pending: nil)])
        try store.apply([.removeProperty(path("e/b"), .init(namespace: "", local: "p"))])
        try store.apply([.removeLock(.init(uri: "urn:2"), root: path("d"))])
        let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        #expect(try connection.texts("SELECT CAST(parent || name AS TEXT) FROM resource") == ["/e"])
    }
}
