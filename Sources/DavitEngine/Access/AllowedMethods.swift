internal import DavitAccess
internal import DavitHTTP
internal import DavitStore

/// The methods that a resource supports, for `Allow` (RFC 9110 §10.2.1). ``Share`` leaves out those that the client has no
/// right to use, and those that a mount point does not permit.
enum AllowedMethods {
    static let collection: StaticString =
        "OPTIONS, GET, HEAD, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// A collection addressed by its add-member URI (RFC 5995).
    static let addMember: StaticString =
        "OPTIONS, GET, HEAD, POST, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    static let content: StaticString =
        "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// An upload in progress.
    static let upload: StaticString = "OPTIONS, HEAD, PATCH, DELETE"
    static let principal: StaticString = "OPTIONS, PROPFIND"
    static let unmapped: StaticString = "OPTIONS, PUT, MKCOL, LOCK"
    /// Every method that some resource supports at its own URI. POST is not included, because it requires the add-member
    /// URI, a form action or a `Tus-Resumable` field.
    static let ofResources: StaticString =
        "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// For `OPTIONS *`: every method that some resource supports.
    static let any: StaticString =
        "OPTIONS, GET, HEAD, POST, PUT, PATCH, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
}

/// What the client may do with one resource, for `Allow`.
struct PermittedMethods {
    private let rights: Rights
    private let throughout: Rights
    private let info: ResourceInfo?
    private let canBeMoved: Bool

    /// - Parameters:
    ///   - paths: the canonical path of the resource, and the requested one, which may contain links.
    ///   - info: nil if the client sees no resource.
    init(_ share: Share, at paths: [ResourcePath], _ info: ResourceInfo?) {
        let mask: Rights = share.configuration.isReadOnly ? .view : .all
        self.info = info
        rights = paths.reduce(mask) { $0.intersection(share.access?.rights(at: $1) ?? .all) }
        throughout = paths.reduce(mask) { $0.intersection(share.access?.rightsThroughout($1) ?? .all) }
        canBeMoved = paths.allSatisfy {
            !$0.isRoot && !share.hasMountPoint(in: $0)
                && !share.isFixed($0, for: share.access?.rights(at: $0) ?? .all)
        }
    }

    /// Whether the client may create the resource, which it does not see.
    var permitCreating: Bool { info == nil && rights.contains(.create) }
    var permitAddingMembers: Bool { info?.isCollection == true && rights.contains(.create) }

    /// Whether the client may write to the resource.
    var permitWriting: Bool {
        guard let info else { return rights.contains(.create) }
        // An empty file counts as not yet created; see `RequiredRight`.
        let isEmpty = !info.isCollection && info.length == 0
        return rights.contains(.change) || (isEmpty && rights.contains(.create))
    }

    func permit(_ method: Substring) -> Bool {
        switch method {
        case "OPTIONS": true
        case "PROPFIND", "REPORT", "SEARCH", "UNLOCK": info != nil
        case "GET", "HEAD", "COPY": info?.isCollection == true || (info != nil && rights.contains(.read))
        case "PUT", "PATCH", "LOCK": permitWriting
        case "MKCOL": permitCreating
        case "POST": permitAddingMembers
        case "PROPPATCH": info != nil && rights.contains(.change)
        case "DELETE": info != nil && canBeMoved && throughout.contains(.delete)
        case "MOVE":
            info != nil && canBeMoved
                && (throughout.contains(.change) || throughout.isSuperset(of: [.delete, .read]))
        default: false
        }
    }
}

extension Share {
    /// Appends an Allow field with those of the methods that the client may use.
    /// - Parameter paths: see ``PermittedMethods``.
    func appendAllow(
        _ methods: StaticString, at paths: [ResourcePath], _ info: ResourceInfo?, to fields: inout HTTPFields
    ) {
        guard hasRights else { return fields.append(.allow, methods) }
        let permitted = PermittedMethods(self, at: paths, info)
        let names = methods.description.split(separator: ", ").filter { permitted.permit($0) }
        fields.append(.allow, names.joined(separator: ", "))
    }

    /// Returns a 405 error whose Allow field contains those of the methods that the client may use.
    /// - Parameter lookup: the target of the request.
    func methodNotAllowed(
        _ methods: StaticString, at lookup: Lookup, _ context: RequestContext
    ) -> WebDAVError {
        var error = WebDAVError(.methodNotAllowed)
        appendAllow(methods, at: [lookup.path, context.path], lookup.info, to: &error.fields)
        return error
    }
}
