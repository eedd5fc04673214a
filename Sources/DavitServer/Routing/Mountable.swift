public import DavitHTTP

/// An application that a server can serve: a ``Handler``, or a value that creates one when the server is
/// created, such as a shared folder.
public protocol Mountable: Sendable {
    /// Creates the handler. Called once per mount point before the server listens; may block.
    ///
    /// - Parameter environment: the services that the server provides.
    /// - Throws: any error; the server is then not created.
    func handler(in environment: ServerEnvironment) throws -> any Handler

    /// Fields added to responses to OPTIONS for `*` and for all paths above the mount, even if another
    /// handler responds, because clients query the root for the server's capabilities. Only names with a case
    /// in ``DavitHTTP/FieldName`` are used. Empty by default.
    var announcedFields: HTTPFields { get }
}

extension Mountable {
    public var announcedFields: HTTPFields { HTTPFields() }
}
