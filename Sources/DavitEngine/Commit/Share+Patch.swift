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
        let binding = StateChange.bind(path, current: info.identity, pending: nil)
        guard let executable else { return try record(rows.isEmpty ? [] : [binding] + rows) }
        guard !rows.isEmpty else { return try resources.setExecutable(executable, at: path) }
        // The bits follow the commit; a crash between the two leaves an intent that says what they become.
        let intent = Intent(
            id: state.nextIntentID(), source: path, destination: path, moved: info.identity, replaced: nil,
            isCopy: false, executable: executable)
        let old = try oldProperties(at: path, info)
        try record([binding] + rows + [.putIntent(intent)])
        do throws(StoreError) {
            try resources.setExecutable(executable, at: path)
        } catch {
            let before = PropertyRecord(binding: Binding(identity: info.identity), properties: old)
            try record([.putRecord(path, before), .dropIntent(id: intent.id)])
            throw error
        }
        forget(intent)
    }

    private func oldProperties(at path: ResourcePath, _ info: ResourceInfo) throws(StoreError)
        -> [StoredProperty]
    {
        do throws(StateError) { return try state.properties(at: path, identity: info.identity) } catch {
            throw StoreError(error)
        }
    }
}
