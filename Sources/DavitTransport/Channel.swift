internal import DavitHTTP
internal import DavitSystem

/// The byte stream of a connection: plain socket I/O or TLS. Bytes accepted for sending through TLS may still
/// be buffered here as ciphertext; see ``hasOutput``.
struct Channel: ~Copyable {
    /// The result of a receive call.
    struct Input {
        var outcome: Socket.Outcome
        /// Whether no more input is available before the next event.
        var isDrained: Bool
    }

    private let socket: FileDescriptor
    /// The TLS layer; nil for a connection without TLS.
    private(set) var tls: TLSLayer?

    init(_ socket: consuming FileDescriptor) { self.socket = socket }

    /// Returns a channel on which every operation fails.
    static func closed() -> Channel { Channel(FileDescriptor(owning: -1)) }

    /// The socket's descriptor, for registration with the event queue.
    var descriptor: Int32 { socket.rawValue }

    /// Sends and receives through TLS from now on.
    mutating func begin(_ tls: TLSLayer) { self.tls = tls }

    /// Reads the next byte without consuming it.
    func peek(_ byte: inout UInt8) -> Socket.Outcome { Socket.peek(socket.rawValue, &byte) }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Input {
        if let tls { return unsafe tls.receive(from: socket.rawValue, into: buffer) }
        let outcome = unsafe Socket.receive(socket.rawValue, into: buffer)
        // A short read means that the socket is drained.
        if case .bytes(let count) = outcome {
            return Input(outcome: outcome, isDrained: count < buffer.count)
        }
        return Input(outcome: outcome, isDrained: true)
    }

    /// - Parameter isFollowed: whether the caller sends more bytes immediately afterwards.
    func send(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool) -> Socket.Outcome {
        if let tls { return unsafe tls.send(bytes, to: socket.rawValue, isFollowed: isFollowed) }
        return unsafe Socket.send(socket.rawValue, bytes, isFollowed: isFollowed)
    }

    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Socket.Outcome {
        if let tls { return unsafe tls.send(first, second, to: socket.rawValue) }
        return unsafe Socket.send(socket.rawValue, first, second)
    }

    /// Sends bytes of a file without copying them. Only for connections without TLS.
    func sendFile(_ file: Int32, offset: Int64, count: Int) -> Socket.Outcome {
        Socket.sendFile(socket.rawValue, from: file, offset: offset, count: count)
    }

    /// The number of bytes of ciphertext that have not been sent yet.
    var outputCount: Int { tls?.outputCount ?? 0 }

    /// Whether some ciphertext has not been sent yet.
    var hasOutput: Bool { tls?.hasOutput ?? false }

    /// Whether so much ciphertext is pending that no more bytes are accepted.
    var isFull: Bool { tls?.isFull ?? false }

    /// Sends pending ciphertext.
    /// - Returns: the number of bytes sent; `wouldBlock` if some are left.
    func flush() -> Socket.Outcome { tls?.flush(to: socket.rawValue) ?? .bytes(0) }

    /// Ends the hold on input that was not received because too much output was pending.
    /// - Returns: true if this call ended the hold; false if there was none, or if the output is still full.
    func endHold() -> Bool { tls?.endHold() ?? false }

    /// Releases memory that an idle connection does not need.
    func releaseMemory() { tls?.releaseMemory() }

    /// The number of bytes that were sent and that the peer has not acknowledged.
    var outstandingBytes: Int { Socket.outstandingBytes(socket.rawValue) }

    /// Acknowledges received data without delay; see ``Socket/acknowledge(_:)``.
    func acknowledge() { Socket.acknowledge(socket.rawValue) }

    /// Sends close_notify if the connection uses TLS, as far as the socket accepts it.
    func sendCloseNotify() {
        guard let tls else { return }
        tls.sendCloseNotify()
        _ = tls.flush(to: socket.rawValue)
    }

    func shutDownWriting() { Socket.shutDownWriting(socket.rawValue) }

    func shutDown() { Socket.shutDown(socket.rawValue) }
}
