#if TLS
internal import COpenSSL

/// An `SSL_CTX`: the settings of connections with one identity.
@safe final class TLSServerContext: Sendable {
    /// Not modified after the first connection; OpenSSL protects its reference counts with locks.
    nonisolated(unsafe) let handle: OpaquePointer
    let certificate: Certificate

    init(
        _ identity: TLSIdentity, clients: ClientCertificates, sessionContext: [UInt8]
    ) throws(CryptoError) {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw CryptoError("SSL_CTX_new") }
        unsafe handle = made
        certificate = identity.certificate
        try setProtocol()
        try setIdentity(identity)
        try setClients(clients)
        try setSessions(sessionContext)
    }

    /// Creates the context for a challenge: only for the protocol `acme-tls/1`, without client certificates and sessions.
    init(challenge identity: TLSIdentity) throws(CryptoError) {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw CryptoError("SSL_CTX_new") }
        unsafe handle = made
        certificate = identity.certificate
        try setProtocol()
        unsafe SSL_CTX_set_alpn_select_cb(handle, TLSChallenges.chooseProtocol, nil)
        // Replaces the callback that would choose another identity.
        unsafe davit_ctx_set_server_name_callback(handle) { _, _, _ in SSL_TLSEXT_ERR_OK }
        try setIdentity(identity)
        unsafe davit_ctx_set_session_cache_off(handle)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    private func setProtocol() throws(CryptoError) {
        // Security level 2: at least 112 bits. Set explicitly, like the settings below, so that openssl.cnf
        // does not affect it.
        unsafe SSL_CTX_set_security_level(handle, 2)
        unsafe davit_ctx_set_server_options(handle)
        unsafe davit_ctx_set_modes(handle)
        guard unsafe davit_ctx_set_versions(handle, TLS1_2_VERSION, TLS1_3_VERSION) == 1 else {
            throw CryptoError("SSL_CTX_set_min_proto_version")
        }
        guard unsafe SSL_CTX_set_cipher_list(handle, CipherNames.tls12) == 1 else {
            throw CryptoError("SSL_CTX_set_cipher_list")
        }
        guard unsafe SSL_CTX_set_ciphersuites(handle, CipherNames.tls13) == 1 else {
            throw CryptoError("SSL_CTX_set_ciphersuites")
        }
        guard unsafe davit_ctx_set_groups(handle, CipherNames.groups) == 1 else {
            throw CryptoError("SSL_CTX_set1_groups_list")
        }
        unsafe SSL_CTX_set_alpn_select_cb(handle, HandshakeCallbacks.chooseProtocol, nil)
        unsafe davit_ctx_set_server_name_callback(handle, HandshakeCallbacks.chooseIdentity)
    }

    private func setIdentity(_ identity: TLSIdentity) throws(CryptoError) {
        guard unsafe SSL_CTX_use_certificate(handle, certificate.handle) == 1 else {
            throw CryptoError("SSL_CTX_use_certificate")
        }
        for next in identity.chain.dropFirst() {
            guard unsafe davit_ctx_add_chain_certificate(handle, next.handle) == 1 else {
                throw CryptoError("SSL_CTX_add1_chain_cert")
            }
        }
        guard unsafe SSL_CTX_use_PrivateKey(handle, identity.key.handle) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else { throw CryptoError("SSL_CTX_use_PrivateKey") }
    }

    private func setClients(_ clients: ClientCertificates) throws(CryptoError) {
        switch clients {
        case .off: unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nil)
        case .asked: unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        case .demanded:
            let mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            unsafe SSL_CTX_set_verify(handle, mode, nil)
        }
        for authority in clients.authorities {
            guard unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(handle), authority.handle) == 1 else {
                throw CryptoError("X509_STORE_add_cert")
            }
            guard unsafe SSL_CTX_add_client_CA(handle, authority.handle) == 1 else {
                throw CryptoError("SSL_CTX_add_client_CA")
            }
        }
    }

    private func setSessions(_ sessionContext: [UInt8]) throws(CryptoError) {
        unsafe davit_ctx_set_session_cache_off(handle)
        unsafe SSL_CTX_set_timeout(handle, Int(TicketKeys.lifetimeSeconds))
        let count = UInt32(clamping: sessionContext.count)
        guard unsafe SSL_CTX_set_session_id_context(handle, sessionContext, count) == 1 else {
            throw CryptoError("SSL_CTX_set_session_id_context")
        }
        guard unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(handle, HandshakeCallbacks.useTicketKey) == 1 else {
            throw CryptoError("SSL_CTX_set_tlsext_ticket_key_evp_cb")
        }
    }

    /// Answers the challenges of ACME servers. They are not retained, so the owner of this object must retain them.
    func setChallenges(_ challenges: TLSChallenges) {
        let pointer = unsafe Unmanaged.passUnretained(challenges).toOpaque()
        unsafe SSL_CTX_set_client_hello_cb(handle, TLSChallenges.answer, pointer)
    }

    /// Sets the context that the callbacks use. It is not retained, because it owns this object.
    func setOwner(_ owner: TLSContext) throws(CryptoError) {
        let pointer = unsafe Unmanaged.passUnretained(owner).toOpaque()
        guard unsafe SSL_CTX_set_ex_data(handle, 0, pointer) == 1 else {
            throw CryptoError("SSL_CTX_set_ex_data")
        }
    }
}

/// Ciphers with forward secrecy and authenticated encryption (RFC 9325 §4.2). AES-128 is preferred because it
/// is strong enough and, on processors with AES instructions, the fastest.
private enum CipherNames {
    static let tls12 = """
        ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
        ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:\
        ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
        """
    static let tls13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    static let groups = "X25519:P-256:P-384"
}
#endif
