internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Moves the access rules of folders together with the folders.
///
/// The rules are in another database than the rows of a share. A move therefore begins before the change, which puts the
/// rules at both ends, and ends after it. After a crash, ``recover()`` determines from the names that exist which end keeps
/// the rules. This needs no record of the change itself: the change holds path locks on both ends, and the destination was
/// free, so that the folder is at exactly one of them.
///
/// If the change is part of a transaction, the move ends after the transaction: the names that exist show whether it was
/// committed. Until then, the rules are at both ends, also for other servers.
final class RuleMoves: Sendable {
    private let mover: (any RuleMover)?
    private let resources: any ResourceStore
    private let state: any ShareState
    private let sessions: (any StoreSessions)?
    private let report: @Sendable (String) -> Void
    /// The moves that could not be ended. There are never more than folders with rules, because other moves of these folders
    /// are refused.
    private let unended = Mutex<[(move: RuleMove, outcome: RuleMove.Outcome?)]>([])

    /// - Parameter mover: nil if no folder with rules can be moved.
    init(
        _ mover: (any RuleMover)?, _ resources: any ResourceStore, _ state: any ShareState,
        _ sessions: (any StoreSessions)?,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.mover = mover
        self.resources = resources
        self.state = state
        self.sessions = sessions
        self.report = report
    }

    /// Whether moving or removing a folder moves rules, which requires commits.
    func hasRules(atOrUnder path: ResourcePath) -> Bool { mover?.hasRules(at: .folder(path)) == true }

    func hasRules(_ entry: TrashEntry) -> Bool { mover?.hasRules(at: .trash(id: entry.id)) == true }

    /// Runs a change that moves or removes a folder, and moves the rules of the folder.
    /// - Parameter destination: nil if the folder is removed permanently.
    /// - Throws: `busy`, with nothing changed, if an earlier move has not ended; `quotaExceeded`, with nothing changed, if there
    ///   would be too many rules; an error of `change`.
    func perform<R>(
        from source: RuleLocation, to destination: RuleLocation?, _ change: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        // Rules refer to a folder in every spelling of its name.
        guard let mover, mover.hasRules(at: source), !source.isRespelled(as: destination) else {
            return try change()
        }
        let begun: RuleMove?
        let retainedID = try retainedID(from: source, to: destination)
        do throws(RuleMove.Failure) {
            begun = try mover.beginMove(from: source, to: destination, retainedAs: retainedID)
        } catch {
            throw StoreError(error)
        }
        guard let move = begun else { return try change() }
        if let sessions, sessions.afterUnit({ [self] in end(move) }) { return try change() }
        do throws(StoreError) {
            let result = try change()
            end(move, .moved)
            return result
        } catch {
            end(move)
            throw error
        }
    }

    /// Returns the id under which the rules of the source remain in the trash; nil if the trash contains nothing from it,
    /// or if they move to the trash anyway. Otherwise, what was deleted from a folder could become accessible when the
    /// folder is moved.
    private func retainedID(
        from source: RuleLocation, to destination: RuleLocation?
    ) throws(StoreError) -> String? {
        switch (source, destination) {
        case (_, .trash): return nil
        case (.folder(let folder), _):
            return try containsResources(from: folder) ? TrashEntry.randomID() : nil
        case (.trash(let id), .folder(let folder)):
            guard let entry = try entry(id), entry.path.equivalenceKey != folder.equivalenceKey else {
                return nil
            }
            return try containsResources(from: entry.path) ? id : nil
        case (.trash, nil): return nil
        }
    }

