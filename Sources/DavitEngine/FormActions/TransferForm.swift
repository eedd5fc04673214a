internal import DavitHTTP
internal import DavitStore

/// A form that moves or copies members into a collection; each member keeps its name.
///
/// One of two fields specifies the collection. `to` is the path that the user entered: relative to the root of the
/// share if it begins with a slash, otherwise relative to the collection to which the form was sent. `destination` is
/// percent-encoded, because names need not be valid UTF-8, and relative to the root of the share; it takes precedence.
struct TransferForm {
    let share: Share
    let request: ActionRequest
    let isMove: Bool
    /// The path of the destination collection.
    private let collection: ResourcePath

    /// Whether the form specifies a destination.
    static func isComplete(_ request: ActionRequest) -> Bool {
        request.fields["to"]?.isEmpty == false || request.fields["destination"]?.isEmpty == false
    }

    /// - Throws: 400 for an invalid path; 403 if the path belongs to another mount.
    init(share: Share, _ request: ActionRequest, isMove: Bool) throws(WebDAVError) {
        self.share = share
        self.request = request
        self.isMove = isMove
        collection = try Self.collection(request)
        if share.urls.isHidden(collection) { throw WebDAVError(.forbidden) }
    }

    private static func collection(_ request: ActionRequest) throws(WebDAVError) -> ResourcePath {
        let slash = UInt8(ascii: "/")
        let typed: [UInt8]
        if let href = request.fields["destination"], !href.isEmpty {
            guard href.utf8.first == slash, let path = PercentCoding.decode(Array(href.utf8)) else {
                throw WebDAVError(.badRequest)
            }
            typed = path
        } else {
            typed = Array((request.fields["to"] ?? "").utf8)
        }
        if typed.isEmpty { throw WebDAVError(.badRequest) }
        var path = typed.first == slash ? ResourcePath.root : request.context.path
        for segment in typed.split(separator: slash) {
            if segment.elementsEqual("..".utf8) {
                guard let parent = path.parent else { throw WebDAVError(.badRequest) }
                path = parent
            } else if !segment.elementsEqual(".".utf8) {
                guard let longer = path.appending(segment) else { throw WebDAVError(.badRequest) }
                path = longer
            }
        }
        return path
    }

    /// Moves or copies one member.
    func perform(_ name: [UInt8], _ member: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let replaces = request.isTicked("replace")
        // A copy in the same collection needs another name.
        if !isMove, collection == request.context.path, !replaces {
            let isCollection = try await isCollection(member)
            for name in MemberNames(name, isCollection: isCollection, isTaken: true).names {
                do throws(WebDAVError) {
                    return try await perform(member, as: name, replaces: false)
                } catch {
                    // `member` has no preconditions, so 412 means that the destination exists.
                    guard error.status == .preconditionFailed else { throw error }
                }
            }
            throw .busy
        }
        return try await perform(member, as: name, replaces: replaces)
    }

    private func isCollection(_ member: RequestContext) async throws(WebDAVError) -> Bool {
        let share = share
        return try await share.work.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in
                try share.lookup.resource(at: member.path, wait: wait).info?.isCollection == true
            }
        }
    }

    private func perform(
        _ member: RequestContext, as name: [UInt8], replaces: Bool
    ) async throws(WebDAVError) -> HTTPResponse {
        guard let destination = collection.appending(name) else { throw WebDAVError(.badRequest) }
        if share.urls.isHidden(destination) { throw WebDAVError(.forbidden) }
        let transfer = Transfer(to: destination, overwrites: replaces)
        var response =
            isMove
            ? try await ChangeCommitter(MoveMethod(share: share, transfer: transfer), member).run()
            : try await ChangeCommitter(CopyMethod(share: share, transfer: transfer), member).run()
        if response.status == .created { response.fields.append(.location, member.href(of: destination)) }
        return response
    }
}
