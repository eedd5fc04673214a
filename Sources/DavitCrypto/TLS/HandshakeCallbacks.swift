#if TLS
internal import COpenSSL

/// The callbacks for the handshake. OpenSSL calls them on the thread that drives the session,
/// within the session's calls; the ``TLSContext`` is alive because the session holds it.
enum HandshakeCallbacks {
    private static func owner(of session: OpaquePointer?) -> TLSContext? {
        guard let pointer = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), 0) else { return nil }
        return unsafe Unmanaged<TLSContext>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Chooses the protocol by ALPN (RFC 7301 §3.2): HTTP/1.1, otherwise HTTP/1.0. Fails the handshake for
    /// clients that only offer other protocols. Not called for clients without ALPN.
    static let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenCount, offers, count, _ in
        let bytes = unsafe UnsafeBufferPointer(start: offers, count: Int(count))
        guard let range = unsafe ProtocolOffers.best(in: bytes), let chosen = unsafe chosen,
            let chosenCount = unsafe chosenCount
        else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        // OpenSSL copies the result before the offers are released.
        unsafe chosen.pointee = bytes.baseAddress.map { unsafe $0 + range.lowerBound }
        unsafe chosenCount.pointee = UInt8(range.count)
        return SSL_TLSEXT_ERR_OK
    }

    /// Chooses the identity by server name indication (RFC 6066 §3); the first identity if no certificate
    /// covers the name.
    static let chooseIdentity:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?
        ) -> Int32 = { session, _, _ in
            guard let text = unsafe SSL_get_servername(session, TLSEXT_NAMETYPE_host_name),
                let owner = unsafe owner(of: session),
                let context = unsafe owner.context(for: String(cString: text))
            else { return SSL_TLSEXT_ERR_NOACK }
            guard unsafe SSL_set_SSL_CTX(session, context.handle) != nil else {
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }
            return SSL_TLSEXT_ERR_OK
        }

    /// Encrypts or decrypts a session ticket (RFC 5077 §4): AES-256-CBC, then HMAC with SHA-256.
    ///
    /// Returns -1 for an error, 0 to perform a full handshake, 1 for success, 2 for success with a new
    /// ticket.
    static let useTicketKey:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?,
            OpaquePointer?, Int32
        ) -> Int32 = { session, name, vector, cipher, code, isSealing in
            guard let owner = unsafe owner(of: session), let name = unsafe name, let vector = unsafe vector
            else {
                return -1
            }
            if isSealing != 0 {
                let key = owner.tickets.current
                unsafe copy(key.name, to: name)
                unsafe copy(RandomBytes.make(count: 16), to: vector)
                guard unsafe davit_set_ticket_key(code, key.codeKey, key.codeKey.count) == 1 else {
                    return -1
                }
                return unsafe EVP_EncryptInit_ex2(cipher, ticketCipher, key.cipherKey, vector, nil) == 1
                    ? 1 : -1
            }
            let nameBytes = unsafe Array(UnsafeBufferPointer(start: name, count: 16))
            guard let (key, isCurrent) = owner.tickets.key(named: nameBytes.span) else { return 0 }
            guard unsafe davit_set_ticket_key(code, key.codeKey, key.codeKey.count) == 1,
                unsafe EVP_DecryptInit_ex2(cipher, ticketCipher, key.cipherKey, vector, nil) == 1
            else { return -1 }
            // A TLS 1.3 ticket should be used once only (RFC 8446 appendix C.4), so the client gets a new one
            // each time.
            return unsafe isCurrent && SSL_version(session) < TLS1_3_VERSION ? 1 : 2
        }

    /// Constant after initialization, and never freed; a lookup for each ticket would take longer than using
    /// the cipher.
    nonisolated(unsafe) private static let ticketCipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)

    private static func copy(_ bytes: [UInt8], to destination: UnsafeMutablePointer<UInt8>) {
        for index in bytes.indices { unsafe destination[index] = bytes[index] }
    }
}

/// The list of protocols in a ClientHello (RFC 7301 §3.1), each preceded by a length byte.
enum ProtocolOffers {
    /// Returns the range of `http/1.1` or, if it is not offered, `http/1.0`; nil if neither is.
    static func best(in offers: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        var old: Range<Int>?
        var index = 0
        while index < offers.count {
            let start = index + 1
            let end = unsafe start + Int(offers[index])
            guard end <= offers.count else { return nil }
            let name = unsafe offers[start..<end]
            if unsafe name.elementsEqual("http/1.1".utf8) { return start..<end }
            if unsafe name.elementsEqual("http/1.0".utf8) { old = start..<end }
            index = end
        }
        return old
    }
}
#endif
