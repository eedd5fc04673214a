/// The content of a response that is sent more slowly or less completely than possible, to test clients.
public final class ShapedBody {
    /// The content; must not be shaped itself.
    public let content: HTTPBody
    public let shape: DeliveryShape

    public init(_ content: HTTPBody, _ shape: DeliveryShape) {
        self.content = content
        self.shape = shape
    }
}

/// How a response differs from one that is sent completely and as fast as possible.
public struct DeliveryShape: Hashable, Sendable {
    /// A premature end of a response.
    public struct End: Hashable, Sendable {
        public enum Manner: Hashable, Sendable {
            /// Closes the connection; a client sees that the content is incomplete.
            case close
            /// Resets the connection (RST).
            case reset
            /// Keeps the connection open and sends nothing more until the client disconnects.
            case stall
        }

        /// The number of content bytes before the end; the head precedes them. If the content is shorter, the
        /// response is complete.
        public var afterBytes: Int64
        public var manner: Manner

        public init(afterBytes: Int64, _ manner: Manner) {
            self.afterBytes = afterBytes
            self.manner = manner
        }
    }

    /// The rate at which content is sent, in bytes per second from 1 on; nil without limit.
    public var bytesPerSecond: Int?
    /// Where sending ends prematurely; nil to send everything.
    public var end: End?
    /// Whether the status line is malformed; the connection is closed after the response.
    public var hasMalformedHead = false
    /// A number that is added to the value of `Content-Length`, if the response has one; unless it is 0, the
    /// connection is closed after the response.
    public var lengthError: Int64 = 0

    public init() {}
}
