internal import DavitHTTP

/// A change that a method is about to make. It determines which locks are checked (RFC 4918 §7).
enum WriteEffect: Sendable, Equatable {
    /// Changes the content or properties of a resource; protected by the locks that cover the resource.
    case write(ResourcePath)
    /// Adds a member to, or removes one from, its parent collection (§7.4); protected by the locks on that
    /// collection, whatever their depth.
    case member(ResourcePath)
    /// Changes a resource and everything below it; protected by the locks that cover the resource and the
    /// locks below it.
    case tree(ResourcePath)
}
