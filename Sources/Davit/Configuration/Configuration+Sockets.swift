internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// A Unix socket, for programs on the same machine such as a proxy.
    public struct UnixSocket: Hashable, Sendable {
        /// The path: at most 103 bytes on Apple systems; of any length on Linux, with a file name of at most
        /// 80 bytes.
        public var path: String
        /// The permission bits; processes with write permission can connect.
        public var mode: UInt32

        /// Creates the settings of a Unix socket.
        ///
        /// - Parameters:
        ///   - path: the path of the socket, which is created when the server starts and removed when it
        ///     stops. A socket that a terminated server left behind is replaced.
        ///   - mode: the permission bits; processes with write permission can connect.
        public init(path: String, mode: UInt32 = 0o600) {
            self.path = path
            self.mode = mode
        }
    }

    /// Opens the sockets of ``TLS/plainPort`` now, and those of ``hosts`` and ``port``, which it adds to ``inheritedSockets``, so that the process can give up
    /// privileges, such as that for ports below 1024, before it creates a server. Does nothing the second time. The sockets stay
    /// open until the process ends.
    ///
    /// - Throws: ``ServerError/cannotListen(_:)``.
    public mutating func openSockets() throws(ServerError) {
        do throws(TransportError) {
            if plainSockets == nil, let plain = plainEndpoints {
                plainSockets = try OpenSockets.open(plain, backlog: backlog)
            }
            if hasOpenSockets || hosts.isEmpty { return }
            inheritedSockets += try OpenSockets.open(endpoints, backlog: backlog)
        } catch {
            throw .cannotListen(error)
        }
        hasOpenSockets = true
    }

    /// Binds the sockets of ``hosts`` and ``port`` as the start of a server does, and closes them.
    /// - Throws: ``ServerError/cannotListen(_:)``.
    package func checkSockets() throws(ServerError) {
        if hosts.isEmpty { return }
        do throws(TransportError) { try OpenSockets.check(endpoints, backlog: backlog) } catch {
            throw .cannotListen(error)
        }
    }

    /// Returns the address of the first inherited socket that is reachable from other machines, or nil.
    func exposedInheritedSocket() -> String? {
        for number in inheritedSockets {
            // Descriptors that are not sockets are rejected when the server starts.
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
            // Half the interval, as sd_watchdog_enabled(3) recommends.
            transport.heartbeat = (interval / 2, { ServiceManager.alive() })
        }
    }
}
