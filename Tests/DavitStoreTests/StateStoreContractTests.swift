import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

struct StateStoreContractTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let transactions: [[StateChange]]
        var records: [ResourcePath: PropertyRecord] = [:]
        var locks: [(Lock, Binding)] = []
        var intents: [RenameIntent] = []
        var uploads: [UploadRecord] = []

        init(
            _ description: String, _ transactions: [[StateChange]],
            records: [String: PropertyRecord] = [:], locks: [(Lock, Binding)] = [],
            intents: [RenameIntent] = [],
            uploads: [UploadRecord] = []
        ) {
            testDescription = description
            self.transactions = transactions
            for (text, record) in records { self.records[path(text)] = record }
            self.locks = locks
            self.intents = intents
            self.uploads = uploads
        }
    }

    static func bind(_ text: String, _ inode: UInt64, pending: UInt64? = nil) -> StateChange {
        .bind(path(text), current: identity(inode), pending: pending.map(identity))
    }

    static func set(_ text: String, _ name: String, _ value: String) -> StateChange {
        .setProperty(path(text), property(name, value))
    }

    static func removeProperty(_ text: String, _ name: String) -> StateChange {
        .removeProperty(path(text), PropertyName(namespace: "urn:x", local: name))
    }

    static func refresh(_ token: String, _ root: String) -> StateChange {
        .refreshLock(
            LockToken(uri: "urn:uuid:\(token)"), root: path(root), timeoutSeconds: 100,
            expiry: .init(seconds: 9))
    }

    static func remove(_ token: String, _ root: String) -> StateChange {
        .removeLock(LockToken(uri: "urn:uuid:\(token)"), root: path(root))
    }

    static func expire(_ token: String, _ root: String, now: Int64) -> StateChange {
        .removeExpiredLock(
            LockToken(uri: "urn:uuid:\(token)"), root: path(root), now: Timestamp(seconds: now))
    }

    static func binding(_ inode: UInt64, pending: UInt64? = nil) -> Binding {
        Binding(identity: identity(inode), pending: pending.map(identity))
    }

    static let intent = RenameIntent(
        id: 7, source: path("a"), destination: path("b/c"), moved: identity(1 << 59), replaced: nil,
        isCopy: false)
    static let copyIntent = RenameIntent(
        id: 3, source: path(".x"), destination: path("b"), moved: identity(1), replaced: identity(2),
        isCopy: true)
    static let moveIntent = RenameIntent(
        id: 5, source: path(".x"), destination: path("b"), moved: identity(1), replaced: nil, isCopy: true,
        origin: RenameIntent.Origin(path: path("a/b"), identity: identity(1 << 58)))
    static let patchIntent = RenameIntent(
        id: 9, source: path("a"), destination: path("a"), moved: identity(1), replaced: nil, isCopy: false,
        attributes: ResourceAttributes(isExecutable: false, modified: Timestamp(nanoseconds: -5)))
    static let timeIntent = RenameIntent(
        id: 11, source: path("a"), destination: path("a"), moved: identity(1), replaced: nil, isCopy: false,
        attributes: ResourceAttributes(modified: Timestamp(seconds: 7)))
    static let keepingIntent = RenameIntent(
        id: 13, source: path("a"), destination: path("b"), moved: identity(1), replaced: identity(2),
        isCopy: false, kept: path(".t/x"))
    static let languageIntent = RenameIntent(
        id: 14, source: path("a"), destination: path("a"), moved: identity(1), replaced: nil, isCopy: false,
        contentLanguage: "da, en")
    static let removalIntent = RenameIntent(
        id: 15, source: path("a"), destination: path("a"), moved: identity(1), replaced: nil, isCopy: false,
        contentLanguage: "")

    static let properties: [Case] = [
        Case(
            "a property replaces one with the same name (RFC 4918 §9.2)",
            [[bind("a", 1), set("a", "p", "1"), set("a", "q", "2")], [bind("a", 1), set("a", "p", "3")]],
            records: ["a": record(binding(1), property("p", "3"), property("q", "2"))]),
        Case(
            "properties are ordered by name, not by insertion",
            [[bind("a", 1), set("a", "z", "1"), set("a", "B", "2"), set("a", "a", "3")]],
            records: [
                "a": record(binding(1), property("B", "2"), property("a", "3"), property("z", "1"))
            ]),
        Case(
            "removing a missing property is not an error (§14.23)",
            [[bind("a", 1), set("a", "p", "1"), removeProperty("a", "q"), removeProperty("b", "p")]],
            records: ["a": record(binding(1), property("p", "1"))]),
        Case(
            "removing the last property removes the record; setting one creates it",
            [
                [bind("a", 1), set("a", "p", "1"), bind("b", 2), set("b", "p", "1")],
                [bind("a", 1), removeProperty("a", "p"), removeProperty("b", "p"), set("b", "q", "2")],
            ],
            records: ["b": record(binding(2), property("q", "2"))]),
        Case(
            "the root has properties and is not a member of itself",
            [[bind("", 1), set("", "p", "1")]], records: ["": record(binding(1), property("p", "1"))]),
        Case(
            "a new resource at the path inherits nothing; members are unchanged",
            [
                [bind("a", 1), set("a", "p", "1"), bind("a/b", 2), set("a/b", "p", "1")],
                [bind("a", 1), .addLock(lock("1", "a")), bind("a/b", 2), .addLock(lock("2", "a/b"))],
                [bind("a", 3), set("a", "q", "2")],
            ],
            records: [
                "a": record(binding(3), property("q", "2")), "a/b": record(binding(2), property("p", "1")),
            ],
            locks: [(lock("2", "a/b"), binding(2))]),
        Case(
            "rows apply to the pending identity, which becomes current",
            [
                [bind("a", 1), set("a", "p", "1")], [bind("a", 1, pending: 2)],
                [bind("a", 2), set("a", "q", "2")],
            ],
            records: ["a": record(binding(2), property("p", "1"), property("q", "2"))]),
        Case(
            "a dropped pending identity is no longer valid",
            [[bind("a", 1), set("a", "p", "1")], [bind("a", 1, pending: 2)], [bind("a", 1)], [bind("a", 2)]]),
        Case(
            "a reused inode with a different birth time is a new resource",
            [
                [bind("a", 1), set("a", "p", "1")],
                [.bind(path("a"), current: ResourceIdentity(inode: 1, birth: 99), pending: nil)],
            ]),
        Case(
            "a record replaces binding and properties; locks remain",
            [
                [bind("a", 1), set("a", "p", "1"), .addLock(lock("1", "a"))],
                [.putRecord(path("a"), record(binding(5, pending: 6), property("q", "2")))],
            ],
            records: ["a": record(binding(5, pending: 6), property("q", "2"))],
            locks: [(lock("1", "a"), binding(5, pending: 6))]),
        Case(
            "an empty record removes the stored one",
            [[bind("a", 1), set("a", "p", "1")], [.putRecord(path("a"), record(binding(5)))]]),
    ]

    static let subtrees: [Case] = [
        Case(
            "removing rows removes the subtree, but no adjacent names",
            [
                ["a", "a/b", "a/b/c", "a-b", "a0", "ab", "b"].flatMap { [bind($0, 1), set($0, "p", "1")] },
                [bind("a/b", 1), .addLock(lock("1", "a/b")), bind("a0", 1), .addLock(lock("2", "a0"))],
                [.removeRows(under: path("a"))],
            ],
            records: [
                "a-b": record(binding(1), property("p", "1")), "a0": record(binding(1), property("p", "1")),
                "ab": record(binding(1), property("p", "1")), "b": record(binding(1), property("p", "1")),
            ],
            locks: [(lock("2", "a0"), binding(1))]),
        Case(
            "removing rows under the root removes everything except intents",
            [
                [bind("", 1), set("", "p", "1"), bind("a/b", 2), set("a/b", "p", "1"), .putIntent(intent)],
                [.removeRows(under: .root)],
            ], intents: [intent]),
        Case(
            "removing locks removes those of the subtree and keeps properties",
            [
                [
                    bind("a/b", 1), set("a/b", "p", "1"), .addLock(lock("1", "a/b")), bind("a", 2),
                    .addLock(lock("2", "a")), bind("ab", 3), .addLock(lock("3", "ab")),
                ],
                [.removeLocks(under: path("a"))],
            ],
            records: ["a/b": record(binding(1), property("p", "1"))],
            locks: [(lock("3", "ab"), binding(3))]),
        Case(
            "rows move with their subtree and replace existing ones; locks do not move (§7.5)",
            [
                [
                    bind("a", 1), set("a", "p", "1"), bind("a/b", 2, pending: 3), set("a/b", "p", "2"),
                    bind("x/y", 4), set("x/y", "q", "3"), bind("x/y/z", 5), set("x/y/z", "q", "4"),
                ],
                [
                    bind("a/b", 2, pending: 3), .addLock(lock("1", "a/b")), bind("x", 6),
                    .addLock(lock("2", "x")), bind("x/y/z", 5), .addLock(lock("3", "x/y/z")),
                ],
                [.moveRows(from: path("a"), to: path("x/y"))],
            ],
            records: [
                "x/y": record(binding(1), property("p", "1")),
                "x/y/b": record(binding(2, pending: 3), property("p", "2")),
            ],
            locks: [(lock("2", "x"), binding(6))]),
        Case(
            "rows move to a longer and to a shorter path",
            [
                [bind("a/b", 1), set("a/b", "p", "1"), bind("a/b/c/d", 2), set("a/b/c/d", "p", "2")],
                [.moveRows(from: path("a/b"), to: path("longer/than/before"))],
                [.moveRows(from: path("longer/than/before/c"), to: path("s"))],
            ],
            records: [
                "longer/than/before": record(binding(1), property("p", "1")),
                "s/d": record(binding(2), property("p", "2")),
            ]),
        Case(
            "a move without rows empties the destination",
            [
                [bind("b", 1), set("b", "p", "1"), bind("b/c", 2), set("b/c", "p", "1")],
                [.moveRows(from: path("a"), to: path("b"))],
            ]),
        Case(
            "two resources swap paths in one transaction",
            [
                [bind("a", 1), set("a", "p", "1"), bind("b", 2), set("b", "p", "2")],
                [
                    .moveRows(from: path("a"), to: path("c")), .moveRows(from: path("b"), to: path("a")),
                    .moveRows(from: path("c"), to: path("b")),
                ],
            ],
            records: [
                "a": record(binding(2), property("p", "2")), "b": record(binding(1), property("p", "1")),
            ]),
    ]

    static let locks: [Case] = [
        Case(
            "locks are in order of creation, also after a refresh (§6.1, §9.10.2)",
            [
                [bind("b", 1), .addLock(lock("2", "b", scope: .shared))],
                [
                    bind("b", 1), .addLock(lock("1", "b", scope: .shared)), bind("a", 2),
                    .addLock(lock("3", "a")),
                ],
                [
                    refresh("2", "b"), refresh("9", "b"), refresh("1", "a"),
                ],
            ],
            locks: [
                (lock("2", "b", scope: .shared, expiry: 9), binding(1)),
                (lock("1", "b", scope: .shared), binding(1)), (lock("3", "a"), binding(2)),
            ]),
        Case(
            "a lock is removed by token; an unknown token is not an error (§9.11)",
            [
                [bind("a", 1), .addLock(lock("1", "a")), bind("b", 2), .addLock(lock("2", "b"))],
                [remove("1", "a"), remove("9", "a"), remove("2", "a")],
            ],
            locks: [(lock("2", "b"), binding(2))]),
        Case(
            "replacing a lock in one transaction keeps the binding",
            [
                [bind("a", 1), .addLock(lock("1", "a"))],
                [bind("a", 1), remove("1", "a"), .addLock(lock("2", "a"))],
            ],
            locks: [(lock("2", "a"), binding(1))]),
        Case(
            "a lock ends exactly at its expiry",
            [
                [bind("a", 1), .addLock(lock("1", "a", expiry: 50)), .addLock(lock("2", "a", expiry: 51))],
                [expire("1", "a", now: 50), expire("2", "a", now: 50), expire("9", "b", now: 50)],
            ],
            locks: [(lock("2", "a", expiry: 51), binding(1))]),
        Case(
            "intents are stored by ID until they are dropped",
            [
                [
                    .putIntent(intent), .putIntent(copyIntent), .putIntent(moveIntent),
                    .putIntent(timeIntent), .putIntent(keepingIntent),
                    .putIntent(patchIntent), .putIntent(languageIntent), .putIntent(removalIntent),
                ], [.dropIntent(id: 8)],
            ],
            intents: [
                copyIntent, moveIntent, intent, patchIntent, timeIntent, keepingIntent, languageIntent,
                removalIntent,
            ]),
        Case("a dropped intent is removed", [[.putIntent(intent)], [.dropIntent(id: 7)]]),
    ]

    static let progress = UploadRecord.Progress(
        length: 1 << 40, offset: 1 << 39, isUnverified: true, isComplete: true,
        expiry: Timestamp(nanoseconds: -1))

    static func advanced(_ upload: UploadRecord) -> UploadRecord {
        var upload = upload
        upload.progress = progress
        return upload
    }

    static let uploads: [Case] = [
        Case(
            "uploads are stored by ID until they are removed",
            [
                [.putUpload(upload("c", to: "a/b")), .putUpload(upload("a", to: "", length: 0))],
                [.putUpload(upload("b", to: "a", principal: "anna", options: [.choosesName, .isPart]))],
                [.removeUpload(id: "c"), .removeUpload(id: "none")],
            ],
            uploads: [
                upload("a", to: "", length: 0),
                upload("b", to: "a", principal: "anna", options: [.choosesName, .isPart]),
            ]),
        Case(
            "an upload replaces one with the same ID",
            [[.putUpload(upload("a", to: "x")), .putUpload(upload("a", to: "y", offset: 5))]],
            uploads: [upload("a", to: "y", offset: 5)]),
        Case(
            "progress changes nothing else, and creates no upload",
            [
                [.putUpload(upload("a", to: "x"))], [.moveRows(from: path("x"), to: path("y"))],
                [.setUploadProgress(id: "a", progress), .setUploadProgress(id: "none", progress)],
            ],
            uploads: [advanced(upload("a", to: "y"))]),
        Case(
            "an upload moves with its collection, not with its target",
            [
                [.putUpload(upload("a", to: "a")), .putUpload(upload("b", to: "a/b"))],
                [.putUpload(upload("c", to: "ab")), .putUpload(upload("d", to: "b"))],
                [.moveRows(from: path("a"), to: path("b")), .moveRows(from: path("ab/f"), to: path("c"))],
            ],
            uploads: [upload("a", to: "b"), upload("b", to: "b/b"), upload("c", to: "ab")]),
        Case(
            "an upload is removed with its collection, not with its target",
            [
                [.putUpload(upload("a", to: "a")), .putUpload(upload("b", to: "a/b"))],
                [.putUpload(upload("c", to: "a0")), .putUpload(upload("d", to: ""))],
                [.removeRows(under: path("a")), .removeRows(under: path("a0/f"))],
                [.removeLocks(under: .root)],
            ],
            uploads: [upload("c", to: "a0"), upload("d", to: "")]),
        Case(
            "removing rows under the root removes all uploads",
            [
                [.putUpload(upload("a", to: "")), .putUpload(upload("b", to: "b"))],
                [.removeRows(under: .root)],
            ]
        ),
    ]

    @Test(arguments: properties + subtrees + locks + uploads, StateBackend.allCases)
    func storedRowsMatchTheTransactions(_ row: Case, _ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        for changes in row.transactions { try store.apply(changes) }
        let paths = ["", "a", "a/b", "b", "x", "x/y"].map(path)
        let snapshot = try StateSnapshot(of: store, paths: paths)
        #expect(snapshot.records == row.records)
        #expect(snapshot.locks == row.locks.map { .init(lock: $0.0, binding: $0.1) })
        #expect(snapshot.intents == row.intents)
        #expect(snapshot.uploads == row.uploads)
        // The uploads in memory after the same changes must equal those that a restart would read.
        let followed = try IndexedShareState(store: MemoryStateStore())
        for changes in row.transactions { try followed.commit(changes) }
        for id in ["a", "b", "c", "d"] {
            #expect(followed.upload(id) == row.uploads.first { $0.id == id })
        }
        #expect(followed.hasUploads == !row.uploads.isEmpty)
    }

    static let refused: [([StateChange], StateError)] = [
        ([set("a", "p", "1")], .unbound(path("a"))),
        ([bind("a/b", 1), set("a", "p", "1")], .unbound(path("a"))),
        ([.addLock(lock("9", "a"))], .unbound(path("a"))),
        ([.addLock(lock("1", "z"))], .repeatedToken),
        ([.moveRows(from: path("a"), to: path("a/b"))], .overlap(path("a"), path("a/b"))),
        ([.moveRows(from: path("a/b"), to: path("a"))], .overlap(path("a/b"), path("a"))),
        ([.moveRows(from: path("a"), to: path("a"))], .overlap(path("a"), path("a"))),
        ([.moveRows(from: .root, to: path("a"))], .overlap(.root, path("a"))),
    ]

    @Test(arguments: refused, StateBackend.allCases)
    func failedTransactionChangesNothing(
        _ row: (changes: [StateChange], error: StateError), _ backend: StateBackend
    ) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        try store.apply([
            Self.bind("z", 1), Self.set("z", "p", "1"), .addLock(lock("1", "z")), .putIntent(Self.intent),
        ])
        let paths = [path(""), path("z")]
        let before = try StateSnapshot(of: store, paths: paths)
        let publications = Mutex(0)
        // Changes before the refused one are rolled back too.
        let changes = [.removeProperty(path("z"), property("p", "").name), .dropIntent(id: 7)] + row.changes
        #expect(throws: row.error) {
            try store.apply(changes) { _ in publications.withLock { $0 += 1 } }
        }
        #expect(publications.withLock { $0 } == 0)
        #expect(try StateSnapshot(of: store, paths: paths) == before)
    }

    @Test(arguments: StateBackend.allCases)
    func removalOfTheLastPropertyIsReported(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        let published = Mutex<[Set<Int>]>([])
        let transactions: [[StateChange]] = [
            [Self.bind("a", 1), Self.set("a", "p", "1"), Self.set("a", "q", "1")],
            [Self.removeProperty("a", "p"), Self.removeProperty("a", "x")],
            [Self.removeProperty("b", "q"), Self.removeProperty("a", "q"), Self.removeProperty("a", "q")],
            [
                Self.bind("a", 1), Self.set("a", "q", "1"), Self.removeProperty("a", "q"),
                Self.set("a", "p", "2"),
            ],
        ]
        for changes in transactions {
            try store.apply(changes) { emptying in published.withLock { $0.append(emptying) } }
        }
        #expect(published.withLock { $0 } == [[], [], [1], [2]])
    }

    /// Names can be arbitrary bytes (not necessarily UTF-8 or NFC), and values can have any length.
    @Test(arguments: StateBackend.allCases)
    func arbitraryBytesArePreserved(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        let odd = try #require(ResourcePath(segments: [[0xFF, 0xFE], [0x25, 0x5F, 0x0A], [0xC3, 0xA9]]))
        let moved = try #require(ResourcePath(segments: [[0x80, 0xC3], [0x27, 0x5C]]))
        let properties = ["e\u{301}", "\u{e9}"].enumerated().map { number, name in
            StoredProperty(
                name: PropertyName(namespace: "", local: name),
                value: PropertyValue(element: Array(repeating: UInt8(number), count: 70_000 * number)))
        }
        let binding = Binding(
            identity: ResourceIdentity(inode: .max, birth: .min), pending: .init(inode: 1 << 63, birth: -1))
        var added = lock("1", "x")
        added.root = odd
        added.owner = PropertyValue(element: [])
        added.principal = ""
        added.rootHref = [0, 0xFF]
        added.expiry = Timestamp(nanoseconds: .max)
        try store.apply([
            .putRecord(odd, PropertyRecord(binding: binding, properties: properties)), .addLock(added),
        ])
        #expect(try store.record(at: odd) == PropertyRecord(binding: binding, properties: properties))
        #expect(try store.locks().map(\.lock) == [added])
        let top = try #require(odd.parent?.parent)
        try store.apply([.moveRows(from: top, to: moved)])
        let renamed = try #require(odd.rebased(from: top, to: moved))
        #expect(try store.record(at: renamed)?.properties.map(\.value) == properties.map(\.value))
        #expect(try store.records(under: top).isEmpty)
        #expect(try store.records(under: moved).map(\.path) == [renamed])
    }
}
