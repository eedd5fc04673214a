internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The computation of a digest for one or more requests. Only the request that holds the gate advances it; if that
/// request ends early, the next one resumes the computation.
final class DigestComputation: Sendable {
    /// The number of bytes hashed in one step, which should take less than 20 milliseconds with each algorithm.
    private static let stepBytes: Int64 = 4 << 20

    enum Result: Sendable {
        case digest(ContentDigest)
        /// The content has changed since it was opened, or the cryptographic library has failed.
        case unavailable
    }

    /// Serializes the requests. Waiting is unlimited here, because the number of requests is limited elsewhere.
    let gate = AsyncSemaphore(limit: 1, waitingLimit: .max)
    private let state: Exclusive<State>

    private struct State {
        /// Nil until the computation ends.
        var result: Result?
        let running: RunningDigest
        var offset: Int64 = 0
    }

    init(_ running: sending RunningDigest) { state = Exclusive(State(running: running)) }

    /// The result; nil until the computation ends.
    var result: Result? { state.withValue { $0.result } }

    /// Reads and hashes the next step. May block.
    /// - Parameter isChanged: returns whether the content has changed. Called after all content has been read.
    func advance(
        _ file: any FileContent, in resources: any ResourceStore, isChanged: () -> Bool
    ) throws(StoreError) {
        let buffer = IOBuffer(capacity: Int(min(max(file.length, 1), 1 << 18)))
        try state.withValue { state throws(StoreError) in
            let running = state.running
            let end = min(file.length, state.offset + Self.stepBytes)
            while state.offset < end {
                buffer.removeAll()
                let count = Int64(try resources.read(file, at: state.offset, into: buffer))
                if count == 0 {
                    state.result = .unavailable
                    return
                }
                // Ignore bytes appended since the file was opened; they are not sent either.
                buffer.truncate(to: buffer.count - Int(max(0, state.offset + count - file.length)))
                unsafe buffer.withBytes { unsafe running.update($0) }
                state.offset += count
            }
            guard state.offset >= file.length else { return }
            if !isChanged(), let digest = running.finish() {
                state.result = .digest(digest)
            } else {
                state.result = .unavailable
            }
        }
    }
}
