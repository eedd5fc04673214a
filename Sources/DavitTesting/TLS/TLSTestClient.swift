#if TLS
internal import COpenSSL
package import DavitCrypto

/// A TLS client that uses OpenSSL's memory BIOs, and whose options include some that the server must refuse.
@safe package final class TLSTestClient {
    package struct Options {
        package var least: Int32
        package var most: Int32
        package var protocols: [String]
        package var serverName: String?
        /// The certificate authority that must have signed the server's certificate, in PEM; nil skips the
        /// check.
        package var trusted: [UInt8]?
        package var identity: TestCertificate?
        /// The cipher lists for TLS 1.2 and for TLS 1.3.
        package var ciphers: (String, String)?
        package var session: Session?

        package init(
            least: Int32 = TLS1_2_VERSION, most: Int32 = TLS1_3_VERSION, protocols: [String] = [],
            serverName: String? = nil, trusted: [UInt8]? = nil, identity: TestCertificate? = nil,
            ciphers: (String, String)? = nil, session: Session? = nil
        ) {
            self.least = least
            self.most = most
            self.protocols = protocols
            self.serverName = serverName
            self.trusted = trusted
            self.identity = identity
            self.ciphers = ciphers
            self.session = session
        }
    }

    /// A session that a client can resume.
    @safe package final class Session {
        package let handle: OpaquePointer
        package init(_ handle: OpaquePointer) { unsafe self.handle = handle }
        deinit { unsafe SSL_SESSION_free(handle) }
    }

    package enum State: Equatable {
        case needsInput, done
        case failed(String)
    }

    private let context: OpaquePointer
    private let handle: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    package init(_ options: Options = Options()) throws {
        unsafe context = try made(SSL_CTX_new(TLS_client_method()))
        // Allow weak parameters, to test that the server refuses them.
        unsafe SSL_CTX_set_security_level(context, 0)
        unsafe davit_ctx_set_versions(context, options.least, options.most)
        if let (old, new) = options.ciphers {
            try require(unsafe SSL_CTX_set_cipher_list(context, old) == 1)
            try require(unsafe SSL_CTX_set_ciphersuites(context, new) == 1)
        }
        if let trusted = options.trusted {
            let authority = try unsafe TestCertificate.readCertificate(trusted)
            unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority)
            unsafe X509_free(authority)
            unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        }
        if let identity = options.identity {
            let certificate = try unsafe TestCertificate.readCertificate(identity.chain)
            let key = try unsafe TestCertificate.readKey(identity.key)
            unsafe SSL_CTX_use_certificate(context, certificate)
            unsafe SSL_CTX_use_PrivateKey(context, key)
            unsafe X509_free(certificate)
            unsafe EVP_PKEY_free(key)
        }
        unsafe handle = try made(SSL_new(context))
        unsafe input = try made(BIO_new(BIO_s_mem()))
        unsafe output = try made(BIO_new(BIO_s_mem()))
        // An empty BIO means that more input may arrive, not the end of the stream.
        unsafe BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        unsafe SSL_set_bio(handle, input, output)
        unsafe SSL_set_connect_state(handle)
        try setHello(options)
    }

    private func setHello(_ options: Options) throws {
        if !options.protocols.isEmpty {
            let list = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            try require(unsafe SSL_set_alpn_protos(handle, list, UInt32(list.count)) == 0)
        }
        if let name = options.serverName {
            var text = Array(name.utf8CString)
            unsafe SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &text)
            if options.trusted != nil { unsafe SSL_set1_host(handle, name) }
        }
        if let session = options.session { unsafe SSL_set_session(handle, session.handle) }
    }

    deinit {
        unsafe SSL_free(handle)
        unsafe SSL_CTX_free(context)
    }

    package func handshake() -> State {
        ERR_clear_error()
        let code = unsafe SSL_do_handshake(handle)
        return code == 1 ? .done : state(code)
    }

    package func receive(_ bytes: [UInt8]) { unsafe BIO_write(input, bytes, Int32(bytes.count)) }

    package func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(output))
        if !bytes.isEmpty { unsafe BIO_read(output, &bytes, Int32(bytes.count)) }
        return bytes
    }

    package func write(_ bytes: [UInt8]) {
        ERR_clear_error()
        if !bytes.isEmpty { unsafe SSL_write(handle, bytes, Int32(bytes.count)) }
    }

    /// Reads all available input.
    package func read() -> (bytes: [UInt8], state: State) {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            ERR_clear_error()
            let count = unsafe SSL_read(handle, &part, Int32(part.count))
            guard count > 0 else { return (all, state(count)) }
            all += part[..<Int(count)]
        }
    }

    package func closeNotify() { unsafe SSL_shutdown(handle) }
    package func renegotiate() -> State {
        unsafe SSL_renegotiate(handle)
        return handshake()
    }
    package func updateKeys() { unsafe SSL_key_update(handle, SSL_KEY_UPDATE_REQUESTED) }

    /// Returns the session. Call it after reading, because TLS 1.3 tickets follow the handshake.
    package func session() throws -> Session {
        let session = try unsafe made(SSL_get1_session(handle))
        // OpenSSL invalidates the session of a connection that is closed without a shutdown.
        unsafe SSL_set_shutdown(handle, SSL_SENT_SHUTDOWN)
        return unsafe Session(session)
    }

    package var wasResumed: Bool { unsafe SSL_session_reused(handle) == 1 }

    /// The number of certificates that the server has sent.
    package var chainCount: Int { unsafe Int(OPENSSL_sk_num(SSL_get_peer_cert_chain(handle))) }

    package func serverCertificate() throws -> Certificate {
        let bio = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(bio) }
        let certificate = unsafe SSL_get1_peer_certificate(handle)
        defer { unsafe X509_free(certificate) }
        unsafe PEM_write_bio_X509(bio, certificate)
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(bio))
        unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        return try Certificate.read(pem: bytes)[0]
    }

    private func state(_ code: Int32) -> State {
        switch unsafe SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .done
        default:
            let reason = unsafe ERR_reason_error_string(ERR_get_error())
            return .failed(unsafe reason.map { unsafe String(cString: $0) } ?? "?")
        }
    }
}
#endif
