internal import DavitAccess
internal import DavitHTTP
internal import DavitSQLite

extension RuleLocation {
    /// Whether the rules at both locations can be the same.
    func overlaps(_ other: RuleLocation) -> Bool {
        switch (self, other) {
        case (.folder(let path), .folder(let other)):
            return path.equivalenceKey.overlaps(other.equivalenceKey)
        case (.trash(let id), .trash(let other)): return id == other
        case (.folder, .trash), (.trash, .folder): return false
        }
    }

    fileprivate var isInTrash: Bool {
        if case .trash = self { true } else { false }
    }

    /// Whether a rule for a folder is one of those at this location.
    func contains(_ path: ResourcePath) -> Bool {
        guard case .folder(let folder) = self else { return false }
        return folder.equivalenceKey.contains(path.equivalenceKey)
    }
}

extension RuleMove {
    var locations: [RuleLocation] {
        [source] + (destination.map { [$0] } ?? []) + (retainedID.map { [.trash(id: $0)] } ?? [])
    }

    /// The locations to which the rules of the source are copied at the beginning.
    fileprivate var copies: [RuleLocation] {
        // Rules that come from the trash can only be retained there.
        guard case .folder = source else { return destination.map { [$0] } ?? [] }
        return Array(locations.dropFirst())
    }

    /// The locations whose rules are removed at the end.
    fileprivate func emptied(_ outcome: Outcome) -> [RuleLocation] {
        switch outcome {
        case .moved: source == retainedID.map { .trash(id: $0) } ? [] : [source]
        case .notMoved: copies
        case .unknown: []
        }
    }

    /// Whether both moves concern the same rules, or this one moves rules into their own folder.
    func conflicts(with other: RuleMove) -> Bool {
        locations.contains { location in other.locations.contains(where: location.overlaps) }
    }

    /// Whether the move cannot be expressed: the source and the destination overlap, or both are in the trash.
    var isCircular: Bool {
        if case .trash = source, case .trash? = destination { return true }
        return destination?.overlaps(source) == true
    }
}

