internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Resolves the scopes of a query.
struct SearchScopes {
    let share: Share
    let context: RequestContext
    let wait: Wait

    /// - Throws: 409 with `search-scope-valid`, and the status of each invalid scope (RFC 5323 §2.4).
    func places(of scopes: [SearchScope]) throws(WebDAVError) -> [TraversalStart] {
        var places: [TraversalStart] = []
        var failures: [ErrorBody.Failure] = []
        for scope in scopes {
            do throws(WebDAVError) { places.append(try location(of: scope)) } catch {
                if error.wouldBlock || error.status.code >= 500 { throw error }
                failures.append(ErrorBody.Failure(href: scope.href, status: error.status))
            }
        }
        if !failures.isEmpty { throw WebDAVError(.conflict, .searchScopeValid(failures)) }
        return places
    }

    private func location(of scope: SearchScope) throws(WebDAVError) -> TraversalStart {
        let rawPath = try rawPath(of: scope.href)
        let path: ResourcePath?
        do throws(HTTPError) { path = try share.urls.path(at: rawPath, in: context) } catch {
            throw WebDAVError(error.status)
        }
        guard let path else { throw WebDAVError(.notFound) }
        let lookup = try storing { () throws(StoreError) in try share.lookup.resource(at: path, wait: wait) }
        let slash = UInt8(ascii: "/")
        guard let info = lookup.info, info.isCollection || rawPath.last != slash else {
            throw WebDAVError(.notFound)
        }
        if info.isCollection, scope.depth == .infinity, !share.configuration.allowsInfiniteDepth {
            throw WebDAVError(.forbidden)
        }
        return TraversalStart(
            depth: scope.depth, target: lookup.path, info: info, href: Href.path(rawPath),
            name: Array(path.name))
    }

    /// Resolves a URI, or a reference relative to the URI of the request (§5.4.1). Supports only the forms
    /// that clients use: those of Destination, and references without a leading slash.
    private func rawPath(of href: [UInt8]) throws(WebDAVError) -> [UInt8] {
        let base = context.href
        if href.isEmpty { return base }
        let isAbsolute = href.first == UInt8(ascii: "/") || Self.hasScheme(href)
        let folder = Array(base[...(base.lastIndex(of: UInt8(ascii: "/")) ?? 0)])
        let whole = isAbsolute ? href : folder + href
        guard let parsed = try? DestinationHeader.parse(whole.span), parsed.rawQuery == nil else {
            throw WebDAVError(.badRequest)
        }
        guard share.urls.isOurs(parsed, in: context) else { throw WebDAVError(.notFound) }
        return isAbsolute ? parsed.rawPath : Self.withoutDotSegments(parsed.rawPath)
    }

    /// Whether the first segment contains a colon (RFC 3986 §4.2).
    private static func hasScheme(_ href: [UInt8]) -> Bool {
        href.prefix { $0 != UInt8(ascii: "/") }.contains(UInt8(ascii: ":"))
    }

    /// Removes dot segments (RFC 3986 §5.2.4).
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var segments: [ArraySlice<UInt8>] = []
        let all = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch Array(segment) {
            case [0x2E]: if isLast { segments.append([]) }
            case [0x2E, 0x2E]:
                _ = segments.popLast()
                if isLast { segments.append([]) }
            default: segments.append(segment)
            }
        }
        var result: [UInt8] = []
        for segment in segments {
            result.append(slash)
            result.append(contentsOf: segment)
        }
        return result
    }
}
