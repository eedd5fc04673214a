/// What requests leave for the next request on the same connection, which is mostly sent by the same client. It belongs to the
/// connection, and to the request object while requests are served. An idle connection forgets it.
///
/// A proxy can use a connection for several clients, so each value states for which client it is valid.
package struct RequestMemory {
    /// The credentials of the last request, as the authentication keeps them.
    package var login: (any AnyObject & Sendable)?
    /// What the client of the last request may see of a share, as the share keeps it.
    package var view: (any AnyObject & Sendable)?

    package init() {}
}
