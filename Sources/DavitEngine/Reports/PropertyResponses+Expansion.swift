internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// How many resources the values of one answer may be expanded to, and to how many bytes: a value can name many, each of
/// them again.
final class ExpansionBudget {
    private static let limit = 1_000
    private static let limitBytes = 2 << 20

    @safe @exclusivity(unchecked) private var left = limit
    @safe @exclusivity(unchecked) private var leftBytes = limitBytes

    /// - Throws: 403 when there are too many.
    func spend() throws(WebDAVError) {
        if left == 0 { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
        left -= 1
    }

    /// - Throws: 403 when there are too many.
    func spend(bytes: Int) throws(WebDAVError) {
        leftBytes -= bytes
        if leftBytes < 0 { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
    }
}

/// The values of `expand-property` (RFC 3253 §3.8): where an href in a value names a resource of this share, its
/// `response` stands instead. Hrefs that name something else, as lock tokens do, stay.
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

    /// - Parameter document: with the property directly inside its root.
    private func writeExpanding(_ document: [UInt8], by nested: PropFindPlan) throws(WebDAVError) {
        let value = try PropertyValue.replacingHrefs(in: document) { href throws(WebDAVError) in
            try response(about: href, by: nested)
        }
        // Deeper than XML is read here.
        guard let value else { throw WebDAVError(.forbidden, .numberOfMatchesWithinLimits) }
        writer.deadProperty(value)
    }

    /// A document with the response directly inside its root; nil for what is not in this share.
    private func response(about href: String, by nested: PropFindPlan) throws(WebDAVError) -> [UInt8]? {
        guard let path = share.path(ofReference: href, in: check.context) else { return nil }
        try expansions?.spend()
        let inner = PropertyResponses(
            share: share, context: check.context, plan: nested, expansions: expansions)
        inner.writer.begin()
        try inner.writeResponse(href: Href.sanitise(Array(href.utf8)), at: path)
        inner.writer.end()
        try expansions?.spend(bytes: inner.writer.count)
        return inner.writer.drain()
    }

    private func writeResponse(href: [UInt8], at path: ResourcePath) throws(WebDAVError) {
        if let resource = principals.resource(at: path) { return writeResponse(href: href, about: resource) }
        writer.beginResponse(href: href)
        let lookup = try storing { () throws(StoreError) in try share.lookTagged(at: path, wait: .allowed) }
        guard let info = lookup.info else {
            writer.responseStatus(.notFound)
            return writer.endResponse()
        }
        let stored = try storing { () throws(StoreError) in try properties(at: lookup.path, of: info) }
        try write(Member(name: Array(path.name), info: info), at: lookup.path, properties: stored)
    }
}
