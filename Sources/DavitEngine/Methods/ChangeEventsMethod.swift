internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// GET of a collection with the query `events`: streams changes in the collection as server-sent events; see
/// `docs/live.md`.
struct ChangeEventsMethod: Sendable {
    /// The maximum number of collections per stream.
    private static let scopeLimit = 64
    /// The maximum size in bytes of the hrefs of all collections of a stream.
    private static let hrefLimitBytes = 64 << 10
    /// The maximum number of hrefs of the same collection, for example through symbolic links. Each change costs as much
    /// as its number of hrefs.
    private static let hrefLimitPerCollection = 4

    let share: Share

    static func isRequested(_ request: HTTPRequest) -> Bool {
        guard let query = request.target.rawQuery else { return false }
        return FormFields.bytes(of: query).contains { $0.name == Array("events".utf8) }
    }

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        guard let feed = share.changeEvents, let journal = share.journal else {
            return .error(.notFound, "This share does not support change events.", for: request)
        }
        guard Self.accepts(request) else {
            return .error(.notAcceptable, "Changes are only available as text/event-stream.", for: request)
        }
        let requestedScopes = try requestedScopes(context)
        if share.origins.refusesPage(of: request, acceptsLinks: false) {
            return .error(.forbidden, "Cross-origin requests are not allowed.", for: request)
        }
        guard requestedScopes.count <= Self.scopeLimit else {
            return .error(
                .badRequest, "A stream can watch at most \(Self.scopeLimit) collections.", for: request)
        }
        guard requestedScopes.reduce(0, { $0 + $1.href.count }) <= Self.hrefLimitBytes else {
            return .error(.badRequest, "The paths of the collections are too long.", for: request)
        }
        let (compared, position) = try await compared(requestedScopes, by: journal)
        guard let position else { throw WebDAVError(.notFound) }
        let missing = compared.filter { $0.scope == nil }.map(\.requestedScope)
        let found = compared.compactMap(\.scope)
        // A change is reported once, although several of the collections contain it.
        let scopes = found.filter { scope in !found.contains { $0.includes(scope) } }
        let hrefCount = scopes.map { scope in scopes.count { $0.covers(scope) } }.max() ?? 0
        guard hrefCount <= Self.hrefLimitPerCollection else {
            return .error(
                .badRequest,
                "A stream can watch at most \(Self.hrefLimitPerCollection) addresses of a collection.",
                for: request)
        }
        if request.method == .head { return Self.response(.empty) }
        guard
            let (id, through) = feed.join(
                context.client, scopes, missing: missing, at: position,
                view: share.tokenView, filter: EventFilter(share.configuration.access, for: request.identity))
        else {
            throw .busy
        }
        let stream = ChangeEventStream(feed, id)
        if let since = Self.since(request) {
            try await catchUp(id, feed, journal, scopes, since, position, through)
        }
        return Self.response(.stream(stream))
    }

    private static func response(_ body: HTTPBody) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, "text/event-stream")
        // Prevent compression: it would need 100 KiB of memory per stream to save a few bytes.
        fields.append(.cacheControl, "no-store, no-transform")
        // Keep nginx from buffering the events.
        fields.append(named: "X-Accel-Buffering", "no")
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    /// Whether `text/event-stream` is acceptable; the most specific range in Accept applies (RFC 9110
    /// §12.5.1).
    private static func accepts(_ request: HTTPRequest) -> Bool {
        guard request.contains(.accept) else { return true }
        var best = (rank: 0, isAcceptable: false)
        request.forEachElement(of: .accept) { range in
            guard let type = ContentType(parsing: range) else { return }
            let rank =
                switch type.essence {
                case "text/event-stream": 3
                case "text/*": 2
                case "*/*": 1
                default: 0
                }
            guard rank > best.rank else { return }
            best = (rank, type.parameters["q"].map { Weight(parsing: $0.span) != .zero } ?? true)
        }
        return best.isAcceptable
    }

    /// Returns the sync token after which the client needs changes: from Last-Event-ID or the query `since`.
    /// - Returns: nil if the client sent no token; a tuple with a nil token if the token is invalid.
    private static func since(_ request: HTTPRequest) -> (token: SyncToken?, Void)? {
        let text = request.string(named: "Last-Event-ID") ?? request.query["since"] ?? ""
        return text.isEmpty ? nil : (SyncToken(parsing: text), ())
    }

    // MARK: Watched collections

    /// Returns the collections that the query specifies, as spelled by the client; the target itself if it specifies
    /// none.
    private func requestedScopes(_ context: RequestContext) throws(WebDAVError) -> [ChangeEventScope] {
        let fields = context.request.target.rawQuery.map { FormFields.bytes(of: $0) } ?? []
        let isDeep = fields.contains {
            $0.name == Array("depth".utf8) && $0.value == Array("infinity".utf8)
        }
        var href = context.href
        if href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        var requestedScopes: [ChangeEventScope] = []
        for field in fields where field.name == Array("in".utf8) {
            let segments = field.value.split(separator: UInt8(ascii: "/"))
            guard let below = ResourcePath(segments: segments) else { throw WebDAVError(.badRequest) }
            let path = below.rebased(from: .root, to: context.path) ?? context.path
            var own = href
            for segment in segments {
                PercentCoding.append(segment, to: &own)
                own.append(UInt8(ascii: "/"))
            }
            let requestedScope = ChangeEventScope(path: path, isDeep: isDeep, href: own)
            if !requestedScopes.contains(requestedScope) { requestedScopes.append(requestedScope) }
        }
        return requestedScopes.isEmpty
            ? [ChangeEventScope(path: context.path, isDeep: isDeep, href: href)] : requestedScopes
    }

    /// Brings the journal up to date for the requested collections and their ancestors. The ancestors are included
    /// because the removal of a collection is a change in its parent.
    /// - Returns: for each requested scope, the scope with its canonical path, or nil if there is no collection; and the
    ///   position of the journal, or nil if there is no collection at all.
    private func compared(
        _ requestedScopes: [ChangeEventScope], by journal: JournalReader
    ) async throws(WebDAVError) -> (
        [(requestedScope: ChangeEventScope, scope: ChangeEventScope?)], JournalPosition?
    ) {
        var scopes: [(requestedScope: ChangeEventScope, scope: ChangeEventScope?)] = []
        var position: JournalPosition?
        var known: Set<ResourcePath> = []
        for requestedScope in requestedScopes {
            guard let path = try await collection(requestedScope.path) else {
                scopes.append((requestedScope, nil))
                continue
            }
            do throws(WebDAVError) {
                for above in path.ancestors where known.insert(above).inserted {
                    _ = try await journal.compared(above, isDeep: false)
                }
                position = try await journal.compared(path, isDeep: requestedScope.isDeep)
                scopes.append(
                    (
                        requestedScope,
                        ChangeEventScope(path: path, isDeep: requestedScope.isDeep, href: requestedScope.href)
                    ))
            } catch {
                guard error.status == .notFound else { throw error }
                scopes.append((requestedScope, nil))
            }
        }
        return (scopes, position)
    }

    /// Returns the canonical path of the collection at `path`; nil if clients can access no collection there.
    private func collection(_ path: ResourcePath) async throws(WebDAVError) -> ResourcePath? {
        if share.urls.isHidden(path) { return nil }
        let share = share
        do throws(WebDAVError) {
            return try await share.work.attempt { wait throws(WebDAVError) in
                let lookup = try storing { () throws(StoreError) in
                    try share.lookup.resource(at: path, wait: wait)
                }
                return lookup.info?.isCollection == true ? lookup.path : nil
            }
        } catch {
            switch error.status {
            case .notFound, .conflict, .forbidden, .badRequest, .uriTooLong: return nil
            default: throw error
            }
        }
    }

    // MARK: Missed changes

    private func catchUp(
        _ id: Int, _ feed: ChangeEventFeed, _ journal: JournalReader, _ scopes: [ChangeEventScope],
        _ since: (token: SyncToken?, Void), _ position: JournalPosition, _ through: Int64
    ) async throws(WebDAVError) {
        guard let token = since.token, token.isValid(at: position), token.view == share.tokenView
        else { return feed.catchUp(id, nil) }
        do throws(WebDAVError) {
            var missed: [(scope: ChangeEventScope, changes: [ResourceChange])] = []
            var limit = PendingChangeEvents.nameLimit
            for scope in scopes {
                let most = limit
                let changes = try await journal.read { journal throws(JournalError) in
                    try journal.changes(
                        in: scope.path, isDeep: scope.isDeep, since: token, through: through,
                        limit: most + 1)
                }
                guard changes.count <= limit else { return feed.catchUp(id, nil) }
                limit -= changes.count
                // The client has never seen resources that were removed before its initial synchronization
                // began.
                missed.append((scope, changes.filter { $0.kind != .removed || $0.number > token.base }))
            }
            feed.catchUp(id, missed)
        } catch {
            guard error.condition == .validSyncToken else { throw error }
            feed.catchUp(id, nil)
        }
    }
}

extension ResourcePath {
    /// The parent collections, from the root down.
    fileprivate var ancestors: [ResourcePath] {
        var ancestors: [ResourcePath] = []
        var path = parent
        while let here = path {
            ancestors.append(here)
            path = here.parent
        }
        return ancestors.reversed()
    }
}
