internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A reading connection with its prepared statements. Each call is one query or one transaction, and
/// therefore reads one snapshot.
///
/// The conformance is unchecked: except for ``interrupt()``, only the thread that took the reader from
/// ``ReaderPool`` uses it.
final class RowReader: @unchecked Sendable {
    private let connection: DatabaseConnection
    private let statements: ReadStatements

    init(path: String, busyMilliseconds: Int32) throws(StateError) {
        let connection = try DatabaseConnection(path: path, busyMilliseconds: busyMilliseconds)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON")
        statements = ReadStatements(on: connection)
        self.connection = connection
    }

    // MARK: Records

    /// - Parameter statement: a query that returns the rows of each path consecutively.
    private func records(
        _ statement: Statement, _ values: [SQLValue]
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        var records: [(path: ResourcePath, record: PropertyRecord)] = []
        try statement.forEachRow(values) { row in
            let path = row.path(0)
            if let last = records.indices.last, records[last].path == path {
                records[last].record.properties.append(row.property(6))
            } else {
                records.append((path, PropertyRecord(binding: row.binding(2), properties: [row.property(6)])))
            }
        }
        return records
    }

    func record(at path: ResourcePath) throws(StateError) -> PropertyRecord? {
        var left = Int.max
        return try record(at: path, left: &left)
    }

    /// - Parameter left: the remaining size of names and values; negative afterwards if it was exceeded, in
    ///   which case the record is incomplete.
    private func record(at path: ResourcePath, left: inout Int) throws(StateError) -> PropertyRecord? {
        var properties: [StoredProperty] = []
        var binding: Binding?
        var rest = left
        try statements.recordAt.forEachRow(path.key) { row in
            if rest < 0 { return }
            if binding == nil { binding = row.binding(0) }
            let property = row.property(4)
            rest -= property.byteCount
            if rest >= 0 { properties.append(property) }
        }
        left = rest
        return binding.map { PropertyRecord(binding: $0, properties: properties) }
    }

