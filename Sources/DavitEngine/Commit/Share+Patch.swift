internal import DavitHTTP
internal import DavitStore

extension Share {
    /// Changes dead properties and the execute bits of a resource, both or neither.
    ///
    /// - Parameters:
    ///   - rows: changes of its properties; may be empty.
    ///   - executable: what its bits become; nil if they stay.
    func patch(
        _ path: ResourcePath, _ info: ResourceInfo, rows: [StateChange], executable: Bool?
    ) throws(StoreError) {
        let bound = Self.patch(of: path, info, rows)
        guard let executable else { return try record(bound) }
        guard !rows.isEmpty else { return try resources.setExecutable(executable, at: path) }
        // The bits follow the commit; a crash between the two leaves an intent that says what they become.
        let intent = Intent(
            id: state.nextIntentID(), source: path, destination: path, moved: info.identity, replaced: nil,
            isCopy: false, executable: executable)
        let old = try oldProperties(at: path, info)
        try record(bound + [.putIntent(intent)])
        do throws(StoreError) {
            try resources.setExecutable(executable, at: path)
        } catch {
            let before = PropertyRecord(binding: Binding(identity: info.identity), properties: old)
            try record([.putRecord(path, before), .dropIntent(id: intent.id)])
            throw error
        }
        forget(intent)
    }

    /// Changes of the dead properties of a resource as a transaction, which for none is empty.
    static func patch(of path: ResourcePath, _ info: ResourceInfo, _ rows: [StateChange]) -> [StateChange] {
        rows.isEmpty ? [] : [.bind(path, current: info.identity, pending: nil)] + rows
    }

    private func oldProperties(at path: ResourcePath, _ info: ResourceInfo) throws(StoreError)
        -> [StoredProperty]
    {
        do throws(StateError) { return try state.properties(at: path, identity: info.identity) } catch {
            throw StoreError(error)
        }
    }
}
