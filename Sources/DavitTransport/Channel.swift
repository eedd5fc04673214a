internal import DavitHTTP
internal import DavitSystem

/// The bytes of a connection in both directions, and the one place that knows how they reach the socket.
/// Encryption belongs here: it has to offer the same calls.
struct Channel: ~Copyable {
    private let socket: FileDescriptor

    init(_ socket: consuming FileDescriptor) { self.socket = socket }

    /// A channel on which everything fails.
    static func closed() -> Channel { Channel(FileDescriptor(owning: -1)) }

    /// For the event queue.
    var descriptor: Int32 { socket.rawValue }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Outcome {
        unsafe Socket.receive(socket.rawValue, into: buffer)
    }

    /// - Parameter isFollowed: more is sent at once.
    func send(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool) -> Socket.Outcome {
        unsafe Socket.send(socket.rawValue, bytes, isFollowed: isFollowed)
    }

    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Socket.Outcome {
        unsafe Socket.send(socket.rawValue, first, second)
    }

    func sendFile(_ file: Int32, offset: Int64, count: Int) -> Socket.Outcome {
        Socket.sendFile(socket.rawValue, from: file, offset: offset, count: count)
    }

    /// Bytes the peer has not acknowledged.
    var outstandingBytes: Int { Socket.outstandingBytes(socket.rawValue) }

    func shutDownWriting() { Socket.shutDownWriting(socket.rawValue) }

    func shutDown() { Socket.shutDown(socket.rawValue) }
}
