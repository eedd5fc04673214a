#if TLS
internal import COpenSSL

/// What was agreed on; known after the handshake.
extension TLSSession {
    package enum Version: Sendable { case tls12, tls13 }

    /// Nil before the handshake.
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

    /// What ALPN chose, `http/1.1`; nil if the client offered nothing.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &count)
        guard let name = unsafe name else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The host that the client asked for (RFC 6066 §3); nil if it named none. As the client wrote it: to be escaped
    /// in a log.
    package var serverName: String? {
        guard let name = unsafe SSL_get_servername(handle, TLSEXT_NAMETYPE_host_name) else { return nil }
        return unsafe String(cString: name)
    }

    /// Whether an earlier session goes on, without a signature and without certificates.
    package var wasResumed: Bool { unsafe SSL_session_reused(handle) == 1 }

    /// The certificate that the client has shown, and proved to be its own; valid, and signed by one of the
    /// authorities of ``ClientCertificates``. In a resumed session, the one of the first handshake.
    package var clientCertificate: Certificate? {
        guard let shown = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        return unsafe Certificate(owning: shown)
    }
}
#endif
