import DavitSystem
import DavitTransport

/// A connection that sends and reads bytes. Its calls block.
final class RawConnection {
    private let socket: FileDescriptor
    private var unread: [UInt8] = []

    init(_ address: BoundAddress) throws {
        socket = try Socket.connect(to: .ipv4Loopback(port: address.port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
    }

    struct Unsent: Error {}

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        let outcome = unsafe bytes.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
        guard case .bytes(bytes.count) = outcome else { throw Unsent() }
    }

    /// Reads until the expected text arrives, and discards everything up to its end; returns false at the end
    /// of the connection.
    func wait(for expected: String) -> Bool { text(until: expected) != nil }

    /// Same, but returns the text before the expected one; nil at the end of the connection.
    func text(until expected: String) -> String? {
        while true {
            if let found = unread.firstRange(of: Array(expected.utf8)) {
                defer { unread.removeSubrange(..<found.upperBound) }
                return String(decoding: unread[..<found.lowerBound], as: UTF8.self)
            }
            guard let count = receive(), count > 0 else { return nil }
        }
    }

    /// Reads until the connection is closed or reset, and returns the number of bytes, or nil on a timeout.
    func bytesToEnd() -> Int? {
        var total = unread.count
        unread = []
        while let count = receive() {
            if count == 0 { return total }
            total += count
            unread = []
        }
        return nil
    }

    /// Returns 0 at the end, and nil on a timeout.
    private func receive() -> Int? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let outcome = unsafe buffer.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        switch outcome {
        case .bytes(let count):
            unread += buffer[..<count]
            return count
        case .ended, .failed: return 0
        case .wouldBlock: return nil
        }
    }
}
