internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A resource for which an operation on a tree failed; becomes a `response` element of the 207 (RFC 4918 §13).
struct MemberFailure: Sendable {
    let path: ResourcePath
    let status: HTTPStatus

    init(path: ResourcePath, status: HTTPStatus) {
        self.path = path
        self.status = status
    }

    init(_ failure: (path: ResourcePath, error: StoreError)) {
        path = failure.path
        status = WebDAVError(store: failure.error).status
    }

    /// Returns a 207 with the failed members, whose hrefs begin with the target as spelled by the client. If only the
    /// target itself failed, returns its status as the status of the response.
    static func response(_ failures: [MemberFailure], change: ChangeTarget) -> HTTPResponse {
        let root = change.target.path
        if failures.count == 1, failures[0].path == root { return WebDAVError(failures[0].status).response() }
        let writer = MultistatusWriter()
        writer.begin()
        for failure in failures {
            writer.beginResponse(href: href(of: failure.path, below: root, as: change.context.href))
            writer.responseStatus(failure.status)
            writer.endResponse()
        }
        writer.end()
        return .multistatus(body: .bytes(writer.drain()))
    }

    private static func href(of path: ResourcePath, below root: ResourcePath, as rootHref: [UInt8]) -> [UInt8]
    {
        var href = rootHref
        let base = root.segments.count
        for segment in path.segments.dropFirst(base) {
            if href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
            PercentCoding.append(segment, to: &href)
        }
        return href
    }
}

extension HTTPResponse {
    private static let multistatusFields: HTTPFields = {
        var fields = HTTPFields()
        fields.append(.contentType, "application/xml; charset=utf-8")
        return fields
    }()

    /// Returns a 207 response (RFC 4918 §13).
    static func multistatus(body: HTTPBody) -> HTTPResponse {
        HTTPResponse(status: .multistatus, fields: multistatusFields, body: body)
    }
}
