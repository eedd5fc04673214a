package import DavitHTTP
internal import DavitZlib

#if TLS
internal import DavitCrypto
#endif

/// An incremental digest of content. Used by one task at a time.
@safe package final class RunningDigest {
    package let algorithm: DigestAlgorithm
    private var adler = Adler32()
    #if TLS
    private var hash: Digest?
    #endif

    /// Returns nil if this build or its OpenSSL does not support the algorithm; without the trait TLS only
    /// `adler32` is available.
    package init?(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        if algorithm == .adler32 { return }
        #if TLS
        guard let method = algorithm.method, let hash = try? Digest(method) else { return nil }
        self.hash = consume hash
        #else
        return nil
        #endif
    }

    /// Returns an independent copy with the same state; nil if OpenSSL has failed.
    package func copy() -> RunningDigest? {
        guard let copy = RunningDigest(algorithm) else { return nil }
        copy.adler = adler
        #if TLS
        if algorithm == .adler32 { return copy }
        guard let running = hash.take() else { return nil }
        let copied = try? running.copy()
        hash = consume running
        guard let copied else { return nil }
        copy.hash = consume copied
        #endif
        return copy
    }

    /// Whether this build supports the algorithm.
    package static func isAvailable(_ algorithm: DigestAlgorithm) -> Bool {
        availableAlgorithms.contains(algorithm)
    }

    private static let availableAlgorithms = DigestAlgorithm.allCases.filter { RunningDigest($0) != nil }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        if algorithm == .adler32 { return unsafe adler.update(bytes) }
        #if TLS
        // After a failure there is no digest, so a wrong one is never returned.
        guard var running = hash.take() else { return }
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        if (try? running.update(span)) != nil { hash = consume running }
        #endif
    }

    /// Returns the digest of all content; nil if OpenSSL has failed. Call once.
    package func finish() -> ContentDigest? {
        if algorithm == .adler32 { return ContentDigest(algorithm, adler.bytes) }
        #if TLS
        guard let bytes = try? hash.take()?.finish() else { return nil }
        return ContentDigest(algorithm, bytes)
        #else
        return nil
        #endif
    }
}

#if TLS
extension DigestAlgorithm {
    fileprivate var method: Digest.Algorithm? {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        case .sha1: .sha1
        case .md5: .md5
        case .adler32: nil
        }
    }
}
#endif
