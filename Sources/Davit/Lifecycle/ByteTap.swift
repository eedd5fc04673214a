internal import DavitTransport

/// Sees the bytes of one connection in both directions, as HTTP has them: below requests, above encryption.
///
/// Everything is called on the loop of the connection, one call after another, and must not block. Bytes are lent for the
/// call. What is sent from a file is read once more for the tap.
public struct ByteTap: Sendable {
    let received: @Sendable (borrowing Span<UInt8>) -> Void
    let sent: @Sendable (borrowing Span<UInt8>) -> Void
    let closed: @Sendable () -> Void

    /// - Parameters:
    ///   - received: gets what the peer has sent, in pieces of any size.
    ///   - sent: gets what the system has taken for the peer.
    ///   - closed: the last call.
    public init(
        received: @escaping @Sendable (borrowing Span<UInt8>) -> Void = { _ in },
        sent: @escaping @Sendable (borrowing Span<UInt8>) -> Void = { _ in },
        closed: @escaping @Sendable () -> Void = {}
    ) {
        self.received = received
        self.sent = sent
        self.closed = closed
    }
}

/// A tap of an application, for the transport.
final class ApplicationTap: ConnectionTap {
    private let tap: ByteTap

    init(_ tap: ByteTap) { self.tap = tap }

    func received(_ bytes: UnsafeRawBufferPointer) {
        unsafe tap.received(bytes.bindMemory(to: UInt8.self).span)
    }

    func sent(_ bytes: UnsafeRawBufferPointer) { unsafe tap.sent(bytes.bindMemory(to: UInt8.self).span) }

    func closed() { tap.closed() }
}

/// Two taps of one connection: a recording, and one of the application.
final class TapPair: ConnectionTap {
    private let first: any ConnectionTap
    private let second: any ConnectionTap

    private init(_ first: any ConnectionTap, _ second: any ConnectionTap) {
        self.first = first
        self.second = second
    }

    static func joining(
        _ first: (any ConnectionTap)?, _ second: (any ConnectionTap)?
    ) -> (any ConnectionTap)? {
        guard let first, let second else { return first ?? second }
        return TapPair(first, second)
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        unsafe first.received(bytes)
        unsafe second.received(bytes)
    }

    func sent(_ bytes: UnsafeRawBufferPointer) {
        unsafe first.sent(bytes)
        unsafe second.sent(bytes)
    }

    func closed() {
        first.closed()
        second.closed()
    }
}
