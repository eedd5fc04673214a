internal import DavitHTTP

extension RowIndex {
    /// The minimum number of complete uploads to remove in one step, if there are that many, so that such
    /// steps, which examine all uploads, are rare.
    private static let removalBatch = 64

    /// See ``ShareState/admitsUpload(of:for:_:)``.
    func admitsUpload(of bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> [String]? {
        if uploadQuota.admits(bytes, for: client, limits) { return [] }
        // A complete upload is remembered only for clients that missed the response, so it may be removed
        // early.
        let own = uploadQuota.charge(of: client)
        let isOwnLimit =
            own.count >= limits.countPerClient || own.bytes + bytes > limits.bytesPerClient
        let complete = uploads.values.filter { other in
            other.progress.isComplete && !other.options.contains(.isPart)
                && (!isOwnLimit || other.client == client)
        }.sorted { $0.progress.expiry < $1.progress.expiry }
        var charges = uploadQuota
        var forgotten: [String] = []
        for other in complete {
            if forgotten.count >= Self.removalBatch, charges.admits(bytes, for: client, limits) { break }
            charges.remove(other.chargedBytes, for: other.client)
            forgotten.append(other.id)
        }
        return charges.admits(bytes, for: client, limits) ? forgotten : nil
    }

    /// See ``ShareState/pathsWithProperties(under:)``.
    func pathsWithProperties(under path: ResourcePath) -> [(path: ResourcePath, binding: Binding)] {
        guard let top = node(at: path), top.propertyCount > 0 else { return [] }
        var found: [(path: ResourcePath, binding: Binding)] = []
        var pending = [(path: path, node: top)]
        while let (path, node) = pending.popLast() {
            if node.hasProperties, let binding = node.binding { found.append((path, binding)) }
            for (segment, child) in node.children where child.propertyCount > 0 {
                if let inner = path.appending(segment.bytes) { pending.append((inner, child)) }
            }
        }
        return found
    }
}
