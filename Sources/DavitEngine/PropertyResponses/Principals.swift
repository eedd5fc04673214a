internal import DavitAccess
internal import DavitHTTP
internal import DavitWebDAV

/// The principals of a share as resources (RFC 3744 §2). A client sees only its own principal, in a
/// collection at the root of the share.
///
/// Stores reserve names that consist of `.davit-` and 16 lower-case letters or digits from 2 to 7, so no
/// resource can have the name of this collection. Principals support only the methods in
/// ``AllowedMethods/principal``.
struct Principals {
    static let collection = ReservedCollection(".davit-principalsfolder")

    /// The href of the collection, percent-encoded, with a trailing slash.
    let collectionHref: [UInt8]
    /// The path of the client's principal; nil without authentication, or if the name is not a valid path
    /// segment.
    private let user: ResourcePath?
    let name: String?

    init(_ context: RequestContext) {
        var href = context.mountHref
        PercentCoding.append(Self.collection.path, to: &href)
        href.append(UInt8(ascii: "/"))
        collectionHref = href
        name = context.principal
        user = context.principal.flatMap { Self.collection.path.appending(Array($0.utf8)) }
    }

    /// The href of the client's principal, percent-encoded; nil without authentication, or if the name is not
    /// a valid path segment.
    var userHref: [UInt8]? {
        guard let user else { return nil }
        var href = collectionHref
        PercentCoding.append(user.name, to: &href)
        return href
    }

    /// The value of `current-user-principal` (RFC 5397 §3): `unauthenticated` without authentication; nil if
    /// the name is not a valid path segment.
    var userElement: [UInt8]? {
        guard name != nil else { return Array("<D:unauthenticated/>".utf8) }
        return userHref.map(Self.href)
    }

    /// Returns the element that identifies the subject of an access control entry (RFC 3744 §5.5.1). Groups have URLs that
    /// no user can have, because the name of an account contains no colon.
    func element(of subject: AccessRule.Subject) -> [UInt8] {
        switch subject {
        case .everyone: return Array("<D:authenticated/>".utf8)
        case .anonymous: return Array("<D:unauthenticated/>".utf8)
        case .user(let name): return Self.href(collectionHref + Self.encoded(name))
        case .group: return Self.href(collectionHref + Self.encoded(subject.description))
        }
    }

    private static func encoded(_ name: String) -> [UInt8] {
        var href: [UInt8] = []
        PercentCoding.append(Array(name.utf8)[...], to: &href)
        return href
    }

    static func href(_ path: [UInt8]) -> [UInt8] {
        Array("<D:href>".utf8) + path + Array("</D:href>".utf8)
    }

    enum Resource: Equatable {
        case collection, user
        /// A principal that does not exist, or that belongs to another user.
        case absent
    }

    /// Returns the principal, or the collection of principals, at a path; nil if the path is not in the
    /// namespace of principals.
    func resource(at path: ResourcePath) -> Resource? {
        guard Self.collection.contains(path) else { return nil }
        if path == Self.collection.path { return .collection }
        return path == user ? .user : .absent
    }
}
