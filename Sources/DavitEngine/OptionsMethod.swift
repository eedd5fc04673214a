public import DavitHTTP
internal import DavitStore

/// OPTIONS (RFC 9110 §9.3.7, RFC 4918 §10.1, RFC 5323 §3): reports the capabilities of the server and the target.
public struct OptionsMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        if Principals.isAbove(context.path) { return Self.response(allowing: AllowedMethods.principal) }
        let share = share
        let lookup = try await share.work.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in try share.lookup.resource(at: context.path, wait: wait) }
        }
        switch lookup.state {
        case .mapped(let info):
            var response = Self.response(to: context.request, for: info)
            appendUploads(info, PostMethod.addsMember(context.request), to: &response.fields)
            return response
        case .unmapped:
            var response = Self.response(allowing: AllowedMethods.unmapped)
            appendUploads(nil, false, to: &response.fields)
            return response
        case .missingAncestor, .unservable: return Self.response(allowing: AllowedMethods.unmapped)
        }
    }

    /// Appends the fields that announce resumable uploads, if the target accepts them.
    private func appendUploads(_ info: ResourceInfo?, _ addsMember: Bool, to fields: inout HTTPFields) {
        if share.configuration.isReadOnly { return }
        if info?.isCollection == true { TusUploads.appendOptions(of: share, to: &fields) }
        guard info?.isCollection != true || addsMember else { return }
        // For content, `response(to:for:)` has added an `Accept-Patch` field that lists all formats.
        if info == nil || addsMember {
            fields.append(named: "Accept-Patch", UploadResource.partialType.description)
        }
        fields.append(named: UploadResource.limitField, DraftUploads.limits(of: share))
    }

    private static func response(to request: HTTPRequest, for info: ResourceInfo) -> HTTPResponse {
        guard info.isCollection else {
            var response = response(allowing: AllowedMethods.content)
            response.fields.append(
                named: "Accept-Patch", "\(ContentPart.patchType), \(UploadResource.partialType)")
            return response
        }
        guard PostMethod.addsMember(request) else { return response(allowing: AllowedMethods.collection) }
        var response = response(allowing: AllowedMethods.addMember)
        response.fields.append(named: "Accept-Post", "*/*")
        return response
    }

    static func response(allowing methods: StaticString) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.fields = complianceFields
        response.fields.append(.allow, methods)
        response.fields.append(.acceptRanges, "bytes")
        response.fields.append(.dasl, "<DAV:basicsearch>")
        return response
    }

    /// The fields DAV and MS-Author-Via. DAV lists the compliance classes 1, 2 and 3, the extensions that clients
    /// look for (extended MKCOL, RFC 5689 §3.1; partial updates with PATCH), and the property set of `executable`.
    /// Office and Windows need MS-Author-Via.
    public static let complianceFields: HTTPFields = {
        var fields = HTTPFields()
        fields.append(
            .dav, "1, 2, 3, extended-mkcol, sabredav-partialupdate, <http://apache.org/dav/propset/fs/1>")
        fields.append(.msAuthorVia, "DAV")
        return fields
    }()
}
