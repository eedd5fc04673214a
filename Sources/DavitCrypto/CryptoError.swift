#if TLS
internal import COpenSSL

/// A call of OpenSSL that failed for a reason that the caller has no case for.
package struct CryptoError: Error, Equatable, Sendable {
    /// The function of OpenSSL.
    package let call: String
    /// OpenSSL's own constant text, without the data it keeps beside it; never a secret. Empty if it gave none.
    package let reason: String

    package init(call: String, reason: String) {
        self.call = call
        self.reason = reason
    }

    /// Takes the reason from the error queue of this thread, and empties that.
    init(_ call: StaticString) {
        self.init(call: "\(call)", reason: ErrorQueue.take().text)
    }
}

/// The errors that OpenSSL collects for each thread. A call and the look into its queue must not have an `await`
/// between them.
enum ErrorQueue {
    struct Entry: Equatable {
        var library: Int32
        var reason: Int32
        var text: String
    }

    /// The oldest error, which is the cause of the others; drops them all.
    static func take() -> Entry {
        let code = ERR_get_error()
        defer { ERR_clear_error() }
        guard code != 0 else { return Entry(library: 0, reason: 0, text: "") }
        let text = unsafe ERR_reason_error_string(code)
        return Entry(
            library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code),
            text: unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")
    }

    /// SSL_get_error looks at the queue: what an earlier call left there would be taken for its result.
    static func clear() { ERR_clear_error() }
}
#endif
