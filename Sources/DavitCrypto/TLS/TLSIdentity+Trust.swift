#if TLS
internal import COpenSSL

extension TLSIdentity {
    /// Returns why programs on this machine that trust the authorities of the system would reject the certificate; nil if they
    /// accept it. Does not compare names. Reads files of the system, and blocks.
    package func trustProblem() -> String? {
        defer { ErrorQueue.clear() }
        guard let store = unsafe X509_STORE_new() else { return "out of memory" }
        defer { unsafe X509_STORE_free(store) }
        guard unsafe X509_STORE_set_default_paths(store) == 1, let context = unsafe X509_STORE_CTX_new()
        else {
            return "cannot read the certificate authorities of the system"
        }
        defer { unsafe X509_STORE_CTX_free(context) }
        let others = unsafe OPENSSL_sk_new_null()
        // The certificates remain owned by the chain.
        defer { unsafe OPENSSL_sk_free(others) }
        for intermediate in chain.dropFirst() {
            _ = unsafe OPENSSL_sk_push(others, UnsafeRawPointer(intermediate.handle))
        }
        guard unsafe X509_STORE_CTX_init(context, store, certificate.handle, others) == 1,
            unsafe X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return "out of memory" }
        return withExtendedLifetime(chain) {
            if unsafe X509_verify_cert(context) == 1 { return nil }
            let code = unsafe X509_STORE_CTX_get_error(context)
            return unsafe String(cString: X509_verify_cert_error_string(Int(code)))
        }
    }
}
#endif
