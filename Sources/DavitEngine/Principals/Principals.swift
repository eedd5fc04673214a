internal import DavitHTTP
internal import DavitWebDAV

/// The principals of a share as resources (RFC 3744 §2), as far as one client sees them: itself, in a collection at
/// the root of the share.
///
/// Their names have the form that stores keep for what is not part of a share, so that no resource can have them, and
/// every method but those that answer for principals is refused.
struct Principals {
    static let collection = ResourcePath(unchecked: Array(".davit-principalsfolder".utf8))

    /// The collection, percent-encoded, with a slash at its end.
    let collectionHref: [UInt8]
    /// The path of who asks; nil without authentication, and for a name that is no segment of a path.
    private let user: ResourcePath?
    let name: String?

    init(_ context: RequestContext) {
        var href = context.mountHref
        PercentCoding.append(Self.collection, to: &href)
        href.append(UInt8(ascii: "/"))
        collectionHref = href
        name = context.principal
        user = context.principal.flatMap { Self.collection.appending(Array($0.utf8)) }
    }

    /// Who asks, percent-encoded; nil if there is nobody, or no URL for the name.
    var userHref: [UInt8]? {
        guard let user else { return nil }
        var href = collectionHref
        PercentCoding.append(user.name, to: &href)
        return href
    }

    /// The value of `current-user-principal` (RFC 5397 §3); nil for a name without URL.
    var userElement: [UInt8]? {
        guard name != nil else { return Array("<D:unauthenticated/>".utf8) }
        return userHref.map(Self.href)
    }

    static func href(_ path: [UInt8]) -> [UInt8] {
        Array("<D:href>".utf8) + path + Array("</D:href>".utf8)
    }

    enum Resource: Equatable {
        case collection, user
        /// Somebody else, who is nobody's business, or nobody.
        case absent
    }

    /// Which principal a path names; nil for a path of the share.
    func resource(at path: ResourcePath) -> Resource? {
        guard Self.isAbove(path) else { return nil }
        if path == Self.collection { return .collection }
        return path == user ? .user : .absent
    }

    /// Whether a path is that of principals.
    static func isAbove(_ path: ResourcePath) -> Bool {
        // Nearly all paths differ in their first byte.
        path.bytes.first == UInt8(ascii: ".") && collection.contains(path)
    }
}
