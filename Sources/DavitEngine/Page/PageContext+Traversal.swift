package import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Operations that a page needs to download a collection with all its members.
extension PageContext {
    /// Creates a traversal of the collection, or of some of its members.
    ///
    /// - Parameter names: The members to visit, in this order; nil for all.
    /// - Throws: An error if the collection cannot be read; 503 if too much work is queued.
    package func traversal(of names: [[UInt8]]? = nil) async throws(HTTPError) -> DownloadTraversal {
        let (share, target, client) = (share, target, request.client)
        return try await mapped { () async throws(WebDAVError) in
            try await share.work.runLong(for: client) { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try DownloadTraversal(share, target, names: names) }
            }
        }
    }

    /// Runs a piece of long work on another thread. Call it after ``traversal(of:)``.
    /// - Throws: 503 if too much work is queued.
    package func offload<T: Sendable>(_ work: @escaping @Sendable () -> T) async throws(HTTPError) -> T {
        let (share, client) = (share, request.client)
        return try await mapped { () async throws(WebDAVError) in
            try await share.work.runLong(for: client, .continues) { () throws(WebDAVError) in work() }
        }
    }

    private func mapped<T: Sendable>(
        _ body: () async throws(WebDAVError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) { return try await body() } catch {
            throw HTTPError(error.status, "The collection could not be read.")
        }
    }

    /// The current time.
    package var now: Timestamp { share.now() }

    /// Notifies the share's hooks that the collection, or a part of it, is being downloaded; see
    /// ``ShareAction/Kind/download``.
    package func notifyDownload() {
        share.configuration.hooks.completed?(
            ShareAction(
                downloadOf: target, isCollection: true, principal: request.principal,
                locatedBy: share.configuration.filePath))
    }
}
