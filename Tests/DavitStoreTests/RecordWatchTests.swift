import DavitHTTP
import DavitStore
import Testing

/// Which records belong to other resources than before a copy began.
struct RecordWatchTests {
    private static func watched(_ changes: [StateChange]) throws -> RecordWatch {
        let state = try IndexedShareState(store: MemoryStateStore())
        for name in ["d", "d/a", "d/b", "e"] {
            try state.commit([
                .bind(path(name), current: identity(1), pending: nil),
                .setProperty(path(name), property("p", name)),
            ])
        }
        let watch = try #require(state.watchRecords(under: path("d")))
        try state.commit(changes)
        return watch
    }

    static let rows: [(name: String, changes: [StateChange], isReplaced: Bool, others: Set<String>)] = [
        ("other collection", [.removeRows(under: path("e"))], false, []),
        ("member", [.removeRows(under: path("d/a"))], false, ["d/a", "d/a/x"]),
        ("moved away", [.moveRows(from: path("d/a"), to: path("e/a"))], false, ["d/a", "d/a/x"]),
        ("moved here", [.moveRows(from: path("e"), to: path("d/b"))], false, ["d/b"]),
        ("itself", [.removeRows(under: path("d"))], true, ["d", "d/a", "d/a/x", "d/b"]),
        ("ancestor", [.removeRows(under: .root)], true, ["d", "d/a", "d/a/x", "d/b"]),
        ("same resource", [.bind(path("d/a"), current: identity(1), pending: identity(2))], false, []),
        ("other resource", [.bind(path("d/a"), current: identity(3), pending: nil)], false, ["d/a"]),
        ("new record", [.bind(path("d/a/x"), current: identity(3), pending: nil)], false, ["d/a/x"]),
        (
            "same record",
            [
                .putRecord(
                    path("d/a"), PropertyRecord(binding: Binding(identity: identity(1)), properties: []))
            ],
            false, []
        ),
        (
            "other root", [.bind(path("d"), current: identity(3), pending: nil)], true,
            ["d", "d/a", "d/a/x", "d/b"]
        ),
        ("outer record", [.bind(.root, current: identity(3), pending: nil)], false, []),
        (
            "many", (0..<11_000).map { .bind(path("d/\($0)"), current: identity(3), pending: nil) }, false,
            ["d/a", "d/a/x", "d/b"]
        ),
    ]

    @Test(arguments: rows)
    func recordsOfOtherResourcesAreNoticed(
        _ row: (name: String, changes: [StateChange], isReplaced: Bool, others: Set<String>)
    ) throws {
        let watch = try Self.watched(row.changes)
        #expect(watch.isReplaced == row.isReplaced, "\(row.name)")
        let found = ["d", "d/a", "d/a/x", "d/b"].filter { watch.mayBeOfAnother(at: path($0)) }
        #expect(Set(found) == row.others, "\(row.name)")
    }
}
