#if Postgres
/// One SQL statement, which each connection prepares at its first use.
///
/// The text is a literal, so that text from a request can never become SQL, and so that the number of statements that a
/// connection prepares is limited by the program.
package struct PostgresStatement: ExpressibleByStringLiteral, Sendable {
    let text: StaticString
    /// Whether the parameters are `?1` and so on, as in SQLite, instead of `$1`.
    let hasQuestionMarks: Bool

    package init(stringLiteral text: StaticString) {
        self.text = text
        hasQuestionMarks = false
    }

    /// - Parameter text: a statement in the style of SQLite.
    package init(questionMarks text: StaticString) {
        self.text = text
        hasQuestionMarks = true
    }

    /// The text for the server, which ends with a null character.
    var bytes: [CChar] {
        let dollar = hasQuestionMarks ? UInt8(ascii: "$") : UInt8(ascii: "?")
        return unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).map { byte in
            CChar(bitPattern: byte == UInt8(ascii: "?") ? dollar : byte)
        } + [0]
    }
}

/// Statements that are sent together and answered in one round trip.
///
/// The first statement that fails ends the batch; the following ones are not run. Outside of a transaction, the
/// statements of a batch are one transaction.
package struct PostgresBatch: Sendable {
    struct QueuedStatement {
        let statement: PostgresStatement
        let values: [PostgresValue]
        /// Whether a loss of the connection leaves the effect of the batch in doubt, and the answer must be COMMIT.
        let isCommit: Bool
    }

    private(set) var statements: [QueuedStatement] = []

    package init() {}

    /// The number of statements, and the index of the next statement's result.
    package var count: Int { statements.count }

    var endsWithCommit: Bool { statements.last?.isCommit ?? false }

    /// Appends a statement with the values of `$1` and so on.
    package mutating func add(_ statement: PostgresStatement, _ values: PostgresValue...) {
        add(statement, values)
    }

    /// Appends a statement with the values of `$1` and so on.
    package mutating func add(_ statement: PostgresStatement, _ values: [PostgresValue]) {
        statements.append(QueuedStatement(statement: statement, values: values, isCommit: false))
    }

    mutating func add(_ command: QueuedStatement) { statements.append(command) }

    /// Appends COMMIT.
    package mutating func addCommit() {
        statements.append(QueuedStatement(statement: "COMMIT", values: [], isCommit: true))
    }

    /// Appends the statements of another batch.
    package mutating func add(_ other: PostgresBatch) { statements += other.statements }
}
#endif
