internal import DavitTransport
internal import Synchronization

/// A server with a listener of its own that runs together with the main server.
protocol SideServer: Sendable {
    /// Begins to listen.
    func start() throws(TransportError)
    /// Stops listening, and returns when the threads have ended. Does nothing if the listener is not running.
    func stop()
}

/// Holds the side servers while the main server runs, whose callbacks are created first. Otherwise it is empty, because the
/// servers would retain each other.
final class RunningSideServers: Sendable {
    private let servers = Mutex<[any SideServer]>([])

    /// Starts all servers, or none.
    func start(_ given: [any SideServer]) throws(TransportError) {
        for server in given {
            do throws(TransportError) { try server.start() } catch {
                stop()
                throw error
            }
            servers.withLock { $0.append(server) }
        }
    }

    /// Stops the servers, and returns when their threads have ended. Does nothing if none is running.
    func stop() {
        let running = servers.withLock { servers in
            defer { servers = [] }
            return servers
        }
        for server in running { server.stop() }
    }
}
