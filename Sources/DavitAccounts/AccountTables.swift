internal import DavitSQLite
internal import DavitStore

/// The tables of a store, inside a transaction.
///
/// The statements are those that SQLite and PostgreSQL have in common; their parameters are `?1`, `?2` and so on.
protocol AccountTables: ~Copyable {
    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    borrowing func run(_ sql: StaticString, _ values: [SQLValue]) throws(AccountError) -> Int

    /// Passes the rows of a query to `body`.
    borrowing func read(
        _ sql: StaticString, _ values: [SQLValue], _ body: (AccountRow) -> Void
    ) throws(AccountError)
}

extension AccountTables where Self: ~Copyable {
    borrowing func read(_ sql: StaticString, _ body: (AccountRow) -> Void) throws(AccountError) {
        try read(sql, [], body)
    }
}

/// A row of a query. Columns are numbered from 0.
struct AccountRow {
    let values: [SQLValue]

    func isNull(_ column: Int) -> Bool {
        if case .null = values[column] { true } else { false }
    }

    func integer(_ column: Int) -> Int64 {
        if case .integer(let value) = values[column] { value } else { 0 }
    }

    func flag(_ column: Int) -> Bool { integer(column) != 0 }

    func text(_ column: Int) -> String {
        if case .text(let value) = values[column] { value } else { "" }
    }

    func blob(_ column: Int) -> [UInt8] {
        if case .blob(let value) = values[column] { value } else { [] }
    }
}

extension DatabaseConnection: AccountTables {
    @discardableResult
    borrowing func run(_ sql: StaticString, _ values: [SQLValue]) throws(AccountError) -> Int {
        do throws(StateError) { return try Statement(sql, on: self).run(values) } catch {
            throw .failed(reason: error.text)
        }
    }

    borrowing func read(
        _ sql: StaticString, _ values: [SQLValue], _ body: (AccountRow) -> Void
    ) throws(AccountError) {
        do throws(StateError) {
            try Statement(sql, on: self).forEachRow(values) { row throws(StateError) in
                body(AccountRow(values: row.values))
            }
        } catch {
            throw .failed(reason: error.text)
        }
    }
}
