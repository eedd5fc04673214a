#if TLS
internal import COpenSSL
package import DavitHTTP

/// The server's side of one TLS connection: ciphertext in and out on one side, plain bytes on the other.
///
/// It knows no socket and never waits. After each call that says so, take what is in ``withOutput(_:)`` and send
/// it, also after a failure. While ``outputIsFull``, feed nothing and write nothing.
///
/// Moves between threads, and is used by one at a time: that, which a type without copies ensures by itself, is
/// all that OpenSSL asks for.
@safe package struct TLSSession: ~Copyable, @unchecked Sendable {
    package enum Handshake: Equatable, Sendable {
        /// Send the output, feed what comes, call again.
        case needsInput
        /// Done, with tickets in the output in TLS 1.3.
        case done
        case failed(TLSFailure)
    }

    package enum Reading: Equatable, Sendable {
        /// So many bytes are there, at least one.
        case bytes(Int)
        case needsInput
        /// The peer has said that nothing more comes (close_notify).
        case ended
        case failed(TLSFailure)
    }

    /// Output of this many bytes is enough to send it before more is written: four full records.
    package static let outputLimitBytes = 65_536

    let handle: OpaquePointer
    let pipe: CipherPipe
    /// Holds what the callbacks of the handshake look at.
    private let context: TLSContext
    private var failure: TLSFailure?
    private var inputHasEnded = false

    /// - Parameter now: decides about a new ticket key.
    package init(_ context: TLSContext, now: Timestamp) throws(CryptoError) {
        context.tickets.rotate(now: now)
        let pipe = CipherPipe()
        guard let session = unsafe SSL_new(context.contexts[0].handle) else { throw CryptoError("SSL_new") }
        do throws(CryptoError) {
            let bio = try unsafe pipe.makeBIO()
            // Both directions are the same BIO, of which the session takes one reference.
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

    /// Takes ciphertext that came from the peer, in any pieces. It is kept until a call needs it.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) { unsafe pipe.input.append(bytes) }

    /// The same without a copy: `body` reads from the socket into room for at least `least` bytes, and returns
    /// how many came. Returns that.
    package mutating func receive<E: Error>(
        atLeast least: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) -> Int {
        try unsafe pipe.input.fill(atLeast: least, body)
    }

    /// The connection has ended: no more ciphertext comes.
    package mutating func inputEnded() { inputHasEnded = true }

    /// How much ciphertext waits to be sent.
    package var outputCount: Int { pipe.output.count }
    package var outputIsFull: Bool { outputCount >= Self.outputLimitBytes }

    /// Lends all ciphertext that waits, several records in one piece; `body` returns how many bytes were sent,
    /// and those are dropped.
    package mutating func withOutput<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Int) throws(E) {
        let sent = try unsafe pipe.output.withBytes(body)
        pipe.output.removeFirst(sent)
    }

    /// Gives the memory of both queues back, where they are empty: for a connection that becomes idle.
    package mutating func releaseMemory() {
        pipe.input.releaseMemory()
        pipe.output.releaseMemory()
    }

    /// Whether something of what came has not been read. It may be less than a record.
    package var hasInput: Bool { unsafe !pipe.input.isEmpty || SSL_pending(handle) > 0 }

    // MARK: Plain bytes

    /// Goes on with the handshake as far as the input allows. May take 250 µs with an RSA key.
    package mutating func handshake() -> Handshake {
        if let failure { return .failed(failure) }
        ErrorQueue.clear()
        let code = unsafe SSL_do_handshake(handle)
        if code == 1 { return .done }
        switch unsafe SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ: return inputHasEnded ? .failed(fail(.truncated)) : .needsInput
        // A peer that leaves while it still should speak.
        case SSL_ERROR_ZERO_RETURN: return .failed(fail(.truncated))
        default: return .failed(fail(unsafe TLSFailure(session: handle)))
        }
    }

    /// Decrypts into `destination` as much as there is and fits: several records, if they have come. After the
    /// handshake only. A failure leaves an alert in the output.
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
            // Comes again with each call.
            case SSL_ERROR_ZERO_RETURN: return total > 0 ? .bytes(total) : .ended
            default: fail(unsafe TLSFailure(session: handle))
            }
        }
        return total > 0 ? .bytes(total) : .needsInput
    }

    /// Encrypts `bytes` until the output is full, and returns how many it took. Copies nothing for later: what
    /// was not taken is to be offered again.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
        var total = 0
        while total < bytes.count, !outputIsFull {
            if let failure { throw failure }
            ErrorQueue.clear()
            var count = 0
            let rest = bytes.count - total
            let code = unsafe SSL_write_ex(handle, bytes.baseAddress.map { unsafe $0 + total }, rest, &count)
            guard code == 1 else {
                // Only a handshake that is not done wants input here.
                if unsafe SSL_get_error(handle, code) == SSL_ERROR_WANT_READ { break }
                throw fail(unsafe TLSFailure(session: handle))
            }
            total += count
        }
        return total
    }

    /// Says that nothing more comes from here (RFC 8446 §6.1). The peer may still send. Does nothing where that
    /// cannot be said: before the end of the handshake, and after a failure.
    package mutating func closeNotify() {
        guard failure == nil, unsafe SSL_is_init_finished(handle) == 1 else { return }
        ErrorQueue.clear()
        // 0: sent, and the peer has not said it yet. A failure means that the connection is of no use anyway.
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