    /// Whether something in the trash was below a folder. Takes time linear in the number of entries.
    private func containsResources(from folder: ResourcePath) throws(StoreError) -> Bool {
        var isFound = false
        let key = folder.equivalenceKey
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                let path = entry.path.equivalenceKey
                isFound = key.contains(path) && key != path
                return !isFound
            }
        } catch {
            throw StoreError(error)
        }
        return isFound
    }

    /// Ends a move. If this fails, the rules remain at both ends until ``retry()`` or the next start.
    /// - Parameters:
    ///   - outcome: nil to determine it from the names that exist.
    ///   - isRetry: whether the failure has been reported.
    private func end(_ move: RuleMove, _ outcome: RuleMove.Outcome? = nil, isRetry: Bool = false) {
        do throws(StoreError) {
            let found = if let outcome { outcome } else { try self.outcome(of: move) }
            do throws(RuleMove.Failure) { try mover?.endMove(move, found) } catch {
                throw StoreError(error)
            }
        } catch {
            unended.withLock { $0.append((move, outcome)) }
            if !isRetry { report("moving access rules failed; retrying later: \(error.text)") }
        }
    }

    private func outcome(of move: RuleMove) throws(StoreError) -> RuleMove.Outcome {
        let isAtSource = try exists(move.source)
        guard let destination = move.destination else {
            if isAtSource { return .notMoved }
            return try isReachable(move.source) ? .moved : .unknown
        }
        let isAtDestination = try exists(destination)
        if isAtSource == isAtDestination { return .unknown }
        return isAtSource ? .notMoved : .moved
    }

    private func exists(_ location: RuleLocation) throws(StoreError) -> Bool {
        switch location {
        case .folder(let path): return try resources.identity(at: path) != nil
        case .trash(let id):
            guard let entry = try entry(id) else { return false }
            return try resources.identity(at: entry.location) != nil
        }
    }

    /// Whether the folder that contains a location exists. Otherwise, its volume may be mounted later.
    private func isReachable(_ location: RuleLocation) throws(StoreError) -> Bool {
        switch location {
        case .folder(let path): return try resources.identity(at: path.parent ?? .root) != nil
        case .trash(let id):
            guard let entry = try entry(id) else { return true }
            return try !resources.isTrashUnavailable(of: entry)
        }
    }

    private func entry(_ id: String) throws(StoreError) -> TrashEntry? {
        do throws(StateError) { return try state.trashEntry(id) } catch { throw StoreError(error) }
    }

    /// Ends the moves that a crash interrupted. Call this after the changes themselves are completed or discarded.
    /// - Parameter ids: those of the moves; nil for all.
    func recover(_ ids: Set<Int64>? = nil) {
        for move in mover?.openMoves ?? [] where ids?.contains(move.id) != false { end(move) }
    }

    /// Ends the moves that could not be ended before.
    func retry() {
        let moves = unended.withLock { unended in
            defer { unended = [] }
            return unended
        }
        for (move, outcome) in moves { end(move, outcome, isRetry: true) }
    }

    /// Removes the rules of an entry that was removed from the trash permanently.
    func forget(_ entry: TrashEntry) {
        if hasRules(entry) { removeRules(ofTrashed: entry.id, from: entry.path) }
    }

    /// Removes the rules in the trash that concern nothing in it.
    func sweep() {
        for (id, folder) in mover?.foldersInTrash ?? [:] { removeRules(ofTrashed: id, from: folder) }
    }

    /// Removes rules, unless their folder, or something that was deleted from it earlier, is in the trash.
    private func removeRules(ofTrashed id: String, from folder: ResourcePath) {
        // An entry that cannot be read may exist.
        guard (try? entry(id) == nil) == true, (try? containsResources(from: folder)) == false else { return }
        do throws(RuleMove.Failure) { try mover?.removeRules(ofTrashed: id) } catch {
            report(
                "cannot delete the access rules of a trash entry; retrying later: \(StoreError(error).text)")
        }
    }
}

extension RuleLocation {
    fileprivate func isRespelled(as other: RuleLocation?) -> Bool {
        guard case .folder(let path) = self, case .folder(let other) = other else { return false }
        return path.equivalenceKey == other.equivalenceKey
    }
}

extension StoreError {
    fileprivate init(_ failure: RuleMove.Failure) {
        switch failure {
        case .conflict: self = .busy
        case .tooManyRules: self = .quotaExceeded
        case .failed(let reason): self = .failed(reason: reason)
        }
    }
}
