#if TLS
import DavitCrypto
import DavitSystem
import DavitTesting
import DavitTransport

/// A TLS connection for a sequence of requests. Its calls block.
final class SecureClient {
    enum CommandFailure: Error, Equatable {
        case closed
        case refused(String)
    }

    let tls: TLSTestClient
    private let socket: FileDescriptor

    init(_ address: BoundAddress, _ options: TLSTestClient.Options = .init()) throws {
        socket = try Socket.connect(to: .ipv4Loopback(port: address.port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        tls = try TLSTestClient(options)
        while true {
            let state = tls.handshake()
            try flush()
            switch state {
            case .done: return
            case .failed(let reason): throw CommandFailure.refused(reason)
            case .needsInput: try receive()
            }
        }
    }

    /// Returns the raw response when its head and `content` bytes have arrived.
    func get(_ path: String, content: Int) throws -> String {
        tls.write(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        try flush()
        var answer: [UInt8] = []
        while true {
            let text = String(decoding: answer, as: UTF8.self)
            if let head = text.firstRange(of: "\r\n\r\n"), text[head.upperBound...].utf8.count >= content {
                return text
            }
            let (bytes, state) = tls.read()
            answer += bytes
            guard bytes.isEmpty else { continue }
            if case .failed(let reason) = state { throw CommandFailure.refused(reason) }
            try receive()
        }
    }

    var fingerprint: [UInt8] { get throws { try tls.serverCertificate().fingerprint() } }

    private func flush() throws {
        let bytes = tls.takeOutput()
        var start = 0
        while start < bytes.count {
            let outcome = unsafe bytes.withUnsafeBytes {
                unsafe Socket.send(socket.rawValue, UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
            guard case .bytes(let count) = outcome else { throw CommandFailure.closed }
            start += count
        }
    }

    private func receive() throws {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let outcome = unsafe piece.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        guard case .bytes(let count) = outcome else { throw CommandFailure.closed }
        tls.receive(Array(piece[..<count]))
    }
}
#endif
