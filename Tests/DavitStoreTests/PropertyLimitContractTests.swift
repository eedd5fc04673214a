import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// Limits on dead properties, in every store.
struct PropertyLimitContractTests {
    private static func set(_ name: String, bytes: Int) -> StateChange {
        .setProperty(path("a"), sized(name, bytes: bytes))
    }

    /// Returns a property whose name and value are `bytes` long in total.
    private static func sized(_ name: String, bytes: Int) -> StoredProperty {
        StoredProperty(
            name: PropertyName(namespace: "urn:x", local: name),
            value: PropertyValue(element: Array(repeating: 0x61, count: bytes - 5 - name.utf8.count)))
    }

    private static func remove(_ name: String) -> StateChange {
        .removeProperty(path("a"), PropertyName(namespace: "urn:x", local: name))
    }

    /// The changes of one transaction to a resource with 60 bytes in `p` and 30 in `q`, and whether they are
    /// refused.
    static let updates: [(changes: [StateChange], limit: Int, isRefused: Bool)] = [
        ([set("r", bytes: 10)], 100, false), ([set("r", bytes: 11)], 100, true),
        // Only the new length of a replaced property counts.
        ([set("p", bytes: 70)], 100, false), ([set("p", bytes: 71)], 100, true),
        ([set("p", bytes: 20), set("r", bytes: 50)], 100, false),
        ([set("p", bytes: 20), set("r", bytes: 51)], 100, true),
        // The order within a transaction is irrelevant.
        ([set("r", bytes: 70), remove("p")], 100, false), ([set("r", bytes: 71), remove("p")], 100, true),
        // A resource above the limit may shrink or stay the same, but not grow.
        ([set("p", bytes: 59)], 50, false), ([remove("q")], 50, false), ([set("p", bytes: 60)], 50, false),
        ([set("p", bytes: 61)], 50, true), ([remove("q"), set("r", bytes: 30)], 50, false),
        ([remove("q"), set("r", bytes: 31)], 50, true),
    ]

    @Test(arguments: StateBackend.allCases, updates.indices)
    func propertiesOfAResourceAreLimited(_ backend: StateBackend, _ row: Int) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        let update = Self.updates[row]
        try store.apply([
            .bind(path("a"), current: identity(1), pending: nil), Self.set("p", bytes: 60),
            Self.set("q", bytes: 30),
        ])
        let before = try store.record(at: path("a"))
        let changes: [StateChange] = [
            .bind(path("a"), current: identity(1), pending: nil),
            .limitProperties(path("a"), bytes: update.limit),
        ]
        if update.isRefused {
            #expect(throws: StateError.propertiesTooLarge) { try store.apply(changes + update.changes) }
            #expect(try store.record(at: path("a")) == before)
        } else {
            try store.apply(changes + update.changes)
        }
    }

    /// Properties of a replaced resource do not count for its successor.
    @Test(arguments: StateBackend.allCases)
    func propertiesOfAReplacedResourceDoNotCount(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        try store.apply([.bind(path("a"), current: identity(1), pending: nil), Self.set("p", bytes: 90)])
        let changes: [StateChange] = [
            .bind(path("a"), current: identity(2), pending: nil), .limitProperties(path("a"), bytes: 80),
        ]
        try store.apply(changes + [Self.set("q", bytes: 80)])
        #expect(throws: StateError.propertiesTooLarge) {
            try store.apply(changes + [Self.set("q", bytes: 81)])
        }
    }

    @Test(arguments: StateBackend.allCases)
    func propertiesAreCopiedUpToTheLimit(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        let emptied = Mutex<[Set<Int>]>([])
        func copy(without: [String] = [], limit: Int?) throws {
            let change = StateChange.copyProperties(
                from: path("a"), to: path("b/c"), binding: Binding(identity: identity(7)),
                without: without.map { PropertyName(namespace: "urn:x", local: $0) }, limitBytes: limit)
            try store.apply([change]) { emptying in emptied.withLock { $0.append(emptying) } }
        }
        try store.apply([
            .bind(path("a"), current: identity(1), pending: nil), Self.set("p", bytes: 60),
            Self.set("q", bytes: 30), .bind(path("b/c"), current: identity(6), pending: nil),
            .setProperty(path("b/c"), Self.sized("old", bytes: 20)),
        ])
        #expect(throws: StateError.propertiesTooLarge) { try copy(limit: 89) }
        #expect(try store.record(at: path("b/c"))?.properties.map(\.name.local) == ["old"])
        try copy(limit: 90)
        #expect(
            try store.record(at: path("b/c"))
                == record(
                    Binding(identity: identity(7)), Self.sized("p", bytes: 60), Self.sized("q", bytes: 30)))
        try copy(without: ["p", "none"], limit: 30)
        #expect(try store.record(at: path("b/c"))?.properties == [Self.sized("q", bytes: 30)])
        try copy(limit: nil)
        try copy(without: ["p", "q"], limit: 0)
        #expect(try store.record(at: path("b/c")) == nil)
        #expect(emptied.withLock { $0 } == [[], [], [], [0]])
        #expect(try store.pathsWithProperties().map(\.path) == [path("a")])
    }

    @Test(arguments: StateBackend.allCases)
    func recordsAreReadUpToTheLimit(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        for name in ["a", "c"] {
            try store.apply([
                .bind(path(name), current: identity(1), pending: nil),
                .setProperty(path(name), Self.sized("p", bytes: 40)),
                .setProperty(path(name), Self.sized("q", bytes: 10)),
            ])
        }
        let paths = [path("a"), path("b"), path("c")]
        func count(_ limit: Int) throws -> Int { try store.records(at: paths, limitBytes: limit).count }
        #expect(try [0, 49, 50, 99, 100].map(count) == [0, 0, 2, 2, 3])
        #expect(try store.records(at: paths, limitBytes: 100) == store.records(at: paths))
        let state = try IndexedShareState(store: store)
        let resources = paths.map { ($0, identity(1)) }
        #expect(try state.properties(of: resources, limitBytes: 49).isEmpty)
        #expect(try state.properties(of: resources, limitBytes: 99).map(\.count) == [2, 0])
        #expect(try state.properties(of: resources, limitBytes: 100).map(\.count) == [2, 0, 2])
        #expect(Set(state.pathsWithProperties(under: .root).map(\.path)) == [path("a"), path("c")])
        #expect(state.pathsWithProperties(under: path("b")).isEmpty)
    }
}
