internal import DavitHTTP
internal import DavitSystem

/// The bytes of a connection in both directions, and the one place that knows how they reach the socket: as they are, or
/// through TLS. What is sent through TLS can be taken, and still wait here as ciphertext: ``hasOutput``.
struct Channel: ~Copyable {
    /// What a call for input brought.
    struct Input {
        var outcome: Socket.Outcome
        /// Nothing more can be had before the next event.
        var isDrained: Bool
    }

    private let socket: FileDescriptor
    /// Nil for a connection without TLS.
    private(set) var tls: TLSLayer?

    init(_ socket: consuming FileDescriptor) { self.socket = socket }

    /// A channel on which everything fails.
    static func closed() -> Channel { Channel(FileDescriptor(owning: -1)) }

    /// For the event queue.
    var descriptor: Int32 { socket.rawValue }

    /// From now on everything goes through TLS.
    mutating func begin(_ tls: TLSLayer) { self.tls = tls }

    /// The first byte that waits; it stays there.
    func peek(_ byte: inout UInt8) -> Socket.Outcome { Socket.peek(socket.rawValue, &byte) }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Input {
        if let tls { return unsafe tls.receive(from: socket.rawValue, into: buffer) }
        let outcome = unsafe Socket.receive(socket.rawValue, into: buffer)
        // A short read has emptied the socket.
        if case .bytes(let count) = outcome {
            return Input(outcome: outcome, isDrained: count < buffer.count)
        }
        return Input(outcome: outcome, isDrained: true)
    }

    /// - Parameter isFollowed: more is sent at once.
    func send(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool) -> Socket.Outcome {
        if let tls { return unsafe tls.send(bytes, to: socket.rawValue, isFollowed: isFollowed) }
        return unsafe Socket.send(socket.rawValue, bytes, isFollowed: isFollowed)
    }

    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Socket.Outcome {
        if let tls { return unsafe tls.send(first, second, to: socket.rawValue) }
        return unsafe Socket.send(socket.rawValue, first, second)
    }

    /// Without TLS only.
    func sendFile(_ file: Int32, offset: Int64, count: Int) -> Socket.Outcome {
        Socket.sendFile(socket.rawValue, from: file, offset: offset, count: count)
    }

    /// Bytes of ciphertext that wait for room in the socket.
    var outputCount: Int { tls?.outputCount ?? 0 }

    /// True if ciphertext waits for room in the socket.
    var hasOutput: Bool { tls?.hasOutput ?? false }

    /// True if so much ciphertext waits that nothing more is taken.
    var isFull: Bool { tls?.isFull ?? false }

    /// Sends the ciphertext that waits.
    /// - Returns: how many bytes went; `wouldBlock` if some are left.
    func flush() -> Socket.Outcome { tls?.flush(to: socket.rawValue) ?? .bytes(0) }

    /// True if input that was not taken, because answers waited, can be taken now.
    func endHold() -> Bool { tls?.endHold() ?? false }

    /// Gives up the memory that an idle connection does not need.
    func releaseMemory() { tls?.releaseMemory() }

    /// Bytes the peer has not acknowledged.
    var outstandingBytes: Int { Socket.outstandingBytes(socket.rawValue) }

    /// Says that nothing more comes, where the protocol has words for it; it is sent as far as there is room.
    func sayEnd() {
        guard let tls else { return }
        tls.sayEnd()
        _ = tls.flush(to: socket.rawValue)
    }

    func shutDownWriting() { Socket.shutDownWriting(socket.rawValue) }

    func shutDown() { Socket.shutDown(socket.rawValue) }
}
