import DavitHTTP
import DavitSQLite
import DavitStore
import Synchronization
import Testing

struct GroupWriterTests {
    /// Counts the calls of the commit function and records what was published.
    final class Witness: Sendable {
        let commitCalls = Mutex(0)
        let published = Mutex<[Int]>([])

        func request(_ number: Int, _ changes: [StateChange]) -> Transaction {
            Transaction(changes: changes) { _ in
                self.published.withLock { $0.append(number) }
            }
        }
    }

    private func makeWriter(_ folder: DatabaseFolder, _ witness: Witness) throws -> GroupWriter {
        try GroupWriter(path: folder.database, durability: .processDeath, busyMilliseconds: 0) {
            witness.commitCalls.withLock { $0 += 1 }
        }
    }

    private func pathsIn(_ folder: DatabaseFolder) throws -> Set<String> {
        Set(try SQLiteStateStore(folder: folder.path).records(under: .root).map(\.path.description))
    }

    @Test func waitingRequestsAreCommittedTogether() throws {
        let (folder, witness) = (DatabaseFolder(), Witness())
        let writer = try makeWriter(folder, witness)
        let failures = writer.commit([
            witness.request(1, setting("a")), witness.request(2, setting("b")),
            witness.request(3, setting("c")),
        ])
        #expect(failures == [nil, nil, nil])
        #expect(try pathsIn(folder) == ["/a", "/b", "/c"])
        #expect(witness.published.withLock { $0 } == [1, 2, 3])
        // The commit function is called once before the commit and once after it.
        #expect(witness.commitCalls.withLock { $0 } == 2)
    }

    @Test func failureAffectsOnlyItsOwnRequest() throws {
        let (folder, witness) = (DatabaseFolder(), Witness())
        let writer = try makeWriter(folder, witness)
        let refused = setting("x") + [.moveRows(from: path("a"), to: path("a"))]
        let failures = writer.commit([
            witness.request(1, setting("a")), witness.request(2, refused), witness.request(3, setting("c")),
        ])
        #expect(failures == [nil, .overlap(path("a"), path("a")), nil])
        #expect(try pathsIn(folder) == ["/a", "/c"])
        #expect(witness.published.withLock { $0 } == [1, 3])
        // If one request fails, the others are committed individually.
        #expect(witness.commitCalls.withLock { $0 } == 4)
    }

    @Test func fullDiskAffectsOnlyItsOwnRequest() throws {
        let (folder, witness) = (DatabaseFolder(), Witness())
        let writer = try makeWriter(folder, witness)
        try writer.execute("PRAGMA max_page_count = 30")
        let failures = writer.commit([
            witness.request(1, setting("a")), witness.request(2, setting("b", bytes: 1_000_000)),
            witness.request(3, setting("c")),
        ])
        #expect(failures == [nil, .outOfSpace, nil])
        #expect(try pathsIn(folder) == ["/a", "/c"])
        #expect(witness.published.withLock { $0 } == [1, 3])
    }

    @Test func transactionThatCannotStartFailsEveryRequest() throws {
        let (folder, witness) = (DatabaseFolder(), Witness())
        let writer = try makeWriter(folder, witness)
        let other = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        let failures = writer.commit([witness.request(1, setting("a")), witness.request(2, setting("b"))])
        #expect(failures.count == 2 && failures.allSatisfy { $0 != nil })
        #expect(witness.published.withLock { $0 } == [])
        try other.execute("ROLLBACK")
        #expect(writer.commit([witness.request(3, setting("c"))]) == [nil])
        #expect(try pathsIn(folder) == ["/c"])
    }
}
