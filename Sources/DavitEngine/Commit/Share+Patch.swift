internal import DavitHTTP
internal import DavitStore

extension Share {
    /// Changes dead properties and attributes of a resource, all of them or none.
    ///
    /// - Parameters:
    ///   - rows: changes of its properties; may be empty.
    ///   - attributes: at least one.
    func patch(
        _ path: ResourcePath, _ info: ResourceInfo, rows: [StateChange], attributes: ResourceAttributes
    ) throws(StoreError) {
        defer { if attributes.modified != nil { followVersion(of: info, at: path) } }
        // One call of the system needs no record.
        if rows.isEmpty, attributes.count == 1 {
            return try resources.setAttributes(attributes, at: path)
        }
        // The attributes follow the commit; a crash between the two leaves an intent that says what they become.
        let intent = Intent(
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

    /// Many clients set the time of what they have just written: it is the same version still.
    private func followVersion(of info: ResourceInfo, at path: ResourcePath) {
        guard versions.contains(info.entityTag, at: path),
            let new = try? resources.lookup(path, last: .itself, wait: .allowed).info
        else { return }
        versions.follow(path, from: info.entityTag, to: new.entityTag)
    }

    /// Changes of the dead properties of a resource as a transaction, which for none is empty. It fails with
    /// `propertiesTooLarge` over ``ShareConfiguration/propertyLimitBytes``.
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
    /// What of it a resource does not have yet. Of a time the second counts, because that is all that was asked for.
    func unlike(_ info: ResourceInfo) -> ResourceAttributes {
        ResourceAttributes(
            isExecutable: isExecutable == info.isExecutable ? nil : isExecutable,
            modified: modified?.seconds == info.modified.seconds ? nil : modified)
    }
}
