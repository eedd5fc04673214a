#if TLS
internal import COpenSSL

/// An incremental message digest.
@safe package struct Digest: ~Copyable {
    package enum Algorithm: Sendable, CaseIterable {
        /// Only for protocols that require it, such as RFC 7616, because collisions are easy to find.
        case md5
        /// Only for protocols that require it, because collisions can be found.
        case sha1
        case sha256, sha512

        package var byteCount: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        /// OpenSSL's implementation. Fetched once, because each lookup takes longer than hashing a short
        /// text. Nil if it is disabled by configuration, such as MD5 in FIPS mode.
        var method: OpaquePointer? {
            switch self {
            case .md5: unsafe Methods.md5
            case .sha1: unsafe Methods.sha1
            case .sha256: unsafe Methods.sha256
            case .sha512: unsafe Methods.sha512
            }
        }
    }

    private let context: OpaquePointer
    private let algorithm: Algorithm

    package init(_ algorithm: Algorithm) throws(CryptoError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError("EVP_MD_CTX_new") }
        guard let method = unsafe algorithm.method, unsafe EVP_DigestInit_ex2(context, method, nil) == 1
        else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoError("EVP_DigestInit_ex2")
        }
        unsafe self.context = context
        self.algorithm = algorithm
    }

    private init(copying other: borrowing Digest) throws(CryptoError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError("EVP_MD_CTX_new") }
        guard unsafe EVP_MD_CTX_copy_ex(context, other.context) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoError("EVP_MD_CTX_copy_ex")
        }
        unsafe self.context = context
        algorithm = other.algorithm
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Returns an independent digest in the same state.
    package borrowing func copy() throws(CryptoError) -> Digest { try Digest(copying: self) }

    package mutating func update(_ bytes: borrowing Span<UInt8>) throws(CryptoError) {
        let code = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard code == 1 else { throw CryptoError("EVP_DigestUpdate") }
    }

    /// Returns the digest of all bytes so far.
    package consuming func finish() throws(CryptoError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: algorithm.byteCount)
        guard unsafe EVP_DigestFinal_ex(context, &result, nil) == 1 else {
            throw CryptoError("EVP_DigestFinal_ex")
        }
        return result
    }

    /// Returns the digest of `bytes`.
    package static func of(
        _ bytes: borrowing Span<UInt8>, _ algorithm: Algorithm
    ) throws(CryptoError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: algorithm.byteCount)
        let code = unsafe bytes.withUnsafeBytes {
            unsafe EVP_Digest($0.baseAddress, $0.count, &result, nil, algorithm.method, nil)
        }
        guard code == 1 else { throw CryptoError("EVP_Digest") }
        return result
    }

    package static func of(_ bytes: [UInt8], _ algorithm: Algorithm) throws(CryptoError) -> [UInt8] {
        try of(bytes.span, algorithm)
    }
}

/// OpenSSL's implementations of the algorithms; constant after initialization and never freed.
private enum Methods {
    nonisolated(unsafe) static let md5 = unsafe EVP_MD_fetch(nil, "MD5", nil)
    nonisolated(unsafe) static let sha1 = unsafe EVP_MD_fetch(nil, "SHA1", nil)
    nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)
}
#endif
