import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// Properties that a listing has read are kept in memory until they change.
struct KeptPropertiesTests {
    private static func property(_ name: String, _ value: String = "v") -> StoredProperty {
        StoredProperty(
            name: PropertyName(namespace: "", local: name),
            value: PropertyValue(element: Array("<\(name)>\(value)</\(name)>".utf8)))
    }

    /// Makes a state in which each of the paths has a property with its name as the value, and the identity 1.
    private static func state(_ paths: [String]) throws -> (IndexedShareState, WatchedStateStore) {
        let store = WatchedStateStore()
        let state = try IndexedShareState(store: store)
        for path in paths {
            try state.commit([
                .bind(DavitStoreTests.path(path), current: identity(1), pending: nil),
                .setProperty(DavitStoreTests.path(path), property("p", path)),
            ])
        }
        return (state, store)
    }

    private static func properties(
        _ state: IndexedShareState, _ paths: [String], inode: UInt64 = 1, limitBytes: Int = .max
    ) throws -> [[String]] {
        try state.properties(of: paths.map { (path($0), identity(inode)) }, limitBytes: limitBytes).map {
            $0.map { String(decoding: $0.value.element, as: UTF8.self) }
        }
    }

    @Test func unchangedPropertiesAreReadOnce() throws {
        let (state, store) = try Self.state(["a", "d/b", "d/c"])
        let all = ["a", "none", "d/b", "d/c"]
        let values = [["<p>a</p>"], [], ["<p>d/b</p>"], ["<p>d/c</p>"]]
        #expect(try Self.properties(state, all) == values)
        #expect(store.takeRead() == ["a", "d/b", "d/c"])
        #expect(try Self.properties(state, all) == values)
        #expect(try state.properties(at: path("a"), identity: identity(1)).count == 1)
        // Another resource has taken the place.
        #expect(try Self.properties(state, all, inode: 2) == [[], [], [], []])
        #expect(store.takeRead() == [])

        try state.commit([.setProperty(path("d/b"), Self.property("p", "new"))])
        #expect(try Self.properties(state, all) == [values[0], [], ["<p>new</p>"], values[3]])
        #expect(store.takeRead() == ["d/b"])
        try state.commit([.setProperty(path("a"), Self.property("q"))])
        try state.commit([.removeProperty(path("a"), Self.property("p").name)])
        #expect(try Self.properties(state, all)[0] == ["<q>v</q>"])
        #expect(store.takeRead() == ["a"])
        // A lock changes no property.
        try state.commit([.bind(path("a"), current: identity(1), pending: identity(2))])
        #expect(try Self.properties(state, ["a"], inode: 2) == [["<q>v</q>"]])
        #expect(store.takeRead() == [])
    }

    @Test func keptPropertiesFollowTheirRows() throws {
        let (state, store) = try Self.state(["a", "d", "d/b"])
        _ = try Self.properties(state, ["a", "d", "d/b"])
        _ = store.takeRead()
        try state.commit([.moveRows(from: path("d"), to: path("e"))])
        #expect(try Self.properties(state, ["d/b", "e", "e/b"]) == [[], ["<p>d</p>"], ["<p>d/b</p>"]])
        #expect(store.takeRead() == [])
        try state.commit([
            .copyProperties(
                from: path("a"), to: path("e/b"), binding: Binding(identity: identity(1)), without: [],
                limitBytes: nil)
        ])
        #expect(try Self.properties(state, ["e/b"]) == [["<p>a</p>"]])
        try state.commit([.removeRows(under: path("e"))])
        try state.commit([
            .bind(path("e/b"), current: identity(1), pending: nil),
            .setProperty(path("e/b"), Self.property("p", "later")),
        ])
        #expect(try Self.properties(state, ["e", "e/b"]) == [[], ["<p>later</p>"]])
        try state.commit([
            .putRecord(
                path("e/b"),
                PropertyRecord(binding: Binding(identity: identity(1)), properties: [Self.property("r")]))
        ])
        #expect(try Self.properties(state, ["e/b"]) == [["<r>v</r>"]])
        // The rows belong to another resource, which has none.
        try state.commit([.bind(path("e/b"), current: identity(3), pending: nil)])
        #expect(try Self.properties(state, ["e/b"], inode: 3) == [[]])
        #expect(try Self.properties(state, ["e/b"]) == [[]])
        try state.commit([
            .bind(.root, current: identity(1), pending: nil), .setProperty(.root, Self.property("p")),
        ])
        #expect(try Self.properties(state, [""]) == [["<p>v</p>"]])
        try state.commit([.removeRows(under: .root)])
        #expect(try Self.properties(state, ["", "a"]) == [[], []])
    }

