internal import DavitSystem

/// Listening sockets that are opened before the server is created.
package enum OpenSockets {
    /// Binds all endpoints; those with port 0 share one port, which the system chooses.
    /// - Returns: the descriptors of the sockets, which stay open.
    package static func open(
        _ endpoints: [TransportConfiguration.Endpoint], backlog: Int
    ) throws(TransportError) -> [Int32] {
        var numbers: [Int32] = []
        for socket in try ListeningSocket.bind(endpoints, backlog: backlog) {
            if let descriptor = socket.take() { numbers.append(descriptor.release()) }
        }
        return numbers
    }

    /// Binds all endpoints, and closes the sockets.
    package static func check(
        _ endpoints: [TransportConfiguration.Endpoint], backlog: Int
    ) throws(TransportError) {
        _ = try ListeningSocket.bind(endpoints, backlog: backlog)
    }
}
