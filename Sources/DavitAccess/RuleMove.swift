public import DavitHTTP

/// Where the rules of a folder and of the folders below it are stored.
public enum RuleLocation: Hashable, Sendable {
    /// They apply to this folder. A canonical path.
    case folder(ResourcePath)
    /// They belong to a folder in the trash, with this id, and apply again when it is restored. Until then, they limit the
    /// rights to it, and to what was moved to the trash from it earlier.
    case trash(id: String)
}

/// A move of rules that follows that of their folder.
///
/// Rules and files are stored separately. A move begins before the change of the file system: from then on, the rules are
/// at the source and at the destination, so that the folder is protected at either. It ends when the folder is known to be
/// at one of them.
public struct RuleMove: Hashable, Sendable {
    /// Identifies the move until it ends.
    public let id: Int64
    public let source: RuleLocation
    /// Nil if the folder is removed permanently, with its rules.
    public let destination: RuleLocation?
    /// If the trash contains resources from the folder, the id under which their rules remain in the trash: that of the
    /// source, or a new one.
    public let retainedID: String?

    public init(
        id: Int64, from source: RuleLocation, to destination: RuleLocation?,
        retainedAs retainedID: String? = nil
    ) {
        self.id = id
        self.source = source
        self.destination = destination
        self.retainedID = retainedID
    }

    /// Where the folder was found after the change.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// At the destination, or removed: removes the rules at the source.
        case moved
        /// At the source: removes the rules at the destination.
        case notMoved
        /// At both or at neither, because another program has changed something: keeps all rules, so that nothing
        /// becomes accessible.
        case unknown
    }

    /// The reason why rules were not moved.
    public enum Failure: Error, Hashable, Sendable {
        /// Rules at the destination exist, or an earlier move has not ended.
        case conflict
        /// There would be more rules than permitted.
        case tooManyRules
        /// The rules cannot be stored.
        case failed(reason: String)
    }
}

/// Moves rules together with their folders. Calls may block.
public protocol RuleMover: Sendable {
    /// Whether there are rules at a location. Does not block.
    func hasRules(at location: RuleLocation) -> Bool

    /// Begins a move.
    /// - Parameter retainedID: see ``RuleMove/retainedID``.
    /// - Returns: nil, with nothing changed, if there are no rules at the source.
    func beginMove(
        from source: RuleLocation, to destination: RuleLocation?, retainedAs retainedID: String?
    ) throws(RuleMove.Failure) -> RuleMove?

    /// Ends a move.
    func endMove(_ move: RuleMove, _ outcome: RuleMove.Outcome) throws(RuleMove.Failure)

    /// The moves that have begun and not ended. Does not block.
    var openMoves: [RuleMove] { get }

    /// The original paths of the folders whose rules are in the trash, by their ids, without those that an open move refers
    /// to. Does not block.
    var foldersInTrash: [String: ResourcePath] { get }

    /// Removes rules from the trash.
    func removeRules(ofTrashed id: String) throws(RuleMove.Failure)
}

extension AccessRule {
    /// Returns the rule for another folder.
    /// - Parameters:
    ///   - depth: the number of leading segments of the path that are replaced.
    ///   - folder: replaces them.
    package func moved(from depth: Int, to folder: ResourcePath) -> AccessRule? {
        var path = folder
        for segment in self.path.segments.dropFirst(depth) {
            guard let longer = path.appending(segment) else { return nil }
            path = longer
        }
        return AccessRule(subject, path, rights)
    }
}
