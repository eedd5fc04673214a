#if TLS
internal import COpenSSL
#endif

/// Whether this build has OpenSSL (package trait `TLS`).
///
/// Without it, this target is ``RandomBytes``, ``ConstantTime`` and ``TLSRecord``; digests, password hashes,
/// certificates and TLS do not exist, and code that names them stands inside `#if TLS`.
package enum CryptoLibrary {
    package static var isAvailable: Bool {
        #if TLS
        true
        #else
        false
        #endif
    }

    /// For `--version` and the log: the library that is running, not the one of the build.
    package static var summary: String {
        #if TLS
        unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
        #else
        "built without TLS: no HTTPS, Digest authentication or hashed passwords"
        #endif
    }
}
