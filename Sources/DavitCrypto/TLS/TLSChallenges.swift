#if TLS
internal import COpenSSL
internal import Synchronization

/// The answers of a server to the challenges `tls-alpn-01` of an ACME server (RFC 8737): certificates that are only used for
/// handshakes with the protocol `acme-tls/1`.
@safe package final class TLSChallenges: Sendable {
    /// By name, in lower case.
    private let contexts = Mutex<[String: TLSServerContext]>([:])

    package init() {}

    /// Replaces all answers.
    /// - Parameter identities: self-signed certificates by DNS name.
    package func set(_ identities: [String: CertificateGenerator.Pair]) throws(CryptoError) {
        var made: [String: TLSServerContext] = [:]
        for (name, pair) in identities {
            made[name.lowercased()] = try TLSServerContext(challenge: TLSIdentity(pair))
        }
        contexts.withLock { $0 = made }
    }

    /// The protocol (RFC 8737 §6.2) as the only one in the list of a ClientHello (RFC 7301 §3.1).
    private static let offer = [0, 11, 10] + Array("acme-tls/1".utf8)

    /// Chooses the certificate for a challenge, before anything else about the handshake is decided. Other handshakes continue
    /// unchanged.
    static let answer: SSL_client_hello_cb_fn = { session, alert, argument in
        guard let session = unsafe session, let argument = unsafe argument else { return 1 }
        let challenges = unsafe Unmanaged<TLSChallenges>.fromOpaque(argument).takeUnretainedValue()
        // Other servers must not see these handshakes, so an unknown name is refused later, with the protocol.
        guard unsafe isOffered(by: session), let name = unsafe serverName(of: session),
            let context = challenges.contexts.withLock({ $0[name] })
        else { return 1 }
        // The session takes a reference to the context.
        if unsafe davit_use_challenge(session, context.handle) == 1 { return 1 }
        unsafe alert?.pointee = SSL_AD_INTERNAL_ERROR
        return 0
    }

    /// Selects `acme-tls/1`, which is the only protocol that the client has offered.
    static let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenCount, offers, count, _ in
        let bytes = unsafe UnsafeBufferPointer(start: offers, count: Int(count))
        guard unsafe bytes.elementsEqual(offer[2...]), let start = bytes.baseAddress else {
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        unsafe chosen?.pointee = start + 1
        unsafe chosenCount?.pointee = UInt8(bytes.count - 1)
        return SSL_TLSEXT_ERR_OK
    }

    private static func isOffered(by session: OpaquePointer) -> Bool {
        unsafe content(of: UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation), in: session) == offer
    }

    /// Returns the host name of a ClientHello (RFC 6066 §3), in lower case; nil unless it contains exactly one name.
    private static func serverName(of session: OpaquePointer) -> String? {
        guard let bytes = unsafe content(of: UInt32(TLSEXT_TYPE_server_name), in: session), bytes.count > 5,
            Int(bytes[0]) << 8 | Int(bytes[1]) == bytes.count - 2, bytes[2] == 0,
            Int(bytes[3]) << 8 | Int(bytes[4]) == bytes.count - 5
        else { return nil }
        return String(decoding: bytes[5...], as: UTF8.self).lowercased()
    }

    /// Returns the content of an extension; nil if the ClientHello does not contain it, or if it is longer than a name and a
    /// protocol.
    private static func content(of kind: UInt32, in session: OpaquePointer) -> [UInt8]? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard unsafe SSL_client_hello_get0_ext(session, kind, &bytes, &count) == 1, count <= 512 else {
            return nil
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

extension TLSSession {
    /// Whether the handshake was the answer to a challenge of an ACME server. The connection must then be closed (RFC 8737 §3).
    package var hasAnsweredChallenge: Bool {
        // Only contexts for challenges have no owner.
        unsafe expectsChallenges && SSL_CTX_get_ex_data(SSL_get_SSL_CTX(handle), 0) == nil
    }
}
#endif
