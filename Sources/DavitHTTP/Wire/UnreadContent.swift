/// What to do with request content that the handler did not read (RFC 9112 §9.3, §9.6).
///
/// Decided before the head of the response is sent, because ``close`` adds a field to the head. Unread
/// content must never be parsed as the next request.
package enum UnreadContent: Hashable, Sendable {
    /// There is no unread content; the next request can follow.
    case none
    /// Discard the content after the response, up to ``discardLimitBytes``, then continue with the next
    /// request. If it is longer, perform a lingering close.
    case discard
    /// Send the response with `Connection: close`, shut down writing, discard input until the peer closes or a
    /// deadline passes, and close.
    case close

    /// Maximum number of bytes discarded to keep a connection open.
    package static let discardLimitBytes: Int64 = 256 * 1024

    /// Decides what to do with the unread content.
    /// - Parameters:
    ///   - remaining: the unread content in bytes, without chunk framing; nil for chunked content before its
    ///     end.
    ///   - awaitsContinue: whether the client is still waiting for a 100 response and no content has arrived.
    ///     It may then send the content or omit it (RFC 9110 §10.1.1), so the start of the next request is
    ///     unknown.
    ///   - keepsAlive: whether the connection would otherwise stay open.
    package static func plan(remaining: Int64?, awaitsContinue: Bool, keepsAlive: Bool) -> UnreadContent {
        if remaining == 0 { return .none }
        if !keepsAlive || awaitsContinue { return .close }
        if let remaining, remaining > discardLimitBytes { return .close }
        return .discard
    }
}
