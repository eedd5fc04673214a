#if TLS
internal import COpenSSL

/// Why a TLS connection cannot go on. What is in the session's output is still to be sent: it ends with the alert
/// that tells the peer, if there is one (RFC 8446 §6.2).
package enum TLSFailure: Error, Equatable, Sendable {
    /// The connection ended without close_notify: what was received may be incomplete (RFC 8446 §6.1).
    case truncated
    /// The peer has ended it, with the alert that OpenSSL names so.
    case refusedByPeer(String)
    /// What the peer sent is wrong, or it offers nothing that is allowed here; OpenSSL's constant text.
    case refused(String)

    /// For the log; never has bytes of the connection.
    package var text: String {
        switch self {
        case .truncated: "the connection ended in the middle"
        case .refusedByPeer(let reason): "the peer refused: \(reason)"
        case .refused(let reason): reason
        }
    }

    /// Takes the reason of the call that just failed from the queue of this thread.
    init(session: OpaquePointer) {
        let entry = ErrorQueue.take()
        // Reasons from here on are the numbers of alerts that were received.
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
