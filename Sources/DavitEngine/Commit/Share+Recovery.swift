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
                try finishExchange(intent)
                guard try resources.identity(at: intent.destination) == intent.moved else {
                    forget(intent)
                    continue
                }
                try removeReplaced(intent)
                try removeOrigin(intent)
            } catch {
                report("a rename of an earlier run could not be looked at: \(error)")
                continue
            }
            try state.commit(intent.rowsAfterwards)
        }
    }

    /// The rows are there; what they came with may be.
    private func finish(_ intent: Intent, _ attributes: ResourceAttributes) throws(StoreError) {
        if try resources.identity(at: intent.destination) == intent.moved {
            try resources.setAttributes(attributes, at: intent.destination)
        }
        forget(intent)
    }

    /// A volume that cannot exchange two names hides one of them for a moment: a crash then leaves the
    /// destination without anything.
    private func finishExchange(_ intent: Intent) throws(StoreError) {
        guard intent.replaced != nil, try resources.identity(at: intent.destination) == nil,
            try resources.identity(at: intent.source) == intent.moved
        else { return }
        try resources.rename(intent.source, toFree: intent.destination)
    }

    private func removeReplaced(_ intent: Intent) throws(StoreError) {
        if intent.isCopy { return resources.removeLeftover(at: intent.source) }
        guard let left = try resources.identity(at: intent.source) else { return }
        if left == intent.moved {
            // A volume on which a rename takes two steps: content still has its old name as well.
            try resources.rename(intent.source, overContent: intent.destination)
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
