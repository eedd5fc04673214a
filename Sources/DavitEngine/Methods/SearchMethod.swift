internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// SEARCH (RFC 5323): returns the resources in the scopes that match a condition, with their properties.
struct SearchMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let body = try await share.xmlBodies.read(context)
        let request = try Self.parse(body)
        let share = share
        let places = try await share.work.attempt { wait throws(WebDAVError) in
            let arbiter = try WriteGuard.readTarget(context, of: share, wait)
            _ = try arbiter.mapped(for: context)
            return try SearchScopes(share: share, context: context, wait: wait).places(of: request.scopes)
        }
        switch request {
        case .schemaDiscovery:
            return .multistatus(body: .bytes(Self.schema(of: places)))
        case .query(let query):
            let plan = SearchPlan(
                query, in: places, keptLimit: share.configuration.orderedSearchLimit,
                bodyBytes: body.bytes.count)
            let stream = SearchStream(share: share, context: context, plan: plan)
            // Begin before the header section is sent, so that an unreadable scope results in an error status.
            try await stream.begin()
            return .multistatus(body: .stream(stream))
        }
    }

    private static func parse(_ body: XMLBody) throws(WebDAVError) -> SearchRequest {
        do throws(SearchRequest.ParseError) {
            return try SearchRequest.parse(body.bytes, charset: body.charset, limits: body.limits)
        } catch {
            switch error {
            case .body(let error): throw WebDAVError(body: error)
            case .unknownGrammar: throw WebDAVError(.forbidden, .searchGrammarSupported)
            case .unknownGrammarOfDiscovery: throw WebDAVError(.forbidden, .searchGrammarDiscoverySupported)
            }
        }
    }

    private static func schema(of places: [TraversalStart]) -> [UInt8] {
        let properties = LiveProperty.allCases.filter { $0.name.namespace == "DAV:" }.map {
            SearchableProperty(local: $0.name.local, type: $0.searchType)
        }
        let writer = MultistatusWriter()
        writer.begin()
        for location in places { writer.searchSchema(href: location.href, properties) }
        writer.end()
        return writer.drain()
    }
}

extension SearchRequest {
    fileprivate var scopes: [SearchScope] {
        switch self {
        case .query(let query): query.scopes
        case .schemaDiscovery(let scopes): scopes
        }
    }
}
