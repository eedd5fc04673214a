#if TLS
internal import DavitCrypto
internal import DavitSystem

/// A stream over TLS.
final class SecureStream: WireStream {
    private let socket: FileDescriptor
    private let tls: TLSClient
    private var patienceSeconds: Int

    init(
        _ socket: consuming FileDescriptor, _ server: ServerAddress, patienceSeconds: Int
    ) throws(WireError) {
        let number = socket.rawValue
        self.socket = socket
        self.patienceSeconds = patienceSeconds
        do throws(TLSClient.Failure) {
            tls = try TLSClient(socket: number, host: server.host, authorities: server.authorities)
        } catch {
            throw Self.error(error, patienceSeconds)
        }
    }

    func setPatience(seconds: Int) throws(WireError) {
        patienceSeconds = seconds
        do throws(SystemError) { try Socket.setTimeout(socket.rawValue, seconds: seconds) } catch {
            throw .system(error)
        }
    }

    func send(_ bytes: [UInt8]) throws(WireError) {
        do throws(TLSClient.Failure) { try tls.send(bytes) } catch {
            throw Self.error(error, patienceSeconds)
        }
    }

    func receive() throws(WireError) -> [UInt8] {
        do throws(TLSClient.Failure) { return try tls.receive() } catch {
            throw Self.error(error, patienceSeconds)
        }
    }

    private static func error(_ failure: TLSClient.Failure, _ patienceSeconds: Int) -> WireError {
        switch failure {
        case .closed: .closed
        case .silent: .silent(seconds: patienceSeconds)
        case .refused(let reason): .notSecure(reason)
        }
    }
}
#endif
