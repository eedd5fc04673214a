internal import DavitHTTP
internal import DavitSystem

/// A request exactly as it is sent.
struct WireRequest {
    var method: String
    var target: String
    var minorVersion = 1
    /// All fields, including those for the framing.
    var fields: [WireField]
    var content = RecordedContent.bytes([])
    /// The chunk size for chunked content; nil for other framings.
    var chunkBytes: Int?
    /// Whether to wait for 100 before sending the content.
    var awaitsContinue = false
    /// Whether the content is announced but not sent.
    var isContentWithheld = false
}

/// A response as received.
struct WireResponse {
    var status: Int
    var fields: [WireField]
    var content: RecordedContent
    /// The statuses of the interim responses before the final one.
    var interim: [Int]
}

/// The reason why there is no response.
enum WireError: Error, Hashable {
    case unknownHost(String)
    case system(SystemError)
    /// The connection ended before the response did.
    case closed
    /// No bytes arrived within this time.
    case silent(seconds: Int)
    case malformed
    /// The TLS handshake failed, or the server is not trusted.
    case notSecure(String)
    /// The URL is https, but the program was built without the trait TLS.
    case noTLS
}

/// An HTTP/1.1 client with one connection at a time. It sends requests unmodified, even if they are invalid.
/// Calls block.
final class WireClient {
    private let server: ServerAddress
    private let timeoutSeconds: Int
    private let contentLimitBytes: Int
    private var stream: (any WireStream)?
    private var scanner = MessageScanner()
    private var received: [UInt8] = []
    private var used = 0

    /// - Parameter contentLimitBytes: the maximum length of content that is kept completely; see
    ///   ``ContentSample``.
    init(
        _ server: ServerAddress, timeoutSeconds: Int = 60,
        contentLimitBytes: Int = ResponseView.bodyLimitBytes
    ) {
        self.server = server
        self.timeoutSeconds = timeoutSeconds
        self.contentLimitBytes = contentLimitBytes
    }

    func close() {
        stream = nil
        scanner = MessageScanner()
        received = []
        used = 0
    }

    /// Sends a request and reads its response. If a reused connection turns out to be closed, the request is
    /// sent again on a new one.
    func exchange(_ request: WireRequest) throws(WireError) -> WireResponse {
        let wasKept = stream != nil
        do throws(WireError) {
            return try attempt(request)
        } catch {
            close()
            guard wasKept, error == .closed else { throw error }
            return try attempt(request)
        }
    }

    private func attempt(_ request: WireRequest) throws(WireError) -> WireResponse {
        let stream: any WireStream
        if let kept = self.stream { stream = kept } else { stream = try connect() }
        self.stream = stream
        var interim: [Int] = []
        var early: MessageHead?
        var isSent = false
        do throws(WireError) {
            try stream.send(Self.head(of: request))
            if request.awaitsContinue {
                early = try continuation(stream, &interim)
            }
            if early == nil, !request.isContentWithheld { try send(request, stream) }
            isSent = true
        } catch {
            // The server may have rejected the content with a response before it closed the connection.
            guard error == .closed else { throw error }
        }
        let head: MessageHead
        if let early { head = early } else { head = try finalHead(stream, &interim) }
        let answer = try answer(head, to: request, interim, stream)
        let ends = answer.fields["Connection"]?.lowercased().contains("close") == true || !scanner.isIdle
        if ends || !isSent || early != nil && request.content.count > 0 { close() }
        return answer
    }

