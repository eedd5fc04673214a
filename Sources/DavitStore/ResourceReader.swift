public import DavitHTTP

/// Read access to the resources of a share or a website. A type that does not also conform to
/// ``ResourceStore`` never modifies or removes what it reads. All calls are synchronous and may block, except
/// with ``Wait/never``.
///
/// Only classes can conform: each request copies a reference to the store.
public protocol ResourceReader: AnyObject, Sendable {
    /// Resolves any path, including symbolic links.
    /// - Throws: `wouldBlock`, `forbidden` (reserved name or no search permission), `invalidName`,
    ///   `nameTooLong`, `loop`, `busy`, `failed`. A missing resource is not an error but a ``Lookup/State``.
    func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup

    /// Opens any path for reading, following links. The result has a file descriptor for content, but none
    /// for a collection.
    /// - Throws: the errors that ``lookup(_:last:wait:)`` throws, and `notFound` for everything that is
    ///   missing or never served.
    func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource

    /// Opens a member that a cursor has just returned and that is most likely content. The default
    /// implementation calls ``open(_:wait:)``. May block.
    /// - Throws: the errors that ``open(_:wait:)`` throws.
    func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource

    func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor

    /// Reads content opened by ``open(_:wait:)``, for uses in which the server itself processes the bytes,
    /// such as a digest or an archive. Content that is sent unmodified is read from its file descriptor
    /// instead.
    /// - Returns: the number of bytes appended to `buffer`; 0 at the end.
    func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int
}

/// Default implementation for stores that cannot open a listed member faster than any other.
extension ResourceReader {
    /// Calls ``open(_:wait:)``.
    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try open(path, wait: .allowed)
    }
}
