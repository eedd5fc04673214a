#if TLS
internal import COpenSSL

/// A failed operation, usually an OpenSSL call, without a more specific error case.
package struct CryptoError: Error, Equatable, Sendable {
    /// The name of the function that failed, usually one of OpenSSL.
    package let call: String
    /// The reason as constant text, usually OpenSSL's text without additional data; never contains secrets.
    /// Empty if there is none.
    package let reason: String

    package init(call: String, reason: String) {
        self.call = call
        self.reason = reason
    }

    /// Takes the reason from the error queue of this thread, and clears the queue.
    init(_ call: StaticString) {
        self.init(call: "\(call)", reason: ErrorQueue.take().text)
    }
}

/// The per-thread error queue of OpenSSL. There must be no `await` between a call and reading the queue.
enum ErrorQueue {
    struct Entry: Equatable {
        var library: Int32
        var reason: Int32
        var text: String
    }

    /// Returns the oldest error, which caused the others, and clears the queue.
    static func take() -> Entry {
        let code = ERR_get_error()
        defer { ERR_clear_error() }
        guard code != 0 else { return Entry(library: 0, reason: 0, text: "") }
        let text = unsafe ERR_reason_error_string(code)
        return Entry(
            library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code),
            text: unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")
    }

    /// Clears the queue. Required before each call whose result is passed to SSL_get_error, which would
    /// attribute errors of earlier calls to that call.
    static func clear() { ERR_clear_error() }
}
#endif
