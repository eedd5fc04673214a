internal import DavitSQLite

/// Sessions. Triggers remove those of accounts that are removed, disabled or get another secret.
enum SessionStatements {
    static func all(
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> [StoredSession] {
        var sessions: [StoredSession] = []
        try tables.read("SELECT id, token_hash, account, created, used, address, agent FROM session") { row in
            sessions.append(StoredSession(row))
        }
        return sessions
    }

    static func session(
        withHash hash: [UInt8], on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> StoredSession? {
        var session: StoredSession?
        try tables.read(
            """
            SELECT id, token_hash, account, created, used, address, agent FROM session WHERE token_hash = ?1
            """, [.blob(hash)]
        ) { row in session = StoredSession(row) }
        return session
    }

    static func apply(
        _ change: SessionChange, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        switch change {
        case .add(let session):
            let count = try tables.run(
                """
                INSERT INTO session (id, token_hash, account, created, used, address, agent)
                SELECT ?1, ?2, name, ?4, ?5, ?6, ?7 FROM account WHERE name = ?3 AND is_enabled = 1
                """,
                [
                    .integer(session.id), .blob(session.tokenHash), .text(session.account),
                    .integer(session.createdAt), .integer(session.usedAt), .text(session.address),
                    .text(session.agent),
                ])
            if count == 0 { throw .unknownAccount(session.account) }
        case .use(let id, let time, let address):
            try tables.run(
                "UPDATE session SET used = ?2, address = ?3 WHERE id = ?1",
                [.integer(id), .integer(time), .text(address)])
        case .remove(let id): try tables.run("DELETE FROM session WHERE id = ?1", [.integer(id)])
        }
    }
}

extension StoredSession {
    /// Reads the columns of ``SessionStatements``.
    fileprivate init(_ row: AccountRow) {
        self.init(
            id: row.integer(0), tokenHash: row.blob(1), account: row.text(2), createdAt: row.integer(3),
            usedAt: row.integer(4), address: row.text(5), agent: row.text(6))
    }
}
