internal import DavitSQLite

/// Second factors. Triggers remove that of a removed account, and the recovery codes of a removed second factor.
enum SecondFactorStatements {
    /// Returns the second factor of each account that has one.
    static func all(
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> [String: StoredSecondFactor] {
        var factors: [String: StoredSecondFactor] = [:]
        try tables.read("SELECT account, secret, created, used_step FROM second_factor") { row in
            factors[row.text(0)] = StoredSecondFactor(
                secret: row.blob(1), createdAt: row.integer(2), usedStep: row.integer(3), recoveryHashes: [])
        }
        try tables.read("SELECT account, code_hash FROM recovery_code") { row in
            factors[row.text(0)]?.recoveryHashes.insert(row.blob(1))
        }
        return factors
    }

    /// Sets or removes a second factor, and removes all sessions of the account except one.
    static func set(
        _ factor: StoredSecondFactor?, of account: String, keeping session: Int64?,
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        let count = try tables.run("DELETE FROM second_factor WHERE account = ?1", [.text(account)])
        if let factor {
            let added = try tables.run(
                "INSERT INTO second_factor SELECT name, ?2, ?3, ?4 FROM account WHERE name = ?1",
                [
                    .text(account), .blob(factor.secret), .integer(factor.createdAt),
                    .integer(factor.usedStep),
                ])
            if added == 0 { throw .unknownAccount(account) }
            for hash in factor.recoveryHashes {
                try tables.run(
                    "INSERT INTO recovery_code VALUES (?1, ?2)", [.text(account), .blob(hash)])
            }
        } else if count == 0 {
            throw .noSecondFactor(account)
        }
        try tables.run(
            "DELETE FROM session WHERE account = ?1 AND id <> ?2", [.text(account), .integer(session ?? 0)])
    }

    /// Records the use of a code; refuses it if it or a later one was used before.
    static func use(
        step: Int64, of account: String, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        let count = try tables.run(
            "UPDATE second_factor SET used_step = ?2 WHERE account = ?1 AND used_step < ?2",
            [.text(account), .integer(step)])
        if count == 0 { throw .codeNotUsable(account) }
    }

    static func use(
        recoveryHash: [UInt8], of account: String, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        let count = try tables.run(
            "DELETE FROM recovery_code WHERE account = ?1 AND code_hash = ?2",
            [.text(account), .blob(recoveryHash)])
        if count == 0 { throw .codeNotUsable(account) }
    }
}
