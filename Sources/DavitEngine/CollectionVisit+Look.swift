public import DavitHTTP
internal import DavitServer
public import DavitStore
internal import DavitWebDAV

/// One member of the collection that is visited, for a page about it.
public struct VisitedMember: Sendable {
    public let info: ResourceInfo
    /// What forbids to change it without a token, outermost first.
    public let locks: [Lock]

    /// What the form names that ends a lock.
    public static func token(of lock: Lock) -> String { lock.token.uri }

    /// Who holds a lock: the user that was authenticated, else the text of the `owner` element that the client sent
    /// (RFC 4918 §14.17), at most 200 characters; nil if neither is known.
    public static func holder(of lock: Lock) -> String? {
        if let principal = lock.principal { return principal }
        guard let owner = lock.owner?.trimmedText, !owner.isEmpty else { return nil }
        return String(owner.prefix(200))
    }
}

extension CollectionVisit {
    /// What stands under a name in the collection.
    /// - Throws: 404 if nothing does that is served; 503 when too much work waits.
    public func member(_ name: [UInt8]) async throws(HTTPError) -> VisitedMember {
        let share = share
        guard let path = path.appending(name), !share.hides(path) else {
            throw HTTPError(.notFound, "there is no such member")
        }
        let context: RequestContext
        do throws(WebDAVError) { context = try RequestContext(request, now: share.now()) } catch {
            throw HTTPError(error.status, "the request cannot be read")
        }
        return try await offload { () throws(WebDAVError) in
            let lookup = try storing { () throws(StoreError) in try share.look(at: path, wait: .allowed) }
            guard let info = lookup.info else { throw WebDAVError(.notFound) }
            let check = WriteGuard(share: share, context: context, wait: .allowed)
            return VisitedMember(info: info, locks: try check.locks(covering: lookup.path))
        }
    }

    /// Bytes that can be written to the volume of the collection; nil where nobody knows.
    public func availableBytes() async -> Int64? {
        let (share, target) = (share, target)
        return try? await offload { () throws(WebDAVError) in
            try storing { () throws(StoreError) in try share.resources.quota(at: target).available }
        }
    }

    /// Runs something on another thread.
    func offload<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) { return try await share.offload(body) } catch {
            throw HTTPError(error.status, "the folder could not be read")
        }
    }
}

extension MemberReader {
    /// Reads members on another thread, and hands them to `take` there, so that a large collection costs its reader
    /// neither time nor memory.
    ///
    /// - Parameter count: how many at most: others want the thread too.
    /// - Returns: false at the end.
    /// - Throws: as ``next()``.
    package func read(
        _ count: Int, _ take: @escaping @Sendable (Member) -> Void
    ) async throws(HTTPError) -> Bool {
        try await offload { () throws(StoreError) in
            let cursor = try self.opened()
            var member = Member()
            for _ in 0..<count {
                guard try cursor.next(&member) else { return false }
                take(member)
            }
            return true
        }
    }

    /// Does on another thread what takes long, and reads nothing.
    package func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T {
        try await offload { () throws(StoreError) in body() }
    }
}
