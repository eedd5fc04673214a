import DavitSystem
import DavitTesting
import DavitTransport

/// A client that sends raw bytes and reads responses, over TLS if the tests use it. Its calls block.
final class Peer {
    enum Failure: Error, Equatable {
        case closed, malformed
        /// The TLS connection ended without close_notify.
        case truncated
        case handshake(String)
        case failed(SystemError)
    }

    private let socket: FileDescriptor
    #if TLS
    let tls: TLSTestClient?
    /// Whether ciphertext is sent one byte per call.
    private let isBytewise: Bool
    #endif
    private var received: [UInt8] = []
    /// The number of received bytes that have been consumed.
    private var used = 0
    private var isBehindChunk = false

    /// - Parameter secured: whether to use TLS; nil for the default of the tests.
    init(_ address: BoundAddress, receiveBuffer: Int32? = nil, secured: Bool? = nil) throws {
        socket = try Socket.connect(to: SocketAddress.lookUp(host: address.host, port: address.port)[0])
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        try Socket.setBufferSizes(socket.rawValue, receive: receiveBuffer, send: nil)
        #if TLS
        isBytewise = false
        tls = secured ?? Wire.isSecure ? try TLSTestClient() : nil
        try performHandshake()
        #endif
    }

    #if TLS
    /// Connects over TLS with the given options.
    init(_ address: BoundAddress, _ options: TLSTestClient.Options, bytewise: Bool = false) throws {
        isBytewise = bytewise
        socket = try Socket.connect(to: .ipv4Loopback(port: address.port))
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        tls = try TLSTestClient(options)
        try performHandshake()
    }

    private func performHandshake() throws {
        guard let tls else { return }
        while true {
            let state = tls.handshake()
            try sendCipher(tls.takeOutput())
            switch state {
            case .done: return
            case .failed(let reason): throw Failure.handshake(reason)
            case .needsInput:
                guard let bytes = try receiveRaw() else { throw Failure.closed }
                tls.receive(bytes)
            }
        }
    }
    #endif

    #if TLS
    private func sendCipher(_ bytes: [UInt8]) throws {
        guard isBytewise else { return try sendRaw(bytes) }
        for byte in bytes { try sendRaw([byte]) }
    }
    #endif

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        #if TLS
        if let tls {
            tls.write(bytes)
            return try sendCipher(tls.takeOutput())
        }
        #endif
        try sendRaw(bytes)
    }

    /// Sends bytes directly to the socket, bypassing TLS.
    func sendRaw(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let outcome = unsafe bytes.withUnsafeBytes {
                unsafe Socket.send(socket.rawValue, UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
            guard case .bytes(let count) = outcome else { throw failure(outcome) }
            start += count
        }
    }

    /// Sends bytes until the connection fails.
    func sendUntilRefused() {
        let piece = [UInt8](repeating: 0x61, count: 16 * 1024)
        while (try? send(piece)) != nil {}
    }

    /// Makes the connection reset when this object is destroyed.
    func resetOnClose() throws { try Socket.setReset(socket.rawValue) }

    func shutDownWriting() {
        #if TLS
        if let tls {
            tls.closeNotify()
            try? sendRaw(tls.takeOutput())
        }
        #endif
        Socket.shutDownWriting(socket.rawValue)
    }

    /// Reads one response.
    func response(toHead isHead: Bool = false) throws -> Response {
        var response = Response(head: try head())
        if isHead || response.status == 204 || response.status == 304 || response.status < 200 {
            return response
        }
        if response["transfer-encoding"] == "chunked" {
            response.content = try chunks()
        } else if let length = response["content-length"] {
            guard let count = Int(length) else { throw Failure.malformed }
            response.content = try take(count)
        } else {
            response.content = try rest()
        }
        return response
    }

    /// Reads everything up to the end of the connection.
    func rest() throws -> [UInt8] {
        while try receive() {}
        return try take(received.count - used)
    }

    func take(_ count: Int) throws -> [UInt8] {
        while received.count - used < count {
            guard try receive() else { throw Failure.closed }
        }
        used += count
        return Array(received[(used - count)..<used])
    }

    func head() throws -> String {
        var head: [UInt8] = []
        while head.suffix(4) != [13, 10, 13, 10] { head += try take(1) }
        return String(decoding: head, as: UTF8.self)
    }

    private func line() throws -> String {
        var bytes: [UInt8] = []
        while bytes.suffix(2) != [13, 10] { bytes += try take(1) }
        return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }

    private func chunks() throws -> [UInt8] {
        var content: [UInt8] = []
        while let chunk = try chunk() { content += chunk }
        return content
    }

    /// Reads only the head of a response; the content is read separately.
    func readHead() throws -> Response { Response(head: try head()) }

    /// Reads the next chunk; nil at the end.
    ///
    /// The line end after the chunk is read by the next call, because it may arrive later than the chunk.
    func chunk() throws -> [UInt8]? {
        if isBehindChunk {
            guard try take(2) == [13, 10] else { throw Failure.malformed }
        }
        guard let size = Int(try line(), radix: 16) else { throw Failure.malformed }
        isBehindChunk = size > 0
        if size > 0 { return try take(size) }
        guard try take(2) == [13, 10] else { throw Failure.malformed }
        return nil
    }

    /// Receives more bytes; returns false at the end of the stream.
    private func receive() throws -> Bool {
        received.removeFirst(used)
        used = 0
        #if TLS
        if let tls { return try receive(through: tls) }
        #endif
        guard let bytes = try receiveRaw() else { return false }
        received += bytes
        return true
    }

    #if TLS
    private func receive(through tls: TLSTestClient) throws -> Bool {
        while true {
            let (bytes, state) = tls.read()
            received += bytes
            if !bytes.isEmpty { return true }
            switch state {
            case .done: return false
            case .failed(let reason): throw Failure.handshake(reason)
            case .needsInput:
                guard let bytes = try receiveRaw() else { throw Failure.truncated }
                tls.receive(bytes)
            }
        }
    }
    #endif

    /// Receives bytes directly from the socket; returns nil at the end of the stream.
    func receiveRaw() throws -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let outcome = unsafe piece.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        switch outcome {
        case .bytes(let count): return Array(piece[..<count])
        case .ended: return nil
        case .wouldBlock, .failed: throw failure(outcome)
        }
    }

    private func failure(_ outcome: Socket.Outcome) -> Failure {
        if case .failed(let error) = outcome { return .failed(error) }
        return .closed
    }
}

/// A parsed response.
struct Response {
    let status: Int
    let lines: [String]
    var content: [UInt8] = []

    init(head: String) {
        lines = head.split(separator: "\r\n").map(String.init)
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
    }

    var text: String { String(decoding: content, as: UTF8.self) }

    /// The value of a field; the name must be in lowercase.
    subscript(_ name: String) -> String? {
        for line in lines.dropFirst() where line.lowercased().hasPrefix(name + ":") {
            return String(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return nil
    }
}
