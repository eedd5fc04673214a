package import DavitHTTP
internal import DavitServer
internal import DavitStore

/// What a page needs to hand out a collection as a whole.
extension CollectionVisit {
    /// A walk through the collection, or through some of its members.
    ///
    /// - Parameter names: of these members, in this order; nil for all.
    /// - Throws: when the collection cannot be read; 503 when too much work waits.
    package func walk(of names: [[UInt8]]? = nil) async throws(HTTPError) -> CollectionWalk {
        let (share, target, client) = (share, target, request.client)
        return try await mapped { () async throws(WebDAVError) in
            try await share.offloadLong(for: client) { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try CollectionWalk(share, target, names: names) }
            }
        }
    }

    /// Runs a piece of long work on another thread, after ``walk(of:)``.
    /// - Throws: 503 when too much work waits.
    package func offload<T: Sendable>(_ work: @escaping @Sendable () -> T) async throws(HTTPError) -> T {
        let (share, client) = (share, request.client)
        return try await mapped { () async throws(WebDAVError) in
            try await share.offloadLong(for: client, .continues) { () throws(WebDAVError) in work() }
        }
    }

    private func mapped<T: Sendable>(
        _ body: () async throws(WebDAVError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) { return try await body() } catch {
            throw HTTPError(error.status, "the collection could not be read")
        }
    }

    /// The moment of the call.
    package var now: Timestamp { share.now() }

    /// Tells the share's hooks that the collection, or a part of it, is handed out; see ``ShareAction/Kind/download``.
    package func tellDownload() {
        share.configuration.hooks.told?(
            ShareAction(downloadOf: target, isCollection: true, principal: request.principal, in: share))
    }
}
