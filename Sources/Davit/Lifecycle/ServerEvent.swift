public import DavitTransport

/// A life cycle event of a server, from `WebServer.events`.
public enum ServerEvent: Hashable, Sendable {
    /// The server is listening on these addresses.
    case started([BoundAddress])
    /// The server has stopped completely. It can be started again.
    case stopped
    /// The first client has connected. Connections without a request count.
    case firstClientConnected
    /// No client has been connected for ``Configuration/LifecycleOptions/disconnectDelay``.
    case lastClientDisconnected
    /// The server has stopped listening, and can be resumed.
    case suspended
    /// The server is listening again on these addresses.
    case resumed([BoundAddress])
    /// The server could not resume. It retries when the application becomes active, or when
    /// `WebServer.resume()` is called.
    case resumeFailed(TransportError)
    /// The server is announced in the local network under this name, which can be followed by a number if another server has
    /// the name of ``Configuration/announcement``. Also sent when the name or the network changes.
    case announced(name: String)
    /// A port of the router is mapped to the server, which clients in the Internet reach at this URL, because of
    /// ``Configuration/portMapping``. Also sent when the URL changes.
    case portMapped(url: String)
    /// The port could not be mapped or renewed; it is tried again later.
    case portMappingFailed(reason: String)
    /// This many earlier events were dropped, oldest first, because they were not read in time.
    case missed(Int)
}
