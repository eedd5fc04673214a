#if TLS
internal import DavitCrypto
internal import DavitSystem

/// A stream over TLS.
final class SecureStream: WireStream {
    private let socket: FileDescriptor
    private let tls: TLSClient
    private var timeoutSeconds: Int

    init(
        _ socket: consuming FileDescriptor, _ server: ServerAddress, timeoutSeconds: Int
    ) throws(WireError) {
        let number = socket.rawValue
        self.socket = socket
        self.timeoutSeconds = timeoutSeconds
        do throws(TLSClient.Failure) {
            tls = try TLSClient(socket: number, host: server.host, authorities: server.authorities)
        } catch {
            throw Self.error(error, timeoutSeconds)
        }
    }

    func setTimeout(seconds: Int) throws(WireError) {
        timeoutSeconds = seconds
        do throws(SystemError) { try Socket.setTimeout(socket.rawValue, seconds: seconds) } catch {
            throw .system(error)
        }
    }

    func send(_ bytes: [UInt8]) throws(WireError) {
        do throws(TLSClient.Failure) { try tls.send(bytes) } catch {
            throw Self.error(error, timeoutSeconds)
        }
    }

    func receive() throws(WireError) -> [UInt8] {
        do throws(TLSClient.Failure) { return try tls.receive() } catch {
            throw Self.error(error, timeoutSeconds)
        }
    }

    private static func error(_ failure: TLSClient.Failure, _ timeoutSeconds: Int) -> WireError {
        switch failure {
        case .closed: .closed
        case .silent: .silent(seconds: timeoutSeconds)
        case .refused(let reason): .notSecure(reason)
        }
    }
}
#endif
