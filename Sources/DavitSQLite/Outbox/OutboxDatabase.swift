internal import CSQLite
package import DavitStore
internal import Synchronization

/// An event that waits for its receivers.
package struct StoredEvent: Hashable, Sendable {
    /// The position in the order of delivery, from 1; never used twice.
    package let position: Int64
    package let id: String
    /// Nanoseconds since 1970.
    package let time: Int64
    package let json: [UInt8]
}

/// The database of events, `outbox.sqlite` in a state folder. One object uses it at a time: its owner holds the lock of
/// the folder. All calls block.
package final class OutboxDatabase: Sendable {
    /// A change of the database.
    package enum Write: Sendable {
        /// Stores an event whose change is not committed yet.
        case prepare(id: String, time: Int64, json: [UInt8])
        /// Puts a prepared event in line, with its final content.
        case complete(id: String, time: Int64, json: [UInt8])
        /// Removes a prepared event.
        case cancel(id: String)
        /// A receiver has received all events up to a position. Events that all receivers have received are deleted.
        case received(receiver: String, position: Int64)
    }

    /// The name of the database in the state folder.
    package static let fileName = "outbox.sqlite"

    /// The migration at index `n` converts version `n` to version `n + 1`. Migrations are only appended, never edited.
    private static let migrations: [StaticString] = [
        """
        PRAGMA application_id = 0x64426F62;

        -- Events of changes that are being committed.
        CREATE TABLE prepared (
            id TEXT PRIMARY KEY,
            -- In nanoseconds since 1970, as below.
            time INTEGER NOT NULL,
            json BLOB NOT NULL
        ) STRICT;

        -- AUTOINCREMENT, so that no position is used twice.
        CREATE TABLE event (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL,
            time INTEGER NOT NULL,
            json BLOB NOT NULL
        ) STRICT;

        CREATE TABLE receiver (
            name TEXT PRIMARY KEY,
            -- That of the last event that it has received.
            position INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        PRAGMA user_version = 1;
        """
    ]

    private final class Statements {
        let connection: DatabaseConnection
        let prepare: Statement
        let complete: Statement
        let remove: Statement
        let receive: Statement
        let trim: Statement
        let trimOld: Statement
        let next: Statement

        init(_ connection: consuming DatabaseConnection) {
            prepare = Statement(
                "INSERT INTO prepared (id, time, json) VALUES (?1, ?2, ?3)", on: connection)
            complete = Statement("INSERT INTO event (id, time, json) VALUES (?1, ?2, ?3)", on: connection)
            remove = Statement("DELETE FROM prepared WHERE id = ?1", on: connection)
            receive = Statement("UPDATE receiver SET position = ?2 WHERE name = ?1", on: connection)
            trim = Statement(
                "DELETE FROM event WHERE position <= (SELECT min(position) FROM receiver)", on: connection)
            trimOld = Statement("DELETE FROM event WHERE position <= ?1", on: connection)
            next = Statement(
                "SELECT position, id, time, json FROM event WHERE position > ?1 ORDER BY position LIMIT ?2",
                on: connection)
            self.connection = connection
        }
    }

    private let statements: Mutex<Statements>
    /// The maximum number of events that wait; the oldest ones are deleted.
    private let limit: Int64
    private let lastPosition: Atomic<Int64>
    private let onCommit: (@Sendable () -> Void)?

    /// Opens the database, or creates it so that only the owner can read it. Events whose changes were being committed when the
    /// server ended are put in line, as they were prepared.
    /// - Parameters:
    ///   - receivers: the names of all receivers. A new one receives only later events; the others are forgotten.
    ///   - limit: the maximum number of events that wait.
    ///   - onCommit: called before and after each commit.
    /// - Throws: `failed` if it cannot be read, or if a newer version of davit wrote it.
    package init(
        folder: String, receivers: [String], limit: Int,
        durability: SQLiteStateStore.Durability = .processDeath,
        onCommit: (@Sendable () -> Void)? = nil
    ) throws(StateError) {
        let path = folder + "/" + Self.fileName
        let error = unsafe davit_make_private_file(path)
        if error != 0 {
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "cannot write \(path) (errno \(error))")
        }
        let connection = try DatabaseConnection(path: path, busyMilliseconds: 0)
        try connection.execute(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try connection.promise(durability)
        try connection.migrate(Self.migrations, applicationID: 0x6442_6F62, kind: "events")
        try Self.recover(connection, receivers)
        self.limit = Int64(limit)
        self.onCommit = onCommit
        lastPosition = Atomic(try Self.lastPosition(in: connection))
        statements = Mutex(Statements(connection))
    }

    private static func lastPosition(
        in connection: borrowing DatabaseConnection
    ) throws(StateError) -> Int64 {
        try connection.integer("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event'")
    }

    private static func recover(
        _ connection: borrowing DatabaseConnection, _ receivers: [String]
    ) throws(StateError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StateError) {
            let last = try lastPosition(in: connection)
            let known = Set(try connection.texts("SELECT name FROM receiver"))
            let forget = Statement("DELETE FROM receiver WHERE name = ?1", on: connection)
            for name in known.subtracting(receivers) { try forget.run([.text(name)]) }
            let add = Statement("INSERT INTO receiver (name, position) VALUES (?1, ?2)", on: connection)
            for name in Set(receivers).subtracting(known) { try add.run([.text(name), .integer(last)]) }
            try connection.execute(
                """
                INSERT INTO event (id, time, json) SELECT id, time, json FROM prepared ORDER BY rowid;
                DELETE FROM prepared;
                DELETE FROM event WHERE position <= (SELECT coalesce(min(position), 9223372036854775807) FROM receiver);
                COMMIT
                """)
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// The position of the newest event.
    package var newestPosition: Int64 { lastPosition.load(ordering: .acquiring) }

    /// Returns the position of the last event that each receiver has received.
    package func positions() throws(StateError) -> [String: Int64] {
        try statements.withLock { (statements) throws(StateError) in
            var positions: [String: Int64] = [:]
            let query = Statement("SELECT name, position FROM receiver", on: statements.connection)
            try query.forEachRow([]) { row in positions[row.text(0)] = row.integer(1) }
            return positions
        }
    }

    /// Returns the next events after a position, in order.
    package func events(after position: Int64, limit: Int) throws(StateError) -> [StoredEvent] {
        try statements.withLock { (statements) throws(StateError) in
            var events: [StoredEvent] = []
            try statements.next.forEachRow([.integer(position), .integer(Int64(limit))]) { row in
                events.append(
                    StoredEvent(
                        position: row.integer(0), id: row.text(1), time: row.integer(2), json: row.blob(3)))
            }
            return events
        }
    }

    /// Commits changes in one transaction or, if that fails, each of them.
    /// - Returns: the error of each change, or nil for success.
    package func commit(_ writes: [Write]) -> [StateError?] {
        do throws(StateError) {
            try commitTogether(writes)
            return Array(repeating: nil, count: writes.count)
        } catch {
            if writes.count <= 1 { return [error] }
            return writes.flatMap { commit([$0]) }
        }
    }

    private func commitTogether(_ writes: [Write]) throws(StateError) {
        try statements.withLock { (statements) throws(StateError) in
            try statements.connection.execute("BEGIN IMMEDIATE")
            do throws(StateError) {
                var newest: Int64?
                for write in writes {
                    if let position = try Self.perform(write, statements) { newest = position }
                }
                // Deleting a thousand at a time costs less than one each time.
                if let newest, newest % 1024 < Int64(writes.count) {
                    try statements.trimOld.run([.integer(newest - limit)])
                }
                onCommit?()
                try statements.connection.execute("COMMIT")
                onCommit?()
                if let newest { lastPosition.store(newest, ordering: .releasing) }
            } catch {
                if statements.connection.isInTransaction { try? statements.connection.execute("ROLLBACK") }
                throw error
            }
        }
    }

    /// - Returns: the position of a new event.
    private static func perform(
        _ write: Write, _ statements: Statements
    ) throws(StateError) -> Int64? {
        switch write {
        case .prepare(let id, let time, let json):
            try statements.prepare.run([.text(id), .integer(time), .blob(json)])
        case .complete(let id, let time, let json):
            try statements.remove.run([.text(id)])
            try statements.complete.run([.text(id), .integer(time), .blob(json)])
            return try statements.connection.integer("SELECT last_insert_rowid()")
        case .cancel(let id): try statements.remove.run([.text(id)])
        case .received(let receiver, let position):
            try statements.receive.run([.text(receiver), .integer(position)])
            try statements.trim.run([])
        }
        return nil
    }
}