    private func connect() throws(WireError) -> any WireStream {
        let addresses: [SocketAddress]
        do throws(SocketAddress.LookUpError) {
            addresses = try SocketAddress.lookUp(host: server.host, port: server.port)
        } catch {
            throw .unknownHost(server.host)
        }
        var failure = WireError.unknownHost(server.host)
        for address in addresses {
            do throws(WireError) {
                return try SocketStream.connect(to: address, server, timeoutSeconds: timeoutSeconds)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    // MARK: Out

    private static func head(of request: WireRequest) -> [UInt8] {
        var text = "\(request.method) \(request.target) HTTP/1.\(request.minorVersion)\r\n"
        for field in request.fields { text += "\(field.name): \(field.value)\r\n" }
        return WireText.bytes(text + "\r\n")
    }

    private func send(_ request: WireRequest, _ stream: any WireStream) throws(WireError) {
        switch request.content {
        case .bytes(let bytes): try send(bytes, chunkBytes: request.chunkBytes, stream)
        case .fill(let byte, let count):
            try send([byte], repeatedTo: Int64(count), chunkBytes: request.chunkBytes, stream)
        // The original content is unknown; send the same number of placeholder bytes.
        case .omitted(let count, _):
            try send(PlaceholderContent.pattern, repeatedTo: count, chunkBytes: request.chunkBytes, stream)
        }
        if request.chunkBytes != nil { try stream.send(Array("0\r\n\r\n".utf8)) }
    }

    private func send(
        _ bytes: [UInt8], chunkBytes: Int?, _ stream: any WireStream
    ) throws(WireError) {
        guard let chunkBytes else {
            if !bytes.isEmpty { try stream.send(bytes) }
            return
        }
        var start = 0
        while start < bytes.count {
            let end = min(start + chunkBytes, bytes.count)
            let size = String(end - start, radix: 16)
            try stream.send(Array("\(size)\r\n".utf8) + bytes[start..<end] + [13, 10])
            start = end
        }
    }

    private func send(
        _ pattern: [UInt8], repeatedTo count: Int64, chunkBytes: Int?, _ stream: any WireStream
    ) throws(WireError) {
        var left = count
        var offset = 0
        let most = Int64(chunkBytes ?? 256 * 1024)
        let repeats = Int(most) / pattern.count + 2
        let source = Array(repeatElement(pattern, count: repeats).joined())
        while left > 0 {
            let taken = Int(min(left, most))
            try send(Array(source[offset..<(offset + taken)]), chunkBytes: chunkBytes, stream)
            offset = (offset + taken) % pattern.count
            left -= Int64(taken)
        }
    }

    // MARK: In

    /// Waits for 100 until no bytes arrive for three seconds (RFC 9110 §10.1.1).
    ///
    /// - Returns: the head of a final response that arrived instead; nil if none did.
    private func continuation(
        _ stream: any WireStream, _ interim: inout [Int]
    ) throws(WireError) -> MessageHead? {
        try stream.setTimeout(seconds: 3)
        do throws(WireError) {
            while !interim.contains(100) {
                let head = try head(stream)
                guard let status = head.status, status < 200 else {
                    try stream.setTimeout(seconds: timeoutSeconds)
                    return head
                }
                interim.append(status)
            }
        } catch {
            guard case .silent = error else { throw error }
        }
        try stream.setTimeout(seconds: timeoutSeconds)
        return nil
    }

    private func finalHead(
        _ stream: any WireStream, _ interim: inout [Int]
    ) throws(WireError) -> MessageHead {
        while true {
            let head = try head(stream)
            guard let status = head.status else { throw .malformed }
            if status >= 200 { return head }
            interim.append(status)
        }
    }

    /// Returns the next head; consumes the end of an interim response.
    private func head(_ stream: any WireStream) throws(WireError) -> MessageHead {
        while true {
            switch try next() {
            case .head(let head):
                if let status = head.status, status < 200 {
                    scanner.begin(.length(0))
                    _ = try next()
                }
                return head
            case .needMore: try receive(stream)
            case .content, .end: throw .malformed
            }
        }
    }

    private func answer(
        _ head: MessageHead, to request: WireRequest, _ interim: [Int], _ stream: any WireStream
    ) throws(WireError) -> WireResponse {
        guard let status = head.status, let framing = head.answerFraming(to: request.method) else {
            throw .malformed
        }
        scanner.begin(framing)
        var content = ContentSample(limitBytes: contentLimitBytes)
        reading: while true {
            switch try next() {
            case .head: throw .malformed
            case .content(let count):
                unsafe received.withUnsafeBytes { bytes in
                    unsafe content.append(UnsafeRawBufferPointer(rebasing: bytes[used..<(used + count)]))
                }
                used += count
            case .end: break reading
            case .needMore:
                do throws(WireError) { try receive(stream) } catch {
                    guard error == .closed, framing == .untilEnd else { throw error }
                    break reading
                }
            }
        }
        return WireResponse(status: status, fields: head.fields, content: content.finish(), interim: interim)
    }

    private func next() throws(WireError) -> MessageScanner.Step {
        do throws(MessageScanner.Lost) {
            let unread = received[used...]
            let (consumed, step) = try unsafe unread.span.withUnsafeBytes {
                bytes throws(MessageScanner.Lost) in try unsafe scanner.next(bytes)
            }
            used += consumed
            return step
        } catch {
            throw .malformed
        }
    }

    private func receive(_ stream: any WireStream) throws(WireError) {
        received.removeFirst(used)
        used = 0
        let bytes = try stream.receive()
        guard !bytes.isEmpty else { throw .closed }
        received += bytes
    }
}
