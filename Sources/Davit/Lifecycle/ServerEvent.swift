public import DavitTransport

/// Something that happened to a server, for `WebServer.events`.
public enum ServerEvent: Hashable, Sendable {
    /// The server listens, on these addresses.
    case started([BoundAddress])
    /// The server has stopped; nothing of it runs any more. It may be started again.
    case stopped
    /// Somebody is connected, and nobody was. A connection without a request counts.
    case firstClientConnected
    /// Nobody is connected any longer, for the time of ``Configuration/LifecycleOptions/disconnectDelay``.
    case lastClientDisconnected
    /// The server listens no longer, and can do so again.
    case suspended
    /// The server listens again, on these addresses.
    case resumed([BoundAddress])
    /// The server could not listen again. It tries once more when the application becomes active, or
    /// `WebServer.resume()` is called.
    case resumeFailed(TransportError)
    /// So many events that happened before the next one are lost, the oldest ones: they were not read in time.
    case missed(Int)
}
