import DavitSystem
import DavitTransport
import Testing

/// A connection that receives events. Its calls block.
final class EventSocket {
    private let socket: FileDescriptor
    private(set) var text = ""
    private(set) var hasEnded = false

    init(_ address: BoundAddress, _ target: String, since id: String = "") throws {
        socket = try Socket.connect(to: .ipv4Loopback(port: address.port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        var head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        if !id.isEmpty { head += "Last-Event-ID: \(id)\r\n" }
        let bytes = Array((head + "\r\n").utf8)
        let outcome = unsafe bytes.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
        guard case .bytes(bytes.count) = outcome else { throw Unsent() }
    }

    struct Unsent: Error {}

    /// Reads until the expected text arrives, and discards everything up to its end; returns false at the end
    /// of the connection.
    func wait(for expected: String) -> Bool {
        while true {
            if let found = text.firstRange(of: expected) {
                text.removeSubrange(..<found.upperBound)
                return true
            }
            if !read() { return false }
        }
    }

    /// Reads until the connection closes.
    func waitForEnd() { while read() {} }

    /// Reads the next event ID.
    func id() -> String? {
        guard wait(for: "id: ") else { return nil }
        while !text.contains("\n") { if !read() { return nil } }
        return text.split(separator: "\n").first.map(String.init)
    }

    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let outcome = unsafe buffer.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        guard case .bytes(let count) = outcome else {
            if case .ended = outcome { hasEnded = true }
            return false
        }
        text += String(decoding: buffer[..<count], as: UTF8.self)
        return true
    }
}
