internal import DavitHTTP
internal import DavitStore

extension Share {
    /// Stores metadata that a client sent with new content, after the content is in place. An error does not
    /// affect the content and is only reported.
    /// - Returns: whether the metadata was stored.
    func keep(_ facts: [StoredProperty], at path: ResourcePath, of info: ResourceInfo) -> Bool {
        let bound = StateChange.bind(path, current: info.identity, pending: nil)
        do throws(StoreError) {
            try record([bound] + facts.map { .setProperty(path, $0) })
            return true
        } catch {
            report("the metadata of new content could not be stored: \(error)")
            return false
        }
    }
}
