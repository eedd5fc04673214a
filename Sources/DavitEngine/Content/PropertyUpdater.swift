internal import DavitHTTP
internal import DavitStore

/// Changes dead properties and file attributes of resources.
final class PropertyUpdater: Sendable {
    private let resources: any ResourceStore
    private let state: any ShareState
    private let rows: ResourceRows
    private let intents: RenameIntents
    private let versions: RecentVersions
    /// See ``ShareConfiguration/propertyLimitBytes``.
    private let limitBytes: Int

    init(
        _ resources: any ResourceStore, _ state: any ShareState, _ rows: ResourceRows,
        _ intents: RenameIntents,
        _ versions: RecentVersions, limitBytes: Int
    ) {
        self.resources = resources
        self.state = state
        self.rows = rows
        self.intents = intents
        self.versions = versions
        self.limitBytes = limitBytes
    }

    /// Changes dead properties and file attributes of a resource atomically.
    ///
    /// - Parameters:
    ///   - rows: the property changes; may be empty.
    ///   - attributes: at least one attribute.
    func update(
        _ path: ResourcePath, _ info: ResourceInfo, rows changes: [StateChange],
        attributes: ResourceAttributes
    ) throws(StoreError) {
        defer { if attributes.modified != nil { followVersion(of: info, at: path) } }
        // A single system call is atomic and needs no intent.
        if changes.isEmpty, attributes.count == 1 {
            return try resources.setAttributes(attributes, at: path)
        }
        // The attributes are set after the commit. If the server crashes in between, recovery sets them from the intent.
        let intent = RenameIntent(
            id: state.nextIntentID(), source: path, destination: path, moved: info.identity, replaced: nil,
            isCopy: false, attributes: attributes)
        let old = try oldProperties(at: path, info)
        try rows.commit(transaction(at: path, info, changes) + [.putIntent(intent)])
        do throws(StoreError) {
            try resources.setAttributes(attributes, at: path)
        } catch {
            let before = PropertyRecord(binding: Binding(identity: info.identity), properties: old)
            try rows.commit([.putRecord(path, before), .dropIntent(id: intent.id)])
            throw error
        }
        intents.forget(intent)
    }

    /// Records the new entity tag of recently written content whose modification time has changed, so that no extra
    /// version is kept: many clients set the time of content that they have just written.
    private func followVersion(of info: ResourceInfo, at path: ResourcePath) {
        guard versions.contains(info.entityTag, at: path),
            let new = try? resources.lookup(path, last: .notFollowed, wait: .allowed).info
        else { return }
        versions.follow(path, from: info.entityTag, to: new.entityTag)
    }

    /// Returns the transaction that changes dead properties of a resource; empty if there are no changes. Its
    /// commit fails with `propertiesTooLarge` if the properties would exceed
    /// ``ShareConfiguration/propertyLimitBytes``.
    func transaction(at path: ResourcePath, _ info: ResourceInfo, _ changes: [StateChange]) -> [StateChange] {
        if changes.isEmpty { return [] }
        return [
            .bind(path, current: info.identity, pending: nil),
            .limitProperties(path, bytes: limitBytes),
        ] + changes
    }

    private func oldProperties(at path: ResourcePath, _ info: ResourceInfo) throws(StoreError)
        -> [StoredProperty]
    {
        do throws(StateError) { return try state.properties(at: path, identity: info.identity) } catch {
            throw StoreError(error)
        }
    }
}

extension ResourceAttributes {
    /// Returns the attributes that differ from those of a resource. Compares times in whole seconds, the precision of
    /// requests.
    func unlike(_ info: ResourceInfo) -> ResourceAttributes {
        ResourceAttributes(
            isExecutable: isExecutable == info.isExecutable ? nil : isExecutable,
            modified: modified?.seconds == info.modified.seconds ? nil : modified)
    }
}
