internal import DavitHTTP

/// A change that a method is about to make. It determines which locks are checked (RFC 4918 §7).
enum WriteEffect: Sendable, Equatable {
    /// Changes the content or properties of a resource; protected by the locks that cover the resource.
    case write(ResourcePath)
    /// Adds this resource to its parent collection, or removes it (§7.4); protected by the locks that cover the
    /// parent collection, including those of depth 0.
    case member(ResourcePath)
    /// Changes a resource and everything below it; protected by the locks that cover the resource and the
    /// locks below it.
    case tree(ResourcePath)
}
