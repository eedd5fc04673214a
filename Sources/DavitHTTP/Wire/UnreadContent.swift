/// What to do with content of a request that the handler did not read (RFC 9112 §9.3, §9.6).
///
/// Decided before the head of the response goes out, because ``close`` has to stand in it. Bytes of unread
/// content must never be parsed as the next request.
package enum UnreadContent: Hashable, Sendable {
    /// There is none: the next request can follow.
    case none
    /// Read and drop it after the response, at most ``discardLimitBytes``; then go on. If it is longer, close
    /// lingering.
    case discard
    /// Say `Connection: close`, send the response, shut down writing, read and drop for a while, close.
    case close

    /// More than this is not read just to keep a connection.
    package static let discardLimitBytes: Int64 = 256 * 1024

    /// - Parameters:
    ///   - remaining: content not yet read, chunk framing not counted; nil for chunked content before its end.
    ///   - awaitsContinue: the client waits for a 100 that was not sent, and nothing of the content arrived.
    ///     It may then leave the content out or send it all the same (RFC 9110 §10.1.1): where the
    ///     next request begins cannot be known.
    ///   - keepsAlive: the connection would live otherwise.
    package static func plan(remaining: Int64?, awaitsContinue: Bool, keepsAlive: Bool) -> UnreadContent {
        if remaining == 0 { return .none }
        if !keepsAlive || awaitsContinue { return .close }
        if let remaining, remaining > discardLimitBytes { return .close }
        return .discard
    }
}
