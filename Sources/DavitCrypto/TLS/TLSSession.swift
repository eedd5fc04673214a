#if TLS
internal import COpenSSL
package import DavitHTTP

/// The server side of a TLS connection: ciphertext on one side, plaintext on the other.
///
/// It does not use a socket and never waits. After each call that produces output, send the bytes of
/// ``withOutput(_:)``, even after a failure. While ``outputIsFull`` is true, do not feed input or write.
///
/// May move between threads, but only one thread may use it at a time, as OpenSSL requires; because the type
/// is noncopyable, this is guaranteed.
@safe package struct TLSSession: ~Copyable, @unchecked Sendable {
    package enum Handshake: Equatable, Sendable {
        /// Send the output, feed received bytes, and call again.
        case needsInput
        /// Complete; in TLS 1.3, the output contains session tickets.
        case done
        case failed(TLSFailure)
    }

    package enum Reading: Equatable, Sendable {
        /// The number of bytes read, at least one.
        case bytes(Int)
        case needsInput
        /// The peer has closed its side with close_notify.
        case ended
        case failed(TLSFailure)
    }

    /// The number of bytes of output from which ``outputIsFull`` is true: four full records of plaintext.
    package static let outputLimitBytes = 65_536

    let handle: OpaquePointer
    let pipe: CiphertextBIO
    /// Keeps the context used by the callbacks alive.
    private let context: TLSContext
    var expectsChallenges: Bool { context.challenges != nil }
    private var failure: TLSFailure?
    private var inputHasEnded = false

    /// - Parameter now: determines whether to create a new ticket key.
    package init(_ context: TLSContext, now: Timestamp) throws(CryptoError) {
        context.tickets.rotate(now: now)
        let pipe = CiphertextBIO()
        guard let session = unsafe SSL_new(context.contexts[0].handle) else { throw CryptoError("SSL_new") }
        do throws(CryptoError) {
            let bio = try unsafe pipe.makeBIO()
            // The same BIO serves both directions; the session takes ownership of one reference.
            unsafe SSL_set_bio(session, bio, bio)
        } catch {
            unsafe SSL_free(session)
            throw error
        }
        unsafe SSL_set_accept_state(session)
        unsafe handle = session
        self.pipe = pipe
        self.context = context
    }

    deinit { unsafe SSL_free(handle) }

    // MARK: Ciphertext

    /// Queues ciphertext from the peer, in pieces of any size, until it is needed.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) { unsafe pipe.input.append(bytes) }

    /// Like ``receive(_:)``, without a copy: `body` reads from the socket into at least `least` bytes of
    /// space, and returns the number of bytes received, which is also the result.
    package mutating func receive<E: Error>(
        atLeast least: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) -> Int {
        try unsafe pipe.input.fill(atLeast: least, body)
    }

    /// Reports the end of the connection: no more ciphertext will arrive.
    package mutating func inputEnded() { inputHasEnded = true }

    /// The number of bytes of ciphertext waiting to be sent.
    package var outputCount: Int { pipe.output.count }
    package var outputIsFull: Bool { outputCount >= Self.outputLimitBytes }

    /// Passes all waiting ciphertext to `body`, several records in one call; `body` returns the number of
    /// bytes sent, which are removed.
    package mutating func withOutput<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Int) throws(E) {
        let sent = try unsafe pipe.output.withBytes(body)
        pipe.output.removeFirst(sent)
    }

    /// Releases the memory of empty queues, for a connection that becomes idle.
    package mutating func releaseMemory() {
        pipe.input.releaseMemory()
        pipe.output.releaseMemory()
    }

    /// Whether there is received data that has not been read. It may be less than a record.
    package var hasInput: Bool { unsafe !pipe.input.isEmpty || SSL_pending(handle) > 0 }

    // MARK: Plaintext

    /// Continues the handshake as far as the input allows. Can take 250 µs with an RSA key.
    package mutating func handshake() -> Handshake {
        if let failure { return .failed(failure) }
        ErrorQueue.clear()
        let code = unsafe SSL_do_handshake(handle)
        if code == 1 { return .done }
        switch unsafe SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ: return inputHasEnded ? .failed(fail(.truncated)) : .needsInput
        // The peer has closed its side before the handshake was complete.
        case SSL_ERROR_ZERO_RETURN: return .failed(fail(.truncated))
        default: return .failed(fail(unsafe TLSFailure(session: handle)))
        }
    }

    /// Decrypts as many received records as fit into `destination`. Must not be called before the end of the
    /// handshake. A failure adds an alert to the output.
    package mutating func read(into destination: UnsafeMutableRawBufferPointer) -> Reading {
        var total = 0
        while total < destination.count {
            if total > 0, pipe.input.isEmpty, unsafe SSL_pending(handle) == 0 { break }
            if let failure { return total > 0 ? .bytes(total) : .failed(failure) }
            ErrorQueue.clear()
            var count = 0
            let room = destination.count - total
            let code = unsafe SSL_read_ex(
                handle, destination.baseAddress.map { unsafe $0 + total }, room, &count)
            if code == 1 {
                total += count
                continue
            }
            switch unsafe SSL_get_error(handle, code) {
            case SSL_ERROR_WANT_READ:
                if total > 0 { return .bytes(total) }
                return inputHasEnded ? .failed(fail(.truncated)) : .needsInput
            // OpenSSL repeats this result in each later call.
            case SSL_ERROR_ZERO_RETURN: return total > 0 ? .bytes(total) : .ended
            default: fail(unsafe TLSFailure(session: handle))
            }
        }
        return total > 0 ? .bytes(total) : .needsInput
    }

    /// Encrypts `bytes` until the output is full, and returns the number of bytes consumed. Nothing is
    /// buffered: the caller must offer the remaining bytes again.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
        var total = 0
        while total < bytes.count, !outputIsFull {
            if let failure { throw failure }
            ErrorQueue.clear()
            var count = 0
            let rest = bytes.count - total
            let code = unsafe SSL_write_ex(handle, bytes.baseAddress.map { unsafe $0 + total }, rest, &count)
            guard code == 1 else {
                // Only an incomplete handshake requires input here.
                if unsafe SSL_get_error(handle, code) == SSL_ERROR_WANT_READ { break }
                throw fail(unsafe TLSFailure(session: handle))
            }
            total += count
        }
        return total
    }

    /// Adds close_notify to the output (RFC 8446 §6.1). The peer may still send. Does nothing before the end
    /// of the handshake and after a failure.
    package mutating func closeNotify() {
        guard failure == nil, unsafe SSL_is_init_finished(handle) == 1 else { return }
        ErrorQueue.clear()
        // A result of 0 means that close_notify was written but none has been received. Failures are ignored,
        // because the connection is then unusable anyway.
        _ = unsafe SSL_shutdown(handle)
        ErrorQueue.clear()
    }

    @discardableResult
    private mutating func fail(_ reason: TLSFailure) -> TLSFailure {
        failure = reason
        return reason
    }
}
#endif
