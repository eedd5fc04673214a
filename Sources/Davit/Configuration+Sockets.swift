internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// A socket in the file system, for programs of the same machine: a proxy, for example.
    public struct UnixSocket: Hashable, Sendable {
        /// At most 103 bytes on Apple systems; on Linux as long as any.
        public var path: String
        /// The permission bits; who may write may connect.
        public var mode: UInt32

        /// - Parameters:
        ///   - path: is made when the server starts, and removed when it stops. One that a server left behind that is
        ///     gone is replaced.
        ///   - mode: the permission bits; who may write may connect.
        public init(path: String, mode: UInt32 = 0o600) {
            self.path = path
            self.mode = mode
        }
    }

    /// The first of the sockets that were handed over that others than this machine can reach; nil if none is.
    func exposedInheritedSocket() -> String? {
        for number in inheritedSockets {
            // What is no socket is refused when the server starts.
            guard let address = try? Socket.localAddress(of: number), !address.isLoopback else { continue }
            return address.text
        }
        return nil
    }

    func addSockets(to transport: inout TransportConfiguration) {
        transport.inheritedSockets = inheritedSockets
        if let unixSocket {
            transport.localSockets = [.init(path: unixSocket.path, mode: unixSocket.mode)]
        }
        guard notifiesServiceManager else { return }
        transport.willStop = { ServiceManager.stopping() }
        if let interval = ServiceManager.watchdogInterval {
            // Half of it, as sd_watchdog_enabled(3) recommends.
            transport.heartbeat = (interval / 2, { ServiceManager.alive() })
        }
    }
}
