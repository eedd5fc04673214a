internal import DavitSystem

/// A byte stream to a server. Calls block.
protocol WireStream: AnyObject {
    /// Sets the timeout after which calls fail.
    func setTimeout(seconds: Int) throws(WireError)
    /// - Throws: ``WireError/closed`` if the server closed the connection.
    func send(_ bytes: [UInt8]) throws(WireError)
    /// Returns the next bytes; empty at the end.
    func receive() throws(WireError) -> [UInt8]
}

/// A stream without TLS.
final class SocketStream: WireStream {
    private let socket: FileDescriptor
    private var timeoutSeconds: Int
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    private init(_ socket: consuming FileDescriptor, timeoutSeconds: Int) {
        self.socket = socket
        self.timeoutSeconds = timeoutSeconds
    }

    static func connect(
        to address: SocketAddress, _ server: ServerAddress, timeoutSeconds: Int
    ) throws(WireError) -> any WireStream {
        #if !TLS
        if server.isSecure { throw .noTLS }
        #endif
        let socket = try connect(to: address, timeoutSeconds: timeoutSeconds)
        #if TLS
        if server.isSecure {
            return try SecureStream(socket, server, timeoutSeconds: timeoutSeconds)
        }
        #endif
        return SocketStream(socket, timeoutSeconds: timeoutSeconds)
    }

    private static func connect(
        to address: SocketAddress, timeoutSeconds: Int
    ) throws(WireError) -> FileDescriptor {
        do throws(SystemError) {
            let socket = try Socket.connect(to: address)
            try Socket.setTimeout(socket.rawValue, seconds: timeoutSeconds)
            return socket
        } catch {
            throw .system(error)
        }
    }

    func setTimeout(seconds: Int) throws(WireError) {
        timeoutSeconds = seconds
        do throws(SystemError) { try Socket.setTimeout(socket.rawValue, seconds: seconds) } catch {
            throw .system(error)
        }
    }

    func send(_ bytes: [UInt8]) throws(WireError) {
        var start = 0
        while start < bytes.count {
            let outcome = unsafe bytes.withUnsafeBytes {
                unsafe Socket.send(socket.rawValue, UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
            switch outcome {
            case .bytes(let count): start += count
            case .wouldBlock: throw .silent(seconds: timeoutSeconds)
            case .ended, .failed: throw .closed
            }
        }
    }

    func receive() throws(WireError) -> [UInt8] {
        let outcome = unsafe buffer.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        switch outcome {
        case .bytes(let count): return Array(buffer[..<count])
        case .wouldBlock: throw .silent(seconds: timeoutSeconds)
        case .ended: return []
        // Treat an error, such as a reset, as the end of the stream.
        case .failed: return []
        }
    }
}
