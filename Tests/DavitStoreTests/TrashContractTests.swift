import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// The contract of every store for the trash.
struct TrashContractTests {
    static func entry(
        _ number: Int64, length: Int64? = 5, isCollection: Bool = false, principal: String? = nil,
        reason: TrashEntry.Reason = .deleted
    ) -> TrashEntry {
        let name = "entry\(number)"
        return TrashEntry(
            number: number, id: name, path: path("a/\(number)"), location: path(".t/\(name)"),
            identity: identity(UInt64(number)), deleted: Timestamp(nanoseconds: -number),
            principal: principal,
            length: length, isCollection: isCollection, reason: reason)
    }

    static let kept = [
        entry(1), entry(2, length: nil, isCollection: true, principal: "anna"),
        entry(7, length: 1 << 40, principal: "", reason: .overwritten), entry(9, length: 0),
    ]

    @Test(arguments: StateBackend.allCases)
    func entriesKeepTheirOrder(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        #expect(try store.trashTotals() == TrashTotals())
        #expect(try store.trash(after: 0, limit: 10).isEmpty)
        for entry in Self.kept.reversed() { try store.apply([.putTrash(entry)]) }
        #expect(try store.trash(after: 0, limit: 10) == Self.kept)
        #expect(try store.trash(after: 0, limit: 2) == Array(Self.kept.prefix(2)))
        #expect(try store.trash(after: 2, limit: 10) == Array(Self.kept.dropFirst(2)))
        #expect(try store.trash(after: 9, limit: 10).isEmpty)
        for entry in Self.kept { #expect(try store.trashEntry(entry.id) == entry) }
        #expect(try store.trashEntry("entry3") == nil)
        #expect(try store.trashTotals() == TrashTotals(count: 4, bytes: 5 + 1 << 40, lastNumber: 9))
    }

    /// A known length is not changed, and a length for a missing entry is ignored.
    @Test(arguments: StateBackend.allCases)
    func lengthsAreUpdatedAndEntriesRemoved(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        try store.apply(Self.kept.map { .putTrash($0) })
        try store.apply([
            .measureTrash(Self.kept[0], length: 9), .measureTrash(Self.kept[1], length: 70),
            .measureTrash(Self.entry(4), length: 3), .dropTrash(Self.kept[2]), .dropTrash(Self.entry(4)),
        ])
        #expect(try store.trash(after: 0, limit: 10).map(\.length) == [5, 70, 0])
        #expect(try store.trashTotals() == TrashTotals(count: 3, bytes: 75, lastNumber: 9))
    }

    /// Sparse files can have any length.
    @Test(arguments: StateBackend.allCases)
    func totalOfHugeLengthsIsLimited(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        let state = try IndexedShareState(store: store)
        let entries = (1...3).map { Self.entry($0, length: 1 << 62) }
        try state.commit(entries.map { .putTrash($0) })
        #expect(state.trashTotals.bytes == .max)
        #expect(try store.trashTotals().bytes >= 9_000_000_000_000_000_000)
        #expect(try IndexedShareState(store: store).trashTotals.count == 3)
        try state.commit(entries.map { .dropTrash($0) })
        #expect(state.trashTotals.bytes == 0)
        #expect(try store.trashTotals().bytes == 0)
    }

    /// A transaction that adds an existing entry is rolled back.
    @Test(arguments: StateBackend.allCases)
    func duplicateEntryIsRefused(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        try store.apply([.putTrash(Self.kept[0])])
        var other = Self.entry(2)
        other.id = Self.kept[0].id
        for entry in [Self.kept[0], other] {
            #expect(throws: StateError.self) {
                try store.apply([.putTrash(Self.entry(3)), .putTrash(entry)])
            }
        }
        #expect(try store.trash(after: 0, limit: 10) == [Self.kept[0]])
    }

    /// The totals that the state of a share keeps in memory equal those of the store.
    @Test(arguments: StateBackend.allCases)
    func totalsAreMaintained(_ backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        try store.apply([.putTrash(Self.kept[0])])
        let state = try IndexedShareState(store: store)
        #expect(state.nextTrashNumber() == 2)
        try state.commit([.putTrash(Self.kept[1]), .putTrash(Self.kept[2])])
        try state.commit([.measureTrash(Self.kept[1], length: 70), .dropTrash(Self.kept[0])])
        #expect(state.trashTotals.count == 2)
        #expect(state.trashTotals.bytes == 70 + 1 << 40)
        var seen: [Int64] = []
        try state.forEachTrashEntry { entry in
            seen.append(entry.number)
            return true
        }
        #expect(seen == [2, 7])
    }
}
