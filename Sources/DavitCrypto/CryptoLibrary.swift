#if TLS
internal import COpenSSL
#endif

/// Whether this build includes OpenSSL (package trait `TLS`).
///
/// Without OpenSSL, this target contains only code that does not need it, such as ``RandomBytes``,
/// ``ConstantTime`` and ``TLSRecord``; there are no digests, password hashes, certificates or TLS, and code
/// that uses them must be inside `#if TLS`.
package enum CryptoLibrary {
    package static var isAvailable: Bool {
        #if TLS
        true
        #else
        false
        #endif
    }

    /// The version of the library at run time, which may differ from that at build time; for `--version` and
    /// the log.
    package static var summary: String {
        #if TLS
        unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
        #else
        "built without TLS: no HTTPS, Digest authentication or hashed passwords"
        #endif
    }
}
