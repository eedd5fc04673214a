internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore
internal import Synchronization

/// The rules and the state of a stub server, in an SQLite database that one process uses at a time. Calls block.
final class StubDatabase: Sendable {
    /// Version `n + 1` is made from version `n` by the statements at index `n`, which are only appended.
    private static let migrations: [StaticString] = [
        """
        -- The number of this file format; `file` shows it.
        PRAGMA application_id = 0x64537475;

        CREATE TABLE rule (
            -- Rules are tried from the greatest position on.
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
            enabled INTEGER NOT NULL DEFAULT 1,
            -- A JSON array of names; empty for all methods.
            methods TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(methods)),
            path TEXT NOT NULL,
            -- JSON arrays of conditions.
            conditions TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(conditions)),
            checks TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(checks)),
            check_status INTEGER NOT NULL DEFAULT 422,
            -- A JSON array.
            replies TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(replies)),
            choose TEXT NOT NULL DEFAULT 'cycle',
            faults TEXT NOT NULL DEFAULT '',
            -- A JSON object, or NULL.
            scenario TEXT CHECK (scenario IS NULL OR json_valid(scenario)),
            session TEXT,
            session_seconds INTEGER NOT NULL DEFAULT 3600,
            collection INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE scenario (name TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;

        -- Times in seconds since 1970.
        CREATE TABLE session (
            token TEXT PRIMARY KEY,
            rule TEXT NOT NULL,
            start INTEGER NOT NULL,
            expiry INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- The JSON objects of collections. An id is not used again while the collection has objects with greater ones.
        CREATE TABLE item (
            collection TEXT NOT NULL,
            id INTEGER NOT NULL,
            content TEXT NOT NULL CHECK (json_valid(content)),
            PRIMARY KEY (collection, id)
        ) STRICT, WITHOUT ROWID;

        PRAGMA user_version = 1;
        """
    ]

    private let connection: Mutex<DatabaseConnection>

    /// Opens a database, or creates it.
    /// - Parameter path: nil for a database in memory.
    /// - Throws: ``StubError`` if another process uses the file, a newer version wrote it, or it is another file.
    init(path: String?) throws(StubError) {
        let name = path ?? "the database"
        do throws(StateError) {
            let connection = try DatabaseConnection(path: path ?? ":memory:", busyMilliseconds: 0)
            try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            try connection.migrate(Self.migrations, applicationID: 0x6453_7475, kind: "davit stub")
            self.connection = Mutex(connection)
        } catch {
            throw StubError(name, error)
        }
    }

