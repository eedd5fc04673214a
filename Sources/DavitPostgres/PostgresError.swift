#if Postgres
/// Why a statement or a connection failed.
package struct PostgresError: Error, Hashable, Sendable {
    /// What a caller can do about an error.
    package enum Kind: Hashable, Sendable {
        /// Another transaction was in the way (40001, 40P01): the whole transaction may be run again.
        case retry
        /// A row that breaks a constraint (class 23), with the constraint's name.
        case constraint(String)
        /// The server takes no changes (25006), as a standby does.
        case readOnly
        /// The server's disk is full (53100).
        case full
        /// The server has no connection left (53300).
        case tooManyConnections
        /// The server is a standby, or was the primary before a standby was promoted. The connection is closed.
        case notPrimary
        /// The tables have another version than this davit needs, or cannot be migrated at present.
        case wrongSchema
        /// A table, column or function that is missing, or that the role may not use (42P01, 42703, 42883, 42501).
        case notPermitted
        /// The server cannot do it at present: a lock was not granted in time (55P03), the statement took too long
        /// (57014), or the table of locks is full (53200).
        case busy
        /// The deadline passed. The connection is closed.
        case timedOut
        /// The connection was lost, or could not be opened. Nothing is committed.
        case connectionLost
        /// The connection was lost after COMMIT was sent: the transaction is committed or not.
        case inDoubt
        /// Any other error that the server reported.
        case other
    }

    /// What a caller can do about it.
    package let kind: Kind
    /// The SQLSTATE of the server, five characters; empty if the error did not come from the server.
    package let state: String
    /// One line for the log.
    package let message: String

    /// An error that makes the caller run its transaction again.
    package static func conflict(_ message: String) -> PostgresError { PostgresError(.retry, message) }

    init(_ kind: Kind, state: String = "", _ message: String) {
        self.kind = kind
        self.state = state
        self.message = message
    }

    /// Classifies an error of the server.
    init(state: String, message: String, constraint: String) {
        let kind: Kind =
            switch state {
            case "40001", "40P01": .retry
            case "25006": .readOnly
            case "53100": .full
            case "53300": .tooManyConnections
            case "55P03", "57014", "53200": .busy
            case "42P01", "42703", "42883", "42501": .notPermitted
            case let state where state.hasPrefix("23"): .constraint(constraint)
            // The server ends the connection: administrator, crash, recovery, start, timeout of an idle session or
            // transaction. An empty state is an error of libpq, which loses the connection.
            case "57P01", "57P02", "57P03", "57P05", "25P03", "": .connectionLost
            case let state where state.hasPrefix("08"): .connectionLost
            default: .other
            }
        self.init(kind, state: state, message)
    }

    /// Classifies an error of connecting, from libpq's verbose text: `FATAL:  53300: sorry, too many clients already`, and
    /// lines with the place in the server's source.
    init(ofConnecting text: String) {
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
        let message = lines.joined(separator: " ")
        let words = message.split(separator: " ")
        // Those of connecting begin with a digit, unlike the severity.
        let state = words.first { word in
            word.utf8.count == 6 && word.last == ":" && word.first?.isASCII == true
                && word.first?.isNumber == true
                && word.dropLast().utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        }
        self.init(state: state.map { String($0.dropLast()) } ?? "", message: message, constraint: "")
    }
}
#endif
