public import DavitHTTP
internal import DavitServer
public import DavitStore
internal import DavitWebDAV

/// A member of the visited collection, for a page about that member.
public struct PageMember: Sendable {
    public let info: ResourceInfo
    /// The locks that protect the member, outermost first.
    public let locks: [Lock]
    /// The locks that the client may break.
    public let breakableLocks: [Lock]
    /// What the client may do with the member.
    public let rights: ClientRights

    /// Returns the token that a form submits to break the lock.
    public static func token(of lock: Lock) -> String { lock.token.uri }

    /// Returns the holder of a lock: the authenticated user if known, otherwise the text of the `owner`
    /// element that the client sent (RFC 4918 §14.17), truncated to 200 characters; nil if neither is known.
    public static func holder(of lock: Lock) -> String? {
        if let principal = lock.principal { return principal }
        guard let owner = lock.owner?.trimmedText, !owner.isEmpty else { return nil }
        return String(owner.prefix(200))
    }
}

extension PageContext {
    /// Returns the member with this name.
    /// - Throws: 404 if there is no such member or it is not served; 503 if too much work is waiting.
    public func member(_ name: [UInt8]) async throws(HTTPError) -> PageMember {
        let share = share
        guard let path = path.appending(name), !share.urls.isHidden(path) else {
            throw HTTPError(.notFound, "Not found.")
        }
        let context: RequestContext
        do throws(WebDAVError) { context = try RequestContext(request, now: share.now()) } catch {
            throw HTTPError(error.status, "The request is malformed.")
        }
        return try await offload { () throws(WebDAVError) in
            let lookup = try storing { () throws(StoreError) in
                try share.lookup.resource(at: path, wait: .allowed)
            }
            guard let info = lookup.info else { throw WebDAVError(.notFound) }
            let check = WriteGuard(share: share, context: context, wait: .allowed)
            let locks = try check.locks(covering: lookup.path)
            return PageMember(
                info: info, locks: check.withoutHiddenOwners(locks),
                breakableLocks: locks.filter { share.mayBreak($0, as: context.principal) },
                rights: share.clientRights(at: lookup.path, isCollection: info.isCollection))
        }
    }

    /// Returns the free bytes of the volume that stores the collection; nil if unknown.
    public func availableBytes() async -> Int64? {
        let (share, target) = (share, target)
        return try? await offload { () throws(WebDAVError) in
            try storing { () throws(StoreError) in try share.resources.quota(at: target).available }
        }
    }

    /// Runs `body` on another thread.
    func offload<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) { return try await share.work.run(body) } catch {
            throw HTTPError(error.status, "The resource could not be read.")
        }
    }
}

extension MemberReader {
    /// Reads members on another thread and passes each one to `take` on that thread, which avoids the cost of
    /// an array for a large collection.
    ///
    /// - Parameter count: the maximum number of members to read, so that other work gets its turn on the
    ///   thread.
    /// - Returns: false at the end of the collection.
    /// - Throws: the same errors as ``next()``.
    package func read(
        _ count: Int, _ take: @escaping @Sendable (Member) -> Void
    ) async throws(HTTPError) -> Bool {
        try await read { listing throws(StoreError) in
            var member = Member()
            for _ in 0..<count {
                guard try listing.next(&member) else { return false }
                take(member)
            }
            return true
        }
    }

    /// Runs a long computation on another thread. The computation must not read the collection.
    package func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T {
        try await offload { () throws(StoreError) in body() }
    }
}
