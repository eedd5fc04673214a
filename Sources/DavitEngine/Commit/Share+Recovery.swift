internal import DavitHTTP
public import DavitStore

extension Share {
    /// Finishes or forgets the renames that a crash cut in two. Called once, before the first request.
    ///
    /// The destination has the identity of what was moved: the rename happened, so its rows move too and what
    /// it replaced goes. Otherwise it did not happen.
    public func recover() throws(StateError) {
        for intent in try state.intents() {
            do throws(StoreError) {
                if let attributes = intent.attributes {
                    try finish(intent, attributes)
                    continue
                }
                // The new content has come into place, or it has not.
                if intent.contentLanguage == nil { try finishExchange(intent) }
                guard try resources.identity(at: intent.destination) == intent.moved else {
                    forget(intent)
                    continue
                }
                if intent.contentLanguage == nil {
                    try removeReplaced(intent)
                    try removeOrigin(intent)
                }
            } catch {
                report("a rename of an earlier run could not be looked at: \(error)")
                continue
            }
            try state.commit(intent.rowsAfterwards)
        }
        try recoverTrash()
    }

    /// The rows are there; what they came with may be: then nothing is set, and the entity tag stays.
    private func finish(_ intent: Intent, _ attributes: ResourceAttributes) throws(StoreError) {
        let path = intent.destination
        let info = try stored.lookup(path, last: .itself, wait: .allowed).info
        if let info, info.identity == intent.moved {
            let missing = attributes.unlike(info)
            if missing.count > 0 { try stored.setAttributes(missing, at: path) }
        }
        forget(intent)
    }

    /// A volume that cannot exchange two names hides one of them for a moment: a crash then leaves the
    /// destination without anything.
    private func finishExchange(_ intent: Intent) throws(StoreError) {
        guard intent.replaced != nil, try resources.identity(at: intent.destination) == nil,
            let source = try standing(intent)
        else { return }
        try resources.rename(source, toFree: intent.destination)
    }

    /// Where what is moved stands, if the destination does not have it: a copy that changes places with what the trash
    /// keeps stands there first.
    private func standing(_ intent: Intent) throws(StoreError) -> ResourcePath? {
        for path in [intent.source, intent.kept] {
            if let path, try resources.identity(at: path) == intent.moved { return path }
        }
        return nil
    }

    private func removeReplaced(_ intent: Intent) throws(StoreError) {
        if intent.isCopy { return resources.removeLeftover(at: intent.source) }
        guard let left = try resources.identity(at: intent.source) else { return }
        if left == intent.moved {
            // A volume on which a rename takes two steps: content still has its old name as well.
            try resources.rename(intent.source, overContent: intent.destination)
        } else if left == intent.replaced, let kept = intent.kept {
            try resources.rename(intent.source, toFree: kept)
        } else if left == intent.replaced {
            _ = try resources.detach(intent.source).destroy()
        }
    }

    /// The other half of a move across volumes.
    private func removeOrigin(_ intent: Intent) throws(StoreError) {
        guard let origin = intent.origin, try resources.identity(at: origin.path) == origin.identity
        else { return }
        _ = try resources.detach(origin.path).destroy()
    }
}