    /// What was read before a change, but arrives after it, must not be kept.
    @Test func propertiesThatChangeWhileTheyAreReadAreNotKept() throws {
        let (state, store) = try Self.state(["a", "b"])
        store.afterReading {
            try? state.commit([.setProperty(path("a"), Self.property("p", "new"))])
        }
        #expect(try Self.properties(state, ["a", "b"]) == [["<p>a</p>"], ["<p>b</p>"]])
        store.afterReading {}
        #expect(try Self.properties(state, ["a", "b"]) == [["<p>new</p>"], ["<p>b</p>"]])
    }

    /// 4 MiB are kept. What does not fit drops all that was kept before; large properties are never kept.
    @Test func keptPropertiesAreLimited() throws {
        let names = (0..<300).map { "a\($0)" }
        let (state, store) = try Self.state(names)
        let value = String(repeating: "x", count: 15 << 10)
        for name in names { try state.commit([.setProperty(path(name), Self.property("p", value))]) }
        for name in names { #expect(try Self.properties(state, [name])[0][0].utf8.count > 15 << 10) }
        _ = store.takeRead()
        _ = try Self.properties(state, ["a299", "a298"])
        #expect(store.takeRead() == [])
        _ = try Self.properties(state, ["a0"])
        #expect(store.takeRead() == ["a0"])
        try state.commit([.setProperty(path("a0"), Self.property("q", value))])
        for _ in 0..<2 {
            _ = try Self.properties(state, ["a0"])
            #expect(store.takeRead() == ["a0"])
        }
        // Changed again and again, a resource occupies the memory of its last properties only.
        for _ in 0..<1_000 {
            try state.commit([.setProperty(path("a1"), Self.property("p", value))])
            _ = try Self.properties(state, ["a1"])
        }
        _ = store.takeRead()
        _ = try Self.properties(state, ["a1"])
        #expect(store.takeRead() == [])
    }

    /// The limit of one call counts kept and unread properties alike.
    @Test(arguments: [[], ["a"], ["b"], ["c"], ["a", "c"], ["a", "b", "c"]])
    func limitCountsKeptProperties(kept: [String]) throws {
        let (state, _) = try Self.state(["a", "b", "c"])
        _ = try Self.properties(state, kept)
        // `p` and `<p>a</p>`.
        for (limit, count) in [(0, 0), (8, 0), (9, 1), (17, 1), (18, 2), (26, 2), (27, 3), (.max, 3)] {
            let (fresh, _) = try Self.state(["a", "b", "c"])
            _ = try Self.properties(fresh, kept)
            #expect(
                try Self.properties(fresh, ["a", "b", "c"], limitBytes: limit).count == count, "\(limit)")
        }
        #expect(try Self.properties(state, ["none", "a", "none"], limitBytes: 0) == [[]])
    }
}

/// Counts the records that are read.
private final class WatchedStateStore: ForwardingStateStore {
    let base: any StateStore = MemoryStateStore()
    private let read = Mutex<[String]>([])
    private let hook = Mutex<@Sendable () -> Void>({})

    /// Returns the paths read since the last call.
    func takeRead() -> [String] {
        read.withLock { read in
            defer { read = [] }
            return read
        }
    }

    func afterReading(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

    func records(at paths: [ResourcePath], limitBytes: Int) throws(StateError) -> [PropertyRecord?] {
        read.withLock { $0 += paths.map { String(decoding: $0.bytes, as: UTF8.self) } }
        let records = try base.records(at: paths, limitBytes: limitBytes)
        let body = hook.withLock { $0 }
        body()
        return records
    }
}
