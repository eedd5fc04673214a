#if Postgres
internal import DavitPostgres

/// One transaction that gives numbers to changes. Only one node at a time has it open for a share.
struct JournalNumbering {
    private let transaction: PostgresTransaction
    private let share: Int64
    private let limit: Int
    private var last: Int64 = 0

    init(_ transaction: PostgresTransaction, share: Int64, limit: Int) {
        self.transaction = transaction
        self.share = share
        self.limit = limit
    }

    /// Takes the turn, and begins the journal if it is not in use.
    mutating func begin() throws(PostgresError) {
        let found = try transaction.run(
            "SELECT is_journaled, last_number FROM share WHERE id = $1 FOR UPDATE", .integer(share))
        guard found.count == 1 else { return }
        last = try found.integer(0, 1)
        if try found.flag(0, 0) { return }
        var batch = PostgresBatch()
        for table: PostgresStatement in [
            "DELETE FROM change WHERE share = $1", "DELETE FROM member_change WHERE share = $1",
            "DELETE FROM journal_collection WHERE share = $1",
            """
            UPDATE share SET is_journaled = true, journal = gen_random_uuid(), journal_used = clock_timestamp(),
                forgotten_number = last_number
            WHERE id = $1
            """,
        ] { batch.add(table, .integer(share)) }
        _ = try transaction.run(batch)
    }

    /// Stores the last number.
    func end() throws(PostgresError) {
        try transaction.run(
            "UPDATE share SET last_number = $2 WHERE id = $1", .integer(share), .integer(last))
    }

    // MARK: Changes

    /// A member that has changed.
    private struct ChangedMember {
        let parent: Int64
        let key: [UInt8]
        let name: [UInt8]
        var number: Int64
        /// Whether it may be a collection with members that were elsewhere before.
        var appears = false
        /// Whether more than its locks changed.
        var isChanged = false
        var hasLocks = false
    }

    /// Numbers the oldest changes.
    /// - Returns: whether these were all.
    mutating func numberChanges() throws(PostgresError) -> Bool {
        // By place, because a join by the key could read all rows; they are never updated.
        let taken = try transaction.run(
            """
            DELETE FROM change WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM change WHERE share = $1 ORDER BY xid, number LIMIT $2))
            RETURNING number, parent, name, kind
            """, .integer(share), .integer(Int64(limit)))
        if taken.count == 0 { return true }
        var members: [ChangedMember] = []
        var indexes: [MemberKey: Int] = [:]
        let rows = try (0..<taken.count).map { row throws(PostgresError) in
            (number: try taken.integer(row, 0), row: row)
        }
        for (_, row) in rows.sorted(by: { $0.number < $1.number }) {
            let (parent, name) = (try taken.integer(row, 1), try taken.bytes(row, 2))
            let key = MemberKey(parent: parent, key: TreeKey.key(of: name))
            let index = indexes[key] ?? members.count
            if index == members.count {
                indexes[key] = index
                members.append(ChangedMember(parent: parent, key: key.key, name: name, number: 0))
            }
            last += 1
            members[index].number = last
            switch TreeChange(rawValue: try taken.integer(row, 3)) {
            case .locks: members[index].hasLocks = true
            case .appeared:
                members[index].appears = true
                members[index].isChanged = true
            case .changed, .removed, nil: members[index].isChanged = true
            }
        }
        try record(members.filter(\.isChanged))
        try recordLocks(members.filter(\.hasLocks))
        return taken.count < limit
    }

    private struct MemberKey: Hashable {
        let parent: Int64
        let key: [UInt8]
    }

