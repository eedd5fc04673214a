internal import DavitSystem

/// Listening sockets other than those for a host and a port.
extension ListeningSocket {
    /// Listens at a path in the file system. The path must be free, or lead to the socket of a server that is
    /// no longer running.
    static func local(
        _ local: TransportConfiguration.LocalSocket, backlog: Int
    ) throws(TransportError) -> ListeningSocket {
        do throws(SystemError) {
            var file: LocalSocketFile?
            let socket = try LocalSocketFile.listen(
                path: local.path, mode: local.mode, backlog: Int32(clamping: backlog), file: &file)
            return ListeningSocket(socket, at: BoundAddress(path: local.path), file: file)
        } catch {
            throw TransportError(.init(error), host: local.path)
        }
    }

    /// Adopts an inherited listening socket. The socket and its file, if any, remain when the server stops.
    static func inherited(_ number: Int32) throws(TransportError) -> ListeningSocket {
        do throws(SystemError) {
            let socket = try Socket.adoptListener(number)
            if let path = try Socket.localPath(of: number) {
                return ListeningSocket(socket, at: BoundAddress(path: path))
            }
            let address = try Socket.localAddress(of: number)
            return ListeningSocket(
                socket, at: BoundAddress(host: address.text, port: address.port), address: address)
        } catch {
            throw TransportError(.notListening, host: "\(number)")
        }
    }
}
