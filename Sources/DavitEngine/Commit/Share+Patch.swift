internal import DavitHTTP
internal import DavitStore

extension Share {
    /// Changes dead properties and attributes of a resource atomically.
    ///
    /// - Parameters:
    ///   - rows: the property changes; may be empty.
    ///   - attributes: at least one attribute.
    func patch(
        _ path: ResourcePath, _ info: ResourceInfo, rows: [StateChange], attributes: ResourceAttributes
    ) throws(StoreError) {
        defer { if attributes.modified != nil { followVersion(of: info, at: path) } }
        // A single system call is atomic and needs no intent.
        if rows.isEmpty, attributes.count == 1 {
            return try resources.setAttributes(attributes, at: path)
        }
        // The attributes are set after the commit; the intent records them in case of a crash in between.
        let intent = RenameIntent(
            id: state.nextIntentID(), source: path, destination: path, moved: info.identity, replaced: nil,
            isCopy: false, attributes: attributes)
        let old = try oldProperties(at: path, info)
        try record(patch(of: path, info, rows) + [.putIntent(intent)])
        do throws(StoreError) {
            try resources.setAttributes(attributes, at: path)
        } catch {
            let before = PropertyRecord(binding: Binding(identity: info.identity), properties: old)
            try record([.putRecord(path, before), .dropIntent(id: intent.id)])
            throw error
        }
        forget(intent)
    }

    /// Records a new modification time of recently written content, so that the change does not cause another
    /// version to be kept: many clients set the time of content that they have just written.
    private func followVersion(of info: ResourceInfo, at path: ResourcePath) {
        guard versions.contains(info.entityTag, at: path),
            let new = try? resources.lookup(path, last: .notFollowed, wait: .allowed).info
        else { return }
        versions.follow(path, from: info.entityTag, to: new.entityTag)
    }

    /// Returns the transaction that changes dead properties of a resource; empty if there are no changes. Its
    /// commit fails with `propertiesTooLarge` if the properties would exceed
    /// ``ShareConfiguration/propertyLimitBytes``.
    func patch(of path: ResourcePath, _ info: ResourceInfo, _ rows: [StateChange]) -> [StateChange] {
        if rows.isEmpty { return [] }
        return [
            .bind(path, current: info.identity, pending: nil),
            .limitProperties(path, bytes: configuration.propertyLimitBytes),
        ] + rows
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
    /// Returns the attributes that differ from those of a resource. Times are compared in whole seconds, the
    /// precision of requests.
    func unlike(_ info: ResourceInfo) -> ResourceAttributes {
        ResourceAttributes(
            isExecutable: isExecutable == info.isExecutable ? nil : isExecutable,
            modified: modified?.seconds == info.modified.seconds ? nil : modified)
    }
}
