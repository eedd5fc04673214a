#if TLS
internal import COpenSSL

/// The negotiated parameters, available after the handshake.
extension TLSSession {
    package enum Version: Sendable { case tls12, tls13 }

    /// The negotiated protocol version; nil before the end of the handshake.
    package var version: Version? {
        switch unsafe SSL_version(handle) {
        case TLS1_2_VERSION where isEstablished: .tls12
        case TLS1_3_VERSION where isEstablished: .tls13
        default: nil
        }
    }

    package var isEstablished: Bool { unsafe SSL_is_init_finished(handle) == 1 }

    /// OpenSSL's name of the cipher, such as `TLS_AES_128_GCM_SHA256`.
    package var cipher: String? {
        unsafe SSL_CIPHER_get_name(SSL_get_current_cipher(handle)).map { unsafe String(cString: $0) }
    }

    /// The protocol selected by ALPN, `http/1.1` or `http/1.0`; nil if the client did not use ALPN.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &count)
        guard let name = unsafe name else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The host name sent by the client (RFC 6066 §3); nil if there was none. It is unvalidated and must be
    /// escaped in logs.
    package var serverName: String? {
        guard let name = unsafe SSL_get_servername(handle, TLSEXT_NAMETYPE_host_name) else { return nil }
        return unsafe String(cString: name)
    }

    /// Whether an earlier session was resumed, without signatures and certificates.
    package var wasResumed: Bool { unsafe SSL_session_reused(handle) == 1 }

    /// The certificate that the client has presented and proved to own; it is valid and signed by one of the
    /// authorities of ``ClientCertificates``. In a resumed session, the certificate of the original
    /// handshake.
    package var clientCertificate: Certificate? {
        guard let shown = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        return unsafe Certificate(owning: shown)
    }
}
#endif
