internal import DavitSystem
public import DavitTransport

/// Sends one request per connection and reads the response. Its calls block.
public struct ChangeEventClient {
    public let address: BoundAddress

    public init(address: BoundAddress) { self.address = address }

    public struct Answer {
        /// The complete response: head and content, as received.
        public let text: String

        public var status: Int { Int(text.dropFirst(9).prefix(3)) ?? 0 }
        public var content: String {
            text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
        }

        /// The content, without chunked framing.
        public var decodedContent: String {
            guard let end = text.firstRange(of: "\r\n\r\n") else { return "" }
            let sent = text[end.upperBound...]
            return text[..<end.upperBound].contains("\r\nTransfer-Encoding: chunked\r\n")
                ? Self.decoded(chunks: Array(sent.utf8)) : String(sent)
        }

        private static func decoded(chunks: [UInt8]) -> String {
            var content: [UInt8] = []
            var rest = chunks[...]
            while let lineEnd = rest.firstIndex(of: UInt8(ascii: "\r")),
                let count = Int(String(decoding: rest[..<lineEnd], as: UTF8.self), radix: 16), count > 0
            {
                let start = lineEnd + 2
                content += rest[start..<min(start + count, rest.endIndex)]
                rest = rest.dropFirst(start - rest.startIndex + count + 2)
            }
            return String(decoding: content, as: UTF8.self)
        }

        /// Returns the value of a field. The name must be spelled as in the response.
        public subscript(name: String) -> String? {
            for line in text.split(separator: "\r\n") where line.hasPrefix(name + ": ") {
                return String(line.dropFirst(name.utf8.count + 2))
            }
            return nil
        }
    }

    public func send(
        _ line: String, _ fields: [String] = [], host: String = "localhost", content: String = ""
    ) throws -> Answer {
        answer(from: try begin(line, fields, host: host, content: content))
    }

    /// Sends each request on its own connection before reading the first response, so that the server
    /// can process all of them concurrently.
    public func sendConcurrently(
        _ requests: [(line: String, fields: [String], content: String)]
    ) throws -> [Answer] {
        let sockets = try requests.map {
            try begin($0.line, $0.fields, host: "localhost", content: $0.content)
        }
        return sockets.map { answer(from: $0) }
    }

    private func begin(
        _ line: String, _ fields: [String], host: String, content: String
    ) throws -> Waiting {
        let socket = try Socket.connect(to: SocketAddress.lookUp(host: address.host, port: address.port)[0])
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        var head = ["\(line) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
        if !content.isEmpty { head.append("Content-Length: \(content.utf8.count)") }
        var rest = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + content).utf8)[...]
        while !rest.isEmpty {
            let bytes = Array(rest)
            let outcome = unsafe bytes.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
            guard case .bytes(let count) = outcome else { break }
            rest = rest.dropFirst(count)
        }
        return Waiting(socket)
    }

    /// A connection that waits for a response.
    private final class Waiting {
        let socket: FileDescriptor

        init(_ socket: consuming FileDescriptor) { self.socket = socket }
    }

    private func answer(from connection: Waiting) -> Answer {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        reading: while true {
            let outcome = unsafe buffer.withUnsafeMutableBytes {
                unsafe Socket.receive(connection.socket.rawValue, into: $0)
            }
            switch outcome {
            case .bytes(let count): received += buffer[..<count]
            default: break reading
            }
        }
        return Answer(text: String(decoding: received, as: UTF8.self))
    }
}