    @discardableResult
    private func withConnection<R: Sendable>(
        _ body: (borrowing DatabaseConnection) throws(StateError) -> R
    ) throws(StubError) -> R {
        try connection.withLock { connection throws(StubError) in
            do throws(StateError) { return try body(connection) } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                throw StubError("the database", error)
            }
        }
    }

    // MARK: Rules

    /// Returns the rules, the newest first.
    /// - Throws: ``StubError`` with the name and the column of a rule that cannot be read.
    func rules() throws(StubError) -> [StubRule] {
        let objects = try withConnection { connection throws(StateError) in
            var objects: [JSONValue] = []
            let statement = Statement(
                """
                SELECT json_object('name', name, 'enabled', json(iif(enabled, 'true', 'false')),
                    'methods', json(methods), 'path', path, 'when', json(conditions), 'checks', json(checks),
                    'checkStatus', check_status, 'replies', json(replies), 'choose', choose, 'faults', faults,
                    'scenario', json(scenario), 'session', session, 'sessionSeconds', session_seconds,
                    'collection', json(iif(collection, 'true', 'false')))
                FROM rule ORDER BY position DESC
                """, on: connection)
            try statement.forEachRow([]) { row throws(StateError) in
                guard let object = JSONParser.parse(row.text(0)) else {
                    throw .failed(reason: "a rule cannot be read")
                }
                objects.append(object)
            }
            return objects
        }
        var rules: [StubRule] = []
        for object in objects {
            do throws(RuleError) { rules.append(try StubRule(json: object)) } catch { throw .rule(error) }
        }
        return rules
    }

    /// Stores a rule: at its position if a rule with this name exists, else as the newest one.
    func store(_ rule: StubRule) throws(StubError) {
        try withConnection { connection throws(StateError) in try Self.store(rule, on: connection) }
    }

    /// Replaces all rules.
    /// - Parameter rules: the newest first.
    func replaceRules(_ rules: [StubRule]) throws(StubError) {
        try withConnection { connection throws(StateError) in
            try connection.execute("BEGIN IMMEDIATE; DELETE FROM rule")
            for rule in rules.reversed() { try Self.store(rule, on: connection) }
            try connection.execute("COMMIT")
        }
    }

    private static func store(
        _ rule: StubRule, on connection: borrowing DatabaseConnection
    ) throws(StateError) {
        let statement = Statement(
            """
            INSERT INTO rule (name, enabled, methods, path, conditions, checks, check_status, replies, choose,
                faults, scenario, session, session_seconds, collection)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            ON CONFLICT (name) DO UPDATE SET enabled = excluded.enabled, methods = excluded.methods,
                path = excluded.path, conditions = excluded.conditions, checks = excluded.checks,
                check_status = excluded.check_status, replies = excluded.replies, choose = excluded.choose,
                faults = excluded.faults, scenario = excluded.scenario, session = excluded.session,
                session_seconds = excluded.session_seconds, collection = excluded.collection
            """, on: connection)
        try statement.run([
            .text(rule.name), .integer(rule.isEnabled ? 1 : 0),
            .text(JSONValue.array(rule.methods.map { .string($0.rawValue) }).description), .text(rule.path),
            .text(JSONValue.array(rule.conditions).description),
            .text(JSONValue.array(rule.checks).description),
            .integer(Int64(rule.checkStatus.code)),
            .text(JSONValue.array(rule.replies.map(\.json)).description),
            .text(rule.choice.rawValue), .text(rule.faults), .optional(rule.scenario?.json.description),
            .optional(rule.session?.rawValue), .integer(rule.sessionSeconds),
            .integer(rule.isCollection ? 1 : 0),
        ])
    }

    /// - Returns: whether there was such a rule.
    func removeRule(named name: String) throws(StubError) -> Bool {
        try withConnection { connection throws(StateError) in
            try Statement("DELETE FROM rule WHERE name = ?1", on: connection).run([.text(name)]) > 0
        }
    }

    // MARK: Faults

    /// The text of the fault rules for all requests.
    func faults() throws(StubError) -> String {
        try withConnection { connection throws(StateError) in
            try connection.texts("SELECT value FROM setting WHERE name = 'faults'").first ?? ""
        }
    }

    func setFaults(_ text: String) throws(StubError) {
        try withConnection { connection throws(StateError) in
            try Statement(
                """
                INSERT INTO setting (name, value) VALUES ('faults', ?1)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, on: connection
            ).run([.text(text)])
        }
    }

    // MARK: State

    func scenarios() throws(StubError) -> [String: String] {
        try withConnection { connection throws(StateError) in
            var states: [String: String] = [:]
            try Statement("SELECT name, state FROM scenario", on: connection).forEachRow([]) { row in
                states[row.text(0)] = row.text(1)
            }
            return states
        }
    }

    func setScenario(_ name: String, _ state: String) throws(StubError) {
        try withConnection { connection throws(StateError) in
            try Statement(
                """
                INSERT INTO scenario (name, state) VALUES (?1, ?2)
                ON CONFLICT (name) DO UPDATE SET state = excluded.state
                """, on: connection
            ).run([.text(name), .text(state)])
        }
    }

    func sessions() throws(StubError) -> [StubSession] {
        try withConnection { connection throws(StateError) in
            var sessions: [StubSession] = []
            let statement = Statement("SELECT token, rule, start, expiry FROM session", on: connection)
            try statement.forEachRow([]) { row in
                sessions.append(
                    StubSession(
                        token: row.text(0), rule: row.text(1), start: row.integer(2), expiry: row.integer(3)))
            }
            return sessions
        }
    }

    func add(_ session: StubSession) throws(StubError) {
        try withConnection { connection throws(StateError) in
            try Statement("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4)", on: connection).run([
                .text(session.token), .text(session.rule), .integer(session.start), .integer(session.expiry),
            ])
        }
    }

    func removeSessions(_ tokens: [String]) throws(StubError) {
        try withConnection { connection throws(StateError) in
            let statement = Statement("DELETE FROM session WHERE token = ?1", on: connection)
            for token in tokens { try statement.run([.text(token)]) }
        }
    }

    /// Removes scenario states, sessions and the items of collections.
    func removeState() throws(StubError) {
        try withConnection { connection throws(StateError) in
            try connection.execute(
                "BEGIN IMMEDIATE; DELETE FROM scenario; DELETE FROM session; DELETE FROM item; COMMIT")
        }
    }

    // MARK: Collections

    /// The maximum number of items in a collection.
    static let itemLimit: Int64 = 10_000

    /// Returns the number of items in each collection that has any.
    func itemCounts() throws(StubError) -> [String: Int64] {
        try withConnection { connection throws(StateError) in
            var counts: [String: Int64] = [:]
            let statement = Statement(
                "SELECT collection, count(*) FROM item GROUP BY collection", on: connection)
            try statement.forEachRow([]) { row in counts[row.text(0)] = row.integer(1) }
            return counts
        }
    }

    /// Returns all items as a JSON array, in the order of their ids.
    func items(in collection: String) throws(StubError) -> String {
        try withConnection { connection throws(StateError) in
            var text = "[]"
            let statement = Statement(
                """
                SELECT json_group_array(json(content)) FROM
                    (SELECT content FROM item WHERE collection = ?1 ORDER BY id)
                """, on: connection)
            try statement.forEachRow([.text(collection)]) { row in text = row.text(0) }
            return text
        }
    }

    func item(_ id: Int64, in collection: String) throws(StubError) -> String? {
        try withConnection { connection throws(StateError) in
            var text: String?
            let statement = Statement(
                "SELECT content FROM item WHERE collection = ?1 AND id = ?2", on: connection)
            try statement.forEachRow([.text(collection), .integer(id)]) { row in text = row.text(0) }
            return text
        }
    }

    /// Adds an item, whose member `id` is set to the next number.
    /// - Parameter object: a JSON object.
    /// - Returns: the id and the stored object; nil if the collection is full.
    func addItem(_ object: String, to collection: String) throws(StubError) -> (id: Int64, object: String)? {
        try withConnection { connection throws(StateError) in
            var added: (Int64, String)?
            let statement = Statement(
                """
                INSERT INTO item (collection, id, content)
                SELECT ?1, next, json_set(?2, '$.id', next) FROM
                    (SELECT coalesce(max(id), 0) + 1 AS next, count(*) AS count FROM item WHERE collection = ?1)
                WHERE count < ?3
                RETURNING id, content
                """, on: connection)
            try statement.forEachRow([.text(collection), .text(object), .integer(Self.itemLimit)]) { row in
                added = (row.integer(0), row.text(1))
            }
            return added
        }
    }

    /// Replaces an item, or merges members into it (RFC 7396).
    /// - Returns: the stored object; nil if there is no such item.
    func changeItem(
        _ id: Int64, in collection: String, to object: String, merges: Bool
    ) throws(StubError) -> String? {
        try withConnection { connection throws(StateError) in
            var changed: String?
            let statement = Statement(
                """
                UPDATE item SET content = json_set(iif(?4, json_patch(content, ?3), ?3), '$.id', id)
                WHERE collection = ?1 AND id = ?2 RETURNING content
                """, on: connection)
            let values: [SQLValue] = [
                .text(collection), .integer(id), .text(object), .integer(merges ? 1 : 0),
            ]
            try statement.forEachRow(values) { row in changed = row.text(0) }
            return changed
        }
    }

    /// - Returns: whether there was such an item.
    func removeItem(_ id: Int64, from collection: String) throws(StubError) -> Bool {
        try withConnection { connection throws(StateError) in
            try Statement("DELETE FROM item WHERE collection = ?1 AND id = ?2", on: connection).run([
                .text(collection), .integer(id),
            ]) > 0
        }
    }
}

/// A session that a rule has started.
struct StubSession: Hashable, Sendable {
    var token: String
    /// The rule that started it.
    var rule: String
    /// Seconds since 1970.
    var start: Int64
    var expiry: Int64
}