    /// Records what the members are now: a change that is not the last one does not matter.
    private func record(_ members: [ChangedMember]) throws(PostgresError) {
        if members.isEmpty { return }
        let parents = PostgresValue.integers(members.map(\.parent))
        let keys = PostgresValue.byteStrings(members.map(\.key))
        try transaction.run(
            """
            INSERT INTO member_change AS m (share, parent, key, name, resource, is_collection, number, placed)
            SELECT $1, i.parent, i.key, coalesce(r.name, i.name), coalesce(r.id, 0), coalesce(r.kind = 0, false),
                i.number, i.number
            FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bigint[]) AS i (parent, key, name, number)
                LEFT JOIN resource r ON r.share = $1 AND r.parent = i.parent AND r.key = i.key
            ON CONFLICT (share, parent, key) DO UPDATE SET
                name = excluded.name, resource = excluded.resource, number = excluded.number,
                is_collection = CASE WHEN excluded.resource = 0 THEN m.is_collection ELSE excluded.is_collection END,
                placed = CASE WHEN m.resource = excluded.resource THEN m.placed ELSE excluded.number END,
                replaced = CASE
                    WHEN m.resource = excluded.resource OR excluded.resource = 0 OR NOT m.is_collection
                    THEN m.replaced
                    -- Who knows that the old collection is gone is not confused by the new one.
                    WHEN m.resource = 0 THEN m.number
                    ELSE excluded.number END
            """, .integer(share), parents, keys, .byteStrings(members.map(\.name)),
            .integers(members.map(\.number)))
        // Everything below a collection that comes from elsewhere is new for readers of all that is below another one.
        try transaction.run(
            """
            INSERT INTO journal_collection (share, collection, is_deep)
            SELECT $1, r.id, true
            FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS i (parent, key, appears)
                JOIN journal_collection p ON p.share = $1 AND p.collection = i.parent AND p.is_deep
                JOIN resource r ON r.share = $1 AND r.parent = i.parent AND r.key = i.key AND r.kind = 0
            WHERE i.appears = 1
                OR NOT EXISTS (SELECT FROM journal_collection k WHERE k.share = $1 AND k.collection = r.id)
            ON CONFLICT (share, collection) DO UPDATE SET is_deep = true, is_listed = false, after_key = ''
            """, .integer(share), parents, keys, .integers(members.map { $0.appears ? 1 : 0 }))
    }

    private func recordLocks(_ members: [ChangedMember]) throws(PostgresError) {
        if members.isEmpty { return }
        try transaction.run(
            """
            UPDATE member_change m SET locks = i.number
            FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS i (parent, key, number)
            WHERE m.share = $1 AND m.parent = i.parent AND m.key = i.key
            """, .integer(share), .integers(members.map(\.parent)), .byteStrings(members.map(\.key)),
            .integers(members.map(\.number)))
    }

    // MARK: Listing

    /// Numbers members of a collection that clients ask about for the first time, or of collections below it.
    /// - Returns: whether all were numbered.
    mutating func list(_ target: JournalTarget?) throws(PostgresError) -> Bool {
        guard let target else { return true }
        try transaction.run(
            """
            INSERT INTO journal_collection AS c (share, collection, is_deep) VALUES ($1, $2, $3)
            ON CONFLICT (share, collection) DO UPDATE SET is_deep = true, is_listed = false, after_key = ''
            WHERE excluded.is_deep AND NOT c.is_deep
            """, .integer(share), .integer(target.collection), .flag(target.isDeep))
        var count = 0
        while count < limit {
            let next = try transaction.run(
                """
                SELECT collection, is_deep, after_key FROM journal_collection
                WHERE share = $1 AND NOT is_listed AND (collection = $2 OR $3 AND is_deep) LIMIT 1
                """, .integer(share), .integer(target.collection), .flag(target.isDeep))
            if next.count == 0 { return true }
            let collection = try next.integer(0, 0)
            let page = try transaction.run(
                """
                WITH page AS (
                    SELECT id, key, name, kind, row_number() OVER (ORDER BY key) AS position
                    FROM (
                        SELECT * FROM resource WHERE share = $1 AND parent = $2 AND key > $3 ORDER BY key LIMIT $4
                    ) member
                ), listed AS (
                    INSERT INTO member_change AS m (share, parent, key, name, resource, is_collection, number, placed)
                    SELECT $1, $2, key, name, id, kind = 0, $5 + position, 0 FROM page
                    ON CONFLICT (share, parent, key) DO UPDATE SET
                        name = excluded.name, resource = excluded.resource, is_collection = excluded.is_collection,
                        number = excluded.number,
                        placed = CASE WHEN m.resource = excluded.resource THEN m.placed ELSE excluded.number END
                ), below AS (
                    INSERT INTO journal_collection (share, collection, is_deep)
                    SELECT $1, id, true FROM page WHERE $6 AND kind = 0
                    ON CONFLICT (share, collection) DO UPDATE SET is_deep = true, is_listed = false, after_key = ''
                )
                SELECT count(*), coalesce((SELECT key FROM page ORDER BY key DESC LIMIT 1), '') FROM page
                """, .integer(share), .integer(collection), .bytes(try next.bytes(0, 2)),
                .integer(Int64(limit)), .integer(last), .flag(try next.flag(0, 1)))
            let found = Int(try page.integer(0, 0))
            last += Int64(found)
            count += found + 1
            try transaction.run(
                """
                UPDATE journal_collection SET is_listed = $3, after_key = $4 WHERE share = $1 AND collection = $2
                """, .integer(share), .integer(collection), .flag(found < limit),
                .bytes(try page.bytes(0, 1)))
        }
        return false
    }
}
#endif
