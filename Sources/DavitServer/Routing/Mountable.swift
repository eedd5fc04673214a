public import DavitHTTP

/// What a server serves: a ``Handler``, or a value that becomes one when the server is made, like a folder to share.
public protocol Mountable: Sendable {
    /// Makes the handler. Called once for each place it is mounted at, before the server listens; may block.
    ///
    /// - Parameter environment: what the server lends.
    /// - Throws: whatever is in the way. There is no server then.
    func handler(in environment: ServerEnvironment) throws -> any Handler

    /// Stand on answers to OPTIONS for `*` and for all paths above the mount, whoever answers there: clients ask at the
    /// root what a server can do. Only names with a case in ``DavitHTTP/FieldName`` count; none unless implemented.
    var announcedFields: HTTPFields { get }
}

extension Mountable {
    public var announcedFields: HTTPFields { HTTPFields() }
}
