#if TLS
internal import COpenSSL

/// The reason why a TLS connection has failed. The session's output must still be sent; it may end with an
/// alert for the peer (RFC 8446 §6.2).
package enum TLSFailure: Error, Equatable, Sendable {
    /// The connection ended without close_notify, so the received data may be incomplete (RFC 8446 §6.1).
    case truncated
    /// The peer has closed the connection with an alert; contains OpenSSL's name of the alert.
    case refusedByPeer(String)
    /// The peer sent invalid data or offers nothing that is allowed; contains OpenSSL's constant text.
    case refused(String)

    /// A description for the log; never contains bytes of the connection.
    package var text: String {
        switch self {
        case .truncated: "the connection was closed prematurely"
        case .refusedByPeer(let reason): "rejected by peer: \(reason)"
        case .refused(let reason): reason
        }
    }

    /// Takes the reason of the failed call from the error queue of this thread.
    init(session: OpaquePointer) {
        let entry = ErrorQueue.take()
        // Reasons from this number on are received alerts.
        if entry.library == ERR_LIB_SSL, entry.reason >= SSL_AD_REASON_OFFSET {
            self = .refusedByPeer(entry.text)
            return
        }
        let verification = unsafe SSL_get_verify_result(session)
        if entry.reason == SSL_R_CERTIFICATE_VERIFY_FAILED, verification != Int(X509_V_OK),
            let text = unsafe X509_verify_cert_error_string(verification)
        {
            self = .refused("\(entry.text): \(unsafe String(cString: text))")
        } else {
            self = .refused(entry.text)
        }
    }
}
#endif
