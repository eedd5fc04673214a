internal import DavitHTTP
internal import DavitStore

extension ShareAction {
    /// Describes a change of the resources in `change`.
    init(
        _ kind: Kind, on change: ChangeTarget, locatedBy locate: @escaping @Sendable (ResourcePath) -> String
    ) {
        self.kind = kind
        // A request that adds a member targets the collection; the new member is the destination.
        let uploaded = change.destination ?? change.target
        path = kind == .upload ? uploaded.path : change.target.path
        self.locate = locate
        destination = kind == .upload ? nil : change.destination?.path
        isCollection =
            kind == .createCollection || (kind != .upload && change.resolvedInfo?.isCollection == true)
        isReplacing =
            switch kind {
            case .move, .copy: change.destination?.info != nil
            case .upload: uploaded.info != nil
            case .download, .delete, .createCollection, .restore, .purge, .breakLock: false
            }
        principal = change.context.principal
    }

    /// Describes a change that restores or removes a trash entry.
    init(
        _ kind: Kind, of entry: TrashEntry, on change: ChangeTarget,
        locatedBy locate: @escaping @Sendable (ResourcePath) -> String
    ) {
        self.kind = kind
        path = change.destination?.path ?? entry.path
        self.locate = locate
        destination = nil
        isCollection = entry.isCollection
        isReplacing = change.destination?.info != nil
        principal = change.context.principal
    }
}
