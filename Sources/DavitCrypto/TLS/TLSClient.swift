#if TLS
internal import COpenSSL

/// A TLS 1.2 or 1.3 client connection over a blocking socket, for replaying recordings.
///
/// SIGPIPE must be ignored, because OpenSSL writes to the socket itself. Used by one thread at a time.
@safe package final class TLSClient {
    package enum Failure: Error, Equatable, Sendable {
        /// The peer has closed the connection, or the connection has failed.
        case closed
        /// The timeout of the socket has expired.
        case silent
        /// The handshake failed, or the peer is not trusted; contains the reason as text.
        case refused(String)
    }

    private let context: OpaquePointer
    private let handle: OpaquePointer

    /// Performs the handshake.
    /// - Parameters:
    ///   - socket: a connected socket, which must stay open during the lifetime of this object.
    ///   - host: the name or numeric address for which the certificate must be valid.
    ///   - authorities: a PEM file with trusted certificates; nil for the system's trusted certificates.
    package init(socket: Int32, host: String, authorities: String?) throws(Failure) {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw .refused(Self.reason()) }
        guard let handle = unsafe SSL_new(Self.prepared(context, authorities)) else {
            let failure = Failure.refused(Self.reason())
            unsafe SSL_CTX_free(context)
            throw failure
        }
        unsafe self.context = context
        unsafe self.handle = handle
        guard unsafe SSL_set_fd(handle, socket) == 1, setName(host) else { throw .refused(Self.reason()) }
        ErrorQueue.clear()
        let code = unsafe SSL_connect(handle)
        guard code == 1 else {
            if unsafe SSL_get_error(handle, code) == SSL_ERROR_WANT_READ { throw .silent }
            throw .refused(unsafe TLSFailure(session: handle).text)
        }
    }

    deinit {
        unsafe SSL_free(handle)
        unsafe SSL_CTX_free(context)
    }

    /// Sends all of `bytes`.
    package func send(_ bytes: [UInt8]) throws(Failure) {
        var start = 0
        while start < bytes.count {
            ErrorQueue.clear()
            let count = unsafe bytes[start...].withUnsafeBytes {
                unsafe SSL_write(handle, $0.baseAddress, Int32(clamping: $0.count))
            }
            guard count > 0 else { throw failure(of: count) }
            start += Int(count)
        }
    }

    /// Waits for bytes; returns an empty array if the connection has ended or failed.
    package func receive() throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        ErrorQueue.clear()
        let count = unsafe SSL_read(handle, &bytes, Int32(bytes.count))
        if count > 0 { return Array(bytes[..<Int(count)]) }
        let failure = failure(of: count)
        if failure == .closed { return [] }
        throw failure
    }

    private func failure(of code: Int32) -> Failure {
        switch unsafe SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .silent
        default: .closed
        }
    }

    /// - Returns: nil if the authorities cannot be read.
    private static func prepared(_ context: OpaquePointer, _ authorities: String?) -> OpaquePointer? {
        unsafe davit_ctx_set_versions(context, TLS1_2_VERSION, TLS1_3_VERSION)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        let code =
            if let authorities {
                unsafe SSL_CTX_load_verify_locations(context, authorities, nil)
            } else {
                unsafe SSL_CTX_set_default_verify_paths(context)
            }
        return unsafe code == 1 ? context : nil
    }

    /// Sets the host for which the certificate must be valid. A name is also sent to the server (RFC 6066
    /// §3).
    private func setName(_ host: String) -> Bool {
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host) == 1 { return true }
        var text = Array(host.utf8CString)
        let code = unsafe SSL_ctrl(
            handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &text)
        return unsafe code == 1 && SSL_set1_host(handle, host) == 1
    }

    private static func reason() -> String { ErrorQueue.take().text }
}
#endif
