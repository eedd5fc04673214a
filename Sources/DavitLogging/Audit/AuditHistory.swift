package import DavitSystem

/// Finds the records of one resource in the files of an audit log.
///
/// The files are read backwards, so that a resource that was renamed is found under its former names before.
package struct AuditHistory: Sendable {
    /// A resource whose records are searched for.
    struct Subject {
        /// The folder of the share; nil until a record determines it.
        var share: String?
        /// The path in the share or, before a record determines the share, possibly the path on the server.
        var path: String

        /// Returns what follows `path` in the path of the resource: empty if they are equal, and nil if the resource is not
        /// below `path`.
        private static func rest(of own: String, below path: String) -> Substring? {
            if own == path { return "" }
            guard own.hasPrefix(path), own.dropFirst(path.count).first == "/" else { return nil }
            return own.dropFirst(path.count)
        }

        /// Returns the part of the resource's path after a path in a record.
        func rest(below path: String, of share: String?) -> Substring? {
            if let own = self.share { return own == share ? Self.rest(of: self.path, below: path) : nil }
            if let rest = Self.rest(of: self.path, below: path) { return rest }
            return share.flatMap { Self.rest(of: self.path, below: $0 + path) }
        }
    }

    /// Where a record is.
    private struct Position {
        let file: Int
        let offset: Int64
        let count: Int
    }

    /// The maximum number of rotated files.
    package static let fileLimit = 1_000

    /// The files, from the newest to the oldest.
    private let paths: [String]

    /// - Parameter path: the newest file; the older ones are `PATH.1`, `PATH.2` and so on.
    package init(_ path: String) { paths = [path] + (1...Self.fileLimit).map { "\(path).\($0)" } }

    /// The number of lines at the end of a file of which one must be a record.
    private static let examinedLines = 100

    /// Whether the newest file can be an audit log: it is empty, or contains a record near its end.
    /// - Throws: the system error if the file cannot be read.
    package func isAuditLog() throws(SystemError) -> Bool {
        guard var reader = try Self.open(paths[0], isRequired: true) else { return true }
        var count = 0
        while count < Self.examinedLines, let (bytes, _) = try reader.next() {
            if let line = AuditLine(parsing: bytes), line.text("op") != nil { return true }
            count += 1
        }
        return count == 0
    }

    /// Calls `body` with the records of a resource, the newest last.
    ///
    /// - Parameters:
    ///   - path: the path in the share or, if there are several shares, the path on the server.
    ///   - limit: the maximum number of records; of more, only the newest are returned. 24 bytes of memory are needed for
    ///     each.
    /// - Returns: false if there may be older records.
    /// - Throws: the system error if a file cannot be read, including when the newest does not exist.
    package func forEach(
        of path: String, limit: Int, _ body: (AuditLine) -> Void
    ) throws(SystemError) -> Bool {
        var subject = Subject(path: path)
        var found: [Position] = []
        var isComplete = true
        search: for (number, path) in paths.enumerated() {
            guard var reader = try Self.open(path, isRequired: number == 0) else { break }
            while let (bytes, offset) = try reader.next() {
                guard let line = AuditLine(parsing: bytes), Self.follow(&subject, line) else { continue }
                if found.count == limit {
                    isComplete = false
                    break search
                }
                found.append(Position(file: number, offset: offset, count: bytes.count))
            }
        }
        var index = found.count
        while index > 0 {
            let file = found[index - 1].file
            guard let reader = try Self.open(paths[file], isRequired: false) else { break }
            while index > 0, found[index - 1].file == file {
                index -= 1
                let bytes = try reader.line(at: found[index].offset, count: found[index].count)
                if let line = AuditLine(parsing: bytes) { body(line) }
            }
        }
        return isComplete
    }

    private static func open(_ path: String, isRequired: Bool) throws(SystemError) -> ReverseLineReader? {
        do throws(SystemError) { return try ReverseLineReader(path) } catch {
            if error.code == .noEntry, !isRequired { return nil }
            throw error
        }
    }

    /// Returns whether a record concerns the resource. If the resource got its name by the recorded change, its former name
    /// is searched for from now on.
    private static func follow(_ subject: inout Subject, _ line: AuditLine) -> Bool {
        guard let path = line.text("path"), let operation = line.text("op") else { return false }
        let share = line.text("share")
        let isDone = line.text("result") != "refused"
        if let destination = line.text("to"), let rest = subject.rest(below: destination, of: share) {
            let isRename = operation == "move" || operation == "restore"
            subject = Subject(share: share, path: (isDone && isRename ? path : destination) + rest)
            return true
        }
        guard let rest = subject.rest(below: path, of: share) else { return false }
        let concernsMembers = ["move", "copy", "delete", "restore", "purge"].contains(operation)
        guard rest.isEmpty || (concernsMembers && isDone) else { return false }
        subject = Subject(share: share, path: path + rest)
        return true
    }
}
