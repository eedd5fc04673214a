internal import DavitHTTP

/// What a method will change, for the locks that protect it (RFC 4918 §7).
enum Effect: Sendable, Equatable {
    /// Content or properties of a resource: protected by the locks that cover it.
    case write(ResourcePath)
    /// A member is added to, or removed from, the collection above (§7.4): protected by the locks on that
    /// collection, whatever their depth.
    case member(ResourcePath)
    /// Everything at and below: protected by the locks that cover it and by those inside.
    case tree(ResourcePath)
}
