public import DavitAccess
public import DavitHTTP

/// Moves of rules. Each blocks, and takes time linear in the number of rules.
extension AccountDirectory: RuleMover {
    public var ruleMover: (any RuleMover)? { self }

    public func isFixed(_ path: ResourcePath) -> Bool { rules.isBoundToHomes(path) }

    public func hasRules(at location: RuleLocation) -> Bool {
        switch location {
        case .folder(let path): rules.hasRules(atOrUnder: path)
        case .trash(let id): hasTrashedRules(id)
        }
    }

    public func beginMove(
        from source: RuleLocation, to destination: RuleLocation?, retainedAs retainedID: String?
    ) throws(RuleMove.Failure) -> RuleMove? {
        guard hasRules(at: source) else { return nil }
        // Otherwise, moving a folder to and fro would retain its rules each time. Those that are retained stay: the trash
        // contains resources from the folder, which the caller keeps in place.
        let isRetained = retainedID != nil && retainsRules(of: source)
        let move = RuleMove(
            id: nextMoveID(), from: source, to: destination, retainedAs: isRetained ? nil : retainedID)
        try change(.beginRuleMove(move))
        return move
    }

    public func endMove(_ move: RuleMove, _ outcome: RuleMove.Outcome) throws(RuleMove.Failure) {
        try change(.endRuleMove(id: move.id, outcome))
    }

    public func removeRules(ofTrashed id: String) throws(RuleMove.Failure) {
        try change(.removeTrashedRules(id: id))
    }

    private func change(_ change: AccountChange) throws(RuleMove.Failure) {
        do throws(AccountError) { try commit([change]) } catch {
            switch error {
            case .moveConflict: throw .conflict
            case .tooManyRules: throw .tooManyRules
            default: throw .failed(reason: error.text)
            }
        }
    }

    public func view(
        of principal: Principal, ofTrashed id: String, from path: ResourcePath
    ) -> (any AccessView)? {
        guard let (rules, own, others) = trashedRules(id, at: path) else { return nil }
        let view =
            own.map { rules.view(of: principal, $0.placed(at: path), at: path) } ?? rules.view(of: principal)
        if others.isEmpty { return view }
        return IntersectedView([view] + others.map { rules.view(of: principal, $0.placed(), at: $0.folder) })
    }
}
