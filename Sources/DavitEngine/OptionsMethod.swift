public import DavitHTTP
internal import DavitStore

/// OPTIONS (RFC 9110 §9.3.7, RFC 4918 §10.1, RFC 5323 §3): reports the capabilities of the server and the target.
public struct OptionsMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        if Principals.collection.contains(context.path) {
            return Self.response(allowing: AllowedMethods.principal)
        }
        if share.hasRights { return try await respondWithRights(context) }
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

    /// Responds if what the client may do depends on the resource.
    private func respondWithRights(
        _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let share = share
        // As for a change, so that content that the client may not list is distinguished from names that cannot be used.
        let lookup = try await share.work.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in
                try share.lookup.resources(
                    at: context.path, last: .followed, reusing: nil, .first(wait)
                ).named
            }
        }
        if case .unservable = lookup.state { return Self.response(allowing: "OPTIONS") }
        // The response must not reveal that the name is taken.
        if lookup.info?.isCollection == false, !share.isVisible(lookup.path) {
            return response(to: context, for: Lookup(path: lookup.path, state: .unmapped))
        }
        return response(to: context, for: lookup)
    }

    private func response(to context: RequestContext, for lookup: Lookup) -> HTTPResponse {
        let paths = [lookup.path, context.path]
        var fields = Self.complianceFields
        let permitted = PermittedMethods(share, at: paths, lookup.info)
        let addsMember = PostMethod.addsMember(context.request)
        let methods =
            switch lookup.info?.isCollection {
            case nil: AllowedMethods.unmapped
            case true?: addsMember ? AllowedMethods.addMember : AllowedMethods.collection
            case false?: AllowedMethods.content
            }
        share.appendAllow(methods, at: paths, lookup.info, to: &fields)
        let isCollection = lookup.info?.isCollection == true
        if isCollection ? permitted.permitAddingMembers : permitted.permitWriting {
            if addsMember, isCollection { fields.append(named: "Accept-Post", "*/*") }
            if lookup.info?.isCollection == false { Self.appendPatchTypes(to: &fields) }
            appendUploads(lookup.info, isCollection && addsMember, to: &fields)
        }
        var response = HTTPResponse(status: .ok)
        response.fields = fields
        Self.appendRanges(to: &response.fields)
        return response
    }

    private static func appendPatchTypes(to fields: inout HTTPFields) {
        fields.append(named: "Accept-Patch", "\(ContentPart.patchType), \(UploadResource.partialType)")
    }

    private static func appendRanges(to fields: inout HTTPFields) {
        fields.append(.acceptRanges, "bytes")
        fields.append(.dasl, "<DAV:basicsearch>")
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
            appendPatchTypes(to: &response.fields)
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
        appendRanges(to: &response.fields)
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
