internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Running digests of an upload, computed as its bytes arrive so that the bytes need not be read again.
///
/// Used only by the request that has the turn of the upload: under the mutex of the upload, or while the
/// upload is being completed.
final class UploadDigests: Sendable {
    private struct State {
        let running: [RunningDigest]
        var length: Int64 = 0
    }

    private let state: Exclusive<State>

    /// Returns nil if none of the algorithms is available in this build.
    convenience init?(_ algorithms: [DigestAlgorithm]) {
        let running = Set(algorithms).compactMap { RunningDigest($0) }
        if running.isEmpty { return nil }
        self.init(State(running: running))
    }

    private init(_ state: sending State) { self.state = Exclusive(state) }

    /// Number of bytes hashed so far, counted from the start of the upload.
    var length: Int64 { state.withValue { $0.length } }

    /// Returns an independent copy; nil if OpenSSL fails.
    func copy() -> UploadDigests? {
        state.withValue { state in
            let copies = state.running.compactMap { $0.copy() }
            guard copies.count == state.running.count else { return nil }
            // The copy shares no references with `state`.
            nonisolated(unsafe) let copy = State(running: copies, length: state.length)
            return unsafe UploadDigests(copy)
        }
    }

    func update(_ buffer: IOBuffer) {
        state.withValue { state in
            let running = state.running
            unsafe buffer.withBytes { bytes in
                for digest in running { unsafe digest.update(bytes) }
            }
            state.length += Int64(buffer.count)
        }
    }

    /// Returns the digest of the bytes hashed so far.
    func digest(_ algorithm: DigestAlgorithm) -> ContentDigest? {
        state.withValue { state in
            state.running.first { $0.algorithm == algorithm }?.copy()?.finish()
        }
    }

    /// Whether these digests are sufficient to verify all `expected`.
    func cover(_ expected: [ContentDigest]) -> Bool {
        let algorithms = state.withValue { $0.running.map(\.algorithm) }
        return expected.allSatisfy {
            algorithms.contains($0.algorithm) || !RunningDigest.isAvailable($0.algorithm)
        }
    }

    /// Whether the complete content matches the digests sent by the client. Unsupported algorithms are
    /// ignored (RFC 9530 §2). The digests cannot be updated afterwards.
    func match(_ expected: [ContentDigest]) -> Bool {
        let (algorithms, made) = state.withValue { state in
            (state.running.map(\.algorithm), state.running.compactMap { $0.finish() })
        }
        return expected.allSatisfy { made.contains($0) || !algorithms.contains($0.algorithm) }
    }
}
