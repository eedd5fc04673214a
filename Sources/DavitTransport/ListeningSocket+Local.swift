internal import DavitSystem

/// Sockets that are not made from a host and a port.
extension ListeningSocket {
    /// Listens under a name in the file system, which must be free, or left behind by a server that is gone.
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

    /// Accepts on a socket that listens. It stays open when the server stops, and its name, if it has one, stays too.
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