    /// Reads all paths in one transaction, for a consistent snapshot, and because acquiring the locks of a
    /// transaction costs more than the query for one path.
    func records(at paths: [ResourcePath], limitBytes: Int) throws(StateError) -> [PropertyRecord?] {
        try statements.begin.run([])
        do throws(StateError) {
            var records: [PropertyRecord?] = []
            records.reserveCapacity(paths.count)
            var left = limitBytes
            for path in paths {
                let record = try record(at: path, left: &left)
                if left < 0 { break }
                records.append(record)
            }
            try statements.commit.run([])
            return records
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        try records(statements.recordsUnder, path.key + path.belowRange)
    }

    func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)] {
        var paths: [(path: ResourcePath, binding: Binding)] = []
        try statements.pathsWithProperties.forEachRow([]) { row in
            paths.append((row.path(0), row.binding(2)))
        }
        return paths
    }

    /// Scans the entire table but reads no values: an index is not worth its cost for one query at startup.
    func paths(with name: PropertyName) throws(StateError) -> [ResourcePath] {
        var paths: [ResourcePath] = []
        try statements.pathsWithProperty.forEachRow([.text(name.namespace), .text(name.local)]) { row in
            paths.append(row.path(0))
        }
        return paths
    }

    // MARK: Locks and intents

    func locks() throws(StateError) -> [(lock: Lock, binding: Binding)] {
        var locks: [(lock: Lock, binding: Binding)] = []
        try statements.locks.forEachRow([]) { row in
            let lock = Lock(
                token: LockToken(uri: row.text(0)), root: row.path(1),
                depth: row.flag(3) ? .infinity : .zero, scope: row.flag(4) ? .exclusive : .shared,
                owner: row.isNull(5) ? nil : PropertyValue(element: row.blob(5)),
                principal: row.isNull(6) ? nil : row.text(6), timeoutSeconds: row.integer(7),
                expiry: Timestamp(nanoseconds: row.integer(8)), rootHref: row.blob(9),
                created: row.isNull(14) ? nil : Timestamp(nanoseconds: row.integer(14)),
                network: row.isNull(15) ? nil : row.text(15))
            locks.append((lock, row.binding(10)))
        }
        return locks
    }

    func intents() throws(StateError) -> [RenameIntent] {
        var intents: [RenameIntent] = []
        try statements.intents.forEachRow([]) { (row) throws(StateError) in
            intents.append(
                RenameIntent(
                    id: row.integer(0), source: try Self.checkedPath(row.blob(1)),
                    destination: try Self.checkedPath(row.blob(2)), moved: row.identity(3),
                    replaced: row.isNull(5) ? nil : row.identity(5), isCopy: row.flag(7),
                    origin: row.isNull(8)
                        ? nil
                        : RenameIntent.Origin(
                            path: try Self.checkedPath(row.blob(8)), identity: row.identity(9)),
                    attributes: Self.attributes(row), contentLanguage: row.isNull(14) ? nil : row.text(14),
                    kept: row.isNull(13) ? nil : try Self.checkedPath(row.blob(13))))
        }
        return intents
    }

    func uploads() throws(StateError) -> [UploadRecord] {
        var uploads: [UploadRecord] = []
        try statements.uploads.forEachRow([]) { (row) throws(StateError) in
            let progress = UploadRecord.Progress(
                length: row.isNull(9) ? nil : row.integer(9), offset: row.integer(10),
                isUnverified: row.flag(11), isComplete: row.flag(12),
                expiry: Timestamp(nanoseconds: row.integer(13)))
            uploads.append(
                UploadRecord(
                    id: row.text(0), collection: try Self.checkedPath(row.blob(1)), name: row.blob(2),
                    stagedName: row.blob(3), identity: row.identity(4),
                    principal: row.isNull(6) ? nil : row.text(6),
                    network: row.isNull(14) ? nil : row.text(14), fieldLines: row.blob(7),
                    options: UploadRecord.Options(rawValue: row.integer(8)), progress: progress))
        }
        return uploads
    }

    /// Returns the attributes of an intent; nil if the intent is a rename.
    private static func attributes(_ row: borrowing ResultRow) -> ResourceAttributes? {
        let attributes = ResourceAttributes(
            isExecutable: row.isNull(11) ? nil : row.flag(11),
            modified: row.isNull(12) ? nil : Timestamp(nanoseconds: row.integer(12)))
        return attributes.count == 0 ? nil : attributes
    }

    /// Validates a path, because resources are renamed according to these rows and must stay below the root.
    private static func checkedPath(_ bytes: [UInt8]) throws(StateError) -> ResourcePath {
        guard let path = ResourcePath(segments: bytes.split(separator: UInt8(ascii: "/"))) else {
            throw .failed(reason: "state.sqlite: a row contains an invalid path")
        }
        return path
    }

    // MARK: Trash

    func trashTotals() throws(StateError) -> TrashTotals {
        var totals = TrashTotals()
        try statements.trashTotals.forEachRow([]) { row in
            totals = TrashTotals(
                count: Int(row.integer(0)), bytes: row.integer(1), lastNumber: row.integer(2))
        }
        return totals
    }

    func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try trash(statements.trashAfter, [.integer(number), .integer(Int64(limit))])
    }

    func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        try trash(statements.trashByID, [.text(id)]).first
    }

    private func trash(
        _ statement: Statement, _ values: [SQLValue]
    ) throws(StateError) -> [TrashEntry] {
        var entries: [TrashEntry] = []
        try statement.forEachRow(values) { (row) throws(StateError) in
            entries.append(
                TrashEntry(
                    number: row.integer(0), id: row.text(1), path: try Self.checkedPath(row.blob(2)),
                    location: try Self.checkedPath(row.blob(3)), identity: row.identity(4),
                    deleted: Timestamp(nanoseconds: row.integer(6)),
                    principal: row.isNull(7) ? nil : row.text(7),
                    length: row.isNull(8) ? nil : row.integer(8), isCollection: row.flag(9),
                    reason: row.flag(10) ? .overwritten : .deleted))
        }
        return entries
    }

    // MARK: Maintenance

    /// Interrupts the running query, which fails with an error. The only call that may be made from another
    /// thread.
    func interrupt() { connection.interrupt() }

    /// See ``Statement/scanSteps``.
    var scanSteps: Int { statements.scanSteps }

    /// Returns the problems found by an integrity check, one line each; empty if there are none. Reads the
    /// entire file.
    func integrityProblems() throws(StateError) -> [String] {
        do throws(StateError) {
            let lines = try connection.texts("PRAGMA integrity_check")
            return lines == ["ok"] ? [] : lines
        } catch .failed(let reason) {
            // Some kinds of damage make the check itself fail.
            return [reason]
        }
    }
}

extension ResultRow {
    /// Returns the property in the three columns starting with `column`.
    func property(_ column: Int32) -> StoredProperty {
        StoredProperty(
            name: PropertyName(namespace: text(column), local: text(column + 1)),
            value: PropertyValue(element: blob(column + 2)))
    }

    /// Returns the identity in the two columns starting with `column`.
    func identity(_ column: Int32) -> ResourceIdentity {
        ResourceIdentity(inode: UInt64(bitPattern: integer(column)), birth: integer(column + 1))
    }

    /// Returns the binding in the four columns starting with `column`.
    func binding(_ column: Int32) -> Binding {
        Binding(identity: identity(column), pending: isNull(column + 2) ? nil : identity(column + 2))
    }
}