/// The statements for moves of rules, inside a transaction. They take time linear in the number of rules.
enum RuleMoveStatements {
    /// - Parameter ruleLimit: see ``AccountContents/ruleLimit``.
    static func begin(
        _ move: RuleMove, on tables: borrowing some AccountTables & ~Copyable, _ ruleLimit: Int
    ) throws(AccountError) {
        let others = try open(on: tables).values
        if move.isCircular || others.contains(where: { $0.conflicts(with: move) || $0.id == move.id }) {
            throw .moveConflict
        }
        let moved = try rules(at: move.source, on: tables)
        for copy in move.copies {
            guard try rules(at: copy, on: tables).isEmpty else { throw .moveConflict }
            if !moved.isEmpty, copy.isInTrash || move.source.isInTrash {
                let present = try count(inTrash: copy.isInTrash, on: tables)
                guard present + moved.count <= ruleLimit else { throw .tooManyRules }
            }
            for rule in moved { try insert(rule, of: move.source, at: copy, on: tables) }
        }
        try tables.run(
            """
            INSERT INTO rule_move
            (id, source_path, source_entry, destination_path, destination_entry, retained_entry)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [.integer(move.id)] + values(of: move.source) + values(of: move.destination)
                + [.optional(move.retainedID)])
    }

    static func end(
        _ id: Int64, _ outcome: RuleMove.Outcome, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        guard let move = try open(on: tables)[id] else { throw .unknownMove(id: id) }
        for location in move.emptied(outcome) { try removeRules(at: location, on: tables) }
        try tables.run("DELETE FROM rule_move WHERE id = ?1", [.integer(id)])
    }

    /// Checks that no open move concerns the rules of a folder: they would be changed at only one of its ends.
    static func checkMayChange(
        _ path: ResourcePath, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        let isMoving = try open(on: tables).values.contains { move in
            move.locations.contains { $0.contains(path) }
        }
        if isMoving { throw .isMoving(path) }
    }

    // MARK: Reading

    /// Returns the number of rules that apply, or of those of folders in the trash. They are limited separately, so that a
    /// full trash does not prevent anyone from setting rules.
    static func count(
        inTrash: Bool, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> Int {
        var count: Int64 = 0
        let query: StaticString = inTrash ? "SELECT count(*) FROM trashed_rule" : "SELECT count(*) FROM rule"
        try tables.read(query) { row in count = row.integer(0) }
        return Int(count)
    }

    static func open(
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> [Int64: RuleMove] {
        var moves: [Int64: RuleMove] = [:]
        var isDamaged = false
        try tables.read(
            """
            SELECT id, source_path, source_entry, destination_path, destination_entry, retained_entry
            FROM rule_move
            """
        ) { row in
            let hasDestination = !row.isNull(3) || !row.isNull(4)
            let destination = location(at: 3, of: row)
            guard let source = location(at: 1, of: row), hasDestination == (destination != nil) else {
                isDamaged = true
                return
            }
            moves[row.integer(0)] = RuleMove(
                id: row.integer(0), from: source, to: destination,
                retainedAs: row.isNull(5) ? nil : row.text(5))
        }
        if isDamaged { throw .failed(reason: "a move of rules cannot be read") }
        return moves
    }

    /// Reads a path or the id of an entry, of which one is not NULL.
    private static func location(at column: Int, of row: AccountRow) -> RuleLocation? {
        if !row.isNull(column) { return ResourcePath(stored: row.blob(column)).map { .folder($0) } }
        return row.isNull(column + 1) ? nil : .trash(id: row.text(column + 1))
    }

    /// Returns the rules of folders in the trash, by the ids of their entries.
    static func trashed(
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> [String: TrashedRules] {
        var rules: [String: TrashedRules] = [:]
        var isDamaged = false
        try tables.read(
            "SELECT subject, name, path, rights, entry, folder FROM trashed_rule ORDER BY path, subject, name"
        ) { row in
            if let rule = AccessRule(row), let folder = ResourcePath(stored: row.blob(5)) {
                rules[row.text(4), default: TrashedRules(folder: folder, rules: [])].rules.append(rule)
            } else {
                isDamaged = true
            }
        }
        if isDamaged { throw .failed(reason: "a rule of a folder in the trash cannot be read") }
        return rules
    }

    /// Returns the rules at a location, with paths relative to it.
    private static func rules(
        at location: RuleLocation, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> [AccessRule] {
        var found: [AccessRule] = []
        switch location {
        case .folder(let folder):
            let (key, depth) = (folder.equivalenceKey, folder.depth)
            try tables.read("SELECT subject, name, path, rights FROM rule") { row in
                guard let rule = AccessRule(row), key.contains(rule.path.equivalenceKey) else { return }
                if let rule = rule.moved(from: depth, to: .root) { found.append(rule) }
            }
        case .trash(let id):
            try tables.read(
                "SELECT subject, name, path, rights FROM trashed_rule WHERE entry = ?1", [.text(id)]
            ) { row in
                if let rule = AccessRule(row) { found.append(rule) }
            }
        }
        return found
    }

    // MARK: Changes

    /// - Parameters:
    ///   - rule: its path is relative to the location.
    ///   - source: where the rule comes from.
    private static func insert(
        _ rule: AccessRule, of source: RuleLocation, at location: RuleLocation,
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        switch location {
        case .folder(let folder):
            guard let rule = rule.moved(from: 0, to: folder) else { return }
            try tables.run(
                "INSERT INTO rule (subject, name, path, rights) VALUES (?1, ?2, ?3, ?4)",
                rule.subject.values + [.blob(rule.path.bytes), .text(rule.rights.description)])
        case .trash(let id):
            guard case .folder(let folder) = source else { throw .moveConflict }
            try tables.run(
                """
                INSERT INTO trashed_rule (subject, name, path, rights, entry, folder)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """,
                rule.subject.values
                    + [
                        .blob(rule.path.bytes), .text(rule.rights.description), .text(id),
                        .blob(folder.bytes),
                    ])
        }
    }

    private static func removeRules(
        at location: RuleLocation, on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) {
        switch location {
        case .trash(let id): try tables.run("DELETE FROM trashed_rule WHERE entry = ?1", [.text(id)])
        case .folder:
            var paths: Set<[UInt8]> = []
            try tables.read("SELECT DISTINCT path FROM rule") { row in
                let path = row.blob(0)
                if let rulePath = ResourcePath(stored: path), location.contains(rulePath) {
                    paths.insert(path)
                }
            }
            for path in paths { try tables.run("DELETE FROM rule WHERE path = ?1", [.blob(path)]) }
        }
    }

    private static func values(of location: RuleLocation?) -> [SQLValue] {
        switch location {
        case .folder(let path): [.blob(path.bytes), .null]
        case .trash(let id): [.null, .text(id)]
        case nil: [.null, .null]
        }
    }
}

// MARK: In memory

extension AccountContents {
    /// Returns the rules at a location, with paths relative to it.
    private func rules(at location: RuleLocation) -> [AccessRule] {
        switch location {
        case .folder(let folder):
            let depth = folder.depth
            return rules.filter { location.contains($0.path) }.compactMap { $0.moved(from: depth, to: .root) }
        case .trash(let id): return trashedRules[id]?.rules ?? []
        }
    }

    /// Whether the rules at a location are in the trash already, for resources that were moved to the trash from it.
    func retainsRules(of source: RuleLocation) -> Bool {
        guard case .folder(let folder) = source else { return false }
        let (own, key) = (Set(rules(at: source)), folder.equivalenceKey)
        let moving = Set(ruleMoves.values.flatMap(\.locations))
        return trashedRules.contains { id, trashed in
            trashed.folder.equivalenceKey == key && Set(trashed.rules) == own
                && !moving.contains(.trash(id: id))
        }
    }

    mutating func begin(_ move: RuleMove) {
        ruleMoves[move.id] = move
        let moved = rules(at: move.source)
        for copy in move.copies {
            switch copy {
            case .folder(let folder):
                rules += moved.compactMap { $0.moved(from: 0, to: folder) }
                rules.sort { $0.precedes($1) }
            case .trash(let id):
                guard case .folder(let folder) = move.source, !moved.isEmpty else { continue }
                trashedRules[id] = TrashedRules(folder: folder, rules: moved.sorted { $0.precedes($1) })
            }
        }
    }

    mutating func endMove(_ id: Int64, _ outcome: RuleMove.Outcome) {
        guard let move = ruleMoves.removeValue(forKey: id) else { return }
        for location in move.emptied(outcome) {
            switch location {
            case .folder: rules.removeAll { location.contains($0.path) }
            case .trash(let id): trashedRules[id] = nil
            }
        }
    }

    /// Removes the rules of a subject that no longer exists.
    mutating func removeRules(of subject: AccessRule.Subject) {
        rules.removeAll { $0.subject == subject }
        for (id, trashed) in trashedRules {
            var rest = trashed
            rest.rules.removeAll { $0.subject == subject }
            if rest != trashed { trashedRules[id] = rest.rules.isEmpty ? nil : rest }
        }
    }
}
