public import DavitHTTP

/// Read access to the resources of a share or of a website. A conforming type without ``ResourceStore`` changes nothing
/// that it reads, and removes nothing. All calls are synchronous and may block unless they take a ``Wait``.
public protocol ResourceReader: Sendable {
    /// Resolves any path, symbolic links included.
    /// - Throws: `wouldBlock`, `forbidden` (a reserved name; no search permission), `invalidName`, `nameTooLong`, `loop`,
    ///   `busy`, `failed`. What is merely absent is a ``Lookup/State``.
    func lookup(_ path: ResourcePath, last: LastSegment, wait: Wait) throws(StoreError) -> Lookup

    /// Opens any path for reading, following links; content gets a descriptor, a collection none.
    /// - Throws: as ``lookup(_:last:wait:)``, and `notFound` for all that is absent or never served.
    func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource

    /// Opens a member that a cursor has just told of, most likely content. May block.
    /// - Throws: as ``open(_:wait:)``, which does the same where nothing is gained by knowing that much.
    func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource

    func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor

    /// Reads content that ``open(_:wait:)`` has opened, for those who have to know it; what is sent goes another way.
    /// - Returns: bytes appended to `buffer`; 0 at the end.
    func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int
}

/// For stores that gain nothing by knowing that somebody has seen it just now.
extension ResourceReader {
    /// As any other.
    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try open(path, wait: .allowed)
    }
}
