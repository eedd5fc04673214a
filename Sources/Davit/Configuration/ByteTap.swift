internal import DavitTransport

/// Receives the bytes of one connection in both directions, above encryption and below HTTP.
///
/// All closures are called on the event loop of the connection, one at a time, and must not block. The bytes
/// are only valid during the call. Content that is sent from a file is read a second time for the tap.
public struct ByteTap: Sendable {
    let received: @Sendable (borrowing Span<UInt8>) -> Void
    let sent: @Sendable (borrowing Span<UInt8>) -> Void
    let closed: @Sendable () -> Void

    /// Creates a tap.
    ///
    /// - Parameters:
    ///   - received: called with bytes that the peer has sent, in pieces of any size.
    ///   - sent: called with bytes that the system has accepted for sending or, with TLS, that have been
    ///     encrypted for sending.
    ///   - closed: called last, when the connection has closed.
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

/// Adapts the tap of an application to the transport.
final class ApplicationTap: ConnectionTap {
    private let tap: ByteTap

    init(_ tap: ByteTap) { self.tap = tap }

    func received(_ bytes: UnsafeRawBufferPointer) {
        unsafe tap.received(bytes.bindMemory(to: UInt8.self).span)
    }

    func sent(_ bytes: UnsafeRawBufferPointer) { unsafe tap.sent(bytes.bindMemory(to: UInt8.self).span) }

    func closed() { tap.closed() }
}

/// Two taps of one connection: a recording and the application's.
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
