internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Limits the number of resources and of bytes that the expanded values of one response may contain: a value
/// can refer to many resources, recursively.
final class ExpansionBudget {
    private static let limit = 1_000
    private static let limitBytes = 2 << 20

    @safe @exclusivity(unchecked) private var left = limit
    @safe @exclusivity(unchecked) private var leftBytes = limitBytes

    /// - Throws: 403 if the limit is exceeded.
    func spend() throws(WebDAVError) {
        if left == 0 { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
        left -= 1
    }

    /// - Throws: 403 if the limit is exceeded.
    func spend(bytes: Int) throws(WebDAVError) {
        leftBytes -= bytes
        if leftBytes < 0 { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
    }
}

/// Writes the values of `expand-property` (RFC 3253 §3.8): an href that refers to a path of this share is
/// replaced by the `response` for that path. Other hrefs, such as lock tokens, are left unchanged.
extension PropertyResponses {
    func writeExpanding(
        _ property: LiveProperty, of member: Member, at path: ResourcePath, by nested: PropFindPlan
    ) throws(WebDAVError) {
        let alone = PropertyResponses(share: share, context: check.context, plan: plan)
        alone.writer.begin()
        try alone.write(property, of: member, at: path)
        alone.writer.end()
        try writeExpanding(alone.writer.drain(), by: nested)
    }

    func writeExpanding(_ value: PropertyValue, by nested: PropFindPlan) throws(WebDAVError) {
        let alone = MultistatusWriter()
        alone.begin()
        alone.deadProperty(value)
        alone.end()
        try writeExpanding(alone.drain(), by: nested)
    }

    /// - Parameter document: a document with the property as a child of its root.
    private func writeExpanding(_ document: [UInt8], by nested: PropFindPlan) throws(WebDAVError) {
        let value = try PropertyValue.replacingHrefs(in: document) { href throws(WebDAVError) in
            try response(about: href, by: nested)
        }
        // The nesting is too deep for the XML parser.
        guard let value else { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
        writer.deadProperty(value)
    }

    /// Returns a document with the response as a child of its root; nil if `href` refers to no path of this
    /// share.
    private func response(about href: String, by nested: PropFindPlan) throws(WebDAVError) -> [UInt8]? {
        guard let path = share.urls.path(ofReference: href, in: check.context) else { return nil }
        try expansions?.spend()
        let inner = PropertyResponses(
            share: share, context: check.context, plan: nested, expansions: expansions)
        inner.writer.begin()
        try inner.writeResponse(href: Href.sanitize(Array(href.utf8)), at: path)
        inner.writer.end()
        try expansions?.spend(bytes: inner.writer.count)
        return inner.writer.drain()
    }

    private func writeResponse(href: [UInt8], at path: ResourcePath) throws(WebDAVError) {
        if let resource = principals.resource(at: path) { return writeResponse(href: href, about: resource) }
        writer.beginResponse(href: href)
        let lookup = try storing { () throws(StoreError) in
            try share.lookup.taggedResource(at: path, wait: .allowed)
        }
        guard let info = lookup.info else {
            writer.responseStatus(.notFound)
            return writer.endResponse()
        }
        let stored = try storing { () throws(StoreError) in try properties(at: lookup.path, of: info) }
        try write(Member(name: Array(path.name), info: info), at: lookup.path, properties: stored)
    }
}
