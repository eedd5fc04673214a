internal import DavitCrypto
internal import DavitHTTP
internal import DavitSystem

#if TLS
/// The TLS layer between a socket and its connection.
///
/// Belongs to the loop's thread, except during a step of the handshake that runs on the pool; the connection
/// does not use the layer until that step has ended. This justifies the unchecked conformance. Exclusivity
/// checks are disabled for the state that each request uses: no access lasts longer than a call of the
/// session.
@safe final class TLSLayer: @unchecked Sendable {
    /// The size of a full record with its framing, so that one call can receive a record.
    private static let usualInputBytes = 16 * 1024 + 512
    /// The size of the input buffer when receiving into a large buffer, to save system calls.
    private static let largeInputBytes = 64 * 1024 + usualInputBytes
    private static let largeRoomBytes = 64 * 1024

    @safe @exclusivity(unchecked) private var session: TLSSession
    /// The certificate that the client presented in the handshake, if any.
    private(set) var clientCertificate: ClientCertificate?
    /// Whether input was held back because output is pending. No event will report that input again.
    @safe @exclusivity(unchecked) private(set) var isHeld = false

    init(_ context: TLSContext, now: Timestamp) throws(CryptoError) {
        session = try TLSSession(context, now: now)
    }

    // MARK: Handshake

    /// Receives handshake input from the socket.
    func receiveHandshake(from socket: Int32) -> Channel.Input {
        fill(from: socket, atLeast: Self.usualInputBytes)
    }

    /// Advances the handshake; the output must be flushed by the caller.
    func handshake() -> TLSSession.Handshake {
        let state = session.handshake()
        if state == .done { keepClientCertificate() }
        return state
    }

    private func keepClientCertificate() {
        guard let shown = session.clientCertificate else { return }
        do throws(CryptoError) {
            clientCertificate = ClientCertificate(
                subject: try shown.subject(), fingerprint: try shown.fingerprint())
        } catch {
            // Ignore a certificate whose subject or fingerprint cannot be determined.
        }
    }

    /// Whether the handshake was the answer to a challenge of an ACME server.
    var hasAnsweredChallenge: Bool { session.hasAnsweredChallenge }

    /// Whether buffered input is left.
    var hasInput: Bool { session.hasInput }

    // MARK: Input

    func receive(from socket: Int32, into room: UnsafeMutableRawBufferPointer) -> Channel.Input {
        var isDrained = false
        if !session.hasInput, let end = fill(from: socket, for: room.count, &isDrained) { return end }
        while true {
            let reading = unsafe session.read(into: room)
            // Send alerts and replies to key updates.
            if session.outputCount > 0 { _ = flush(to: socket) }
            switch reading {
            case .bytes(let count):
                return Channel.Input(outcome: .bytes(count), isDrained: isDrained && count < room.count)
            case .needsInput:
                // Continue even after a short read: the end of the stream may follow, and is reported only
                // once.
                if let end = fill(from: socket, for: room.count, &isDrained) { return end }
            case .ended, .failed:
                return Channel.Input(outcome: .ended, isDrained: true)
            }
        }
    }

    /// Calls receive once for ciphertext.
    /// - Returns: the result for the caller if nothing was received and nothing more can be received now; nil
    ///   otherwise.
    private func fill(from socket: Int32, for room: Int, _ isDrained: inout Bool) -> Channel.Input? {
        // A peer that sends without reading must not make the output grow without limit.
        if session.outputIsFull, flush(to: socket) == .wouldBlock, session.outputIsFull {
            isHeld = true
            return Channel.Input(outcome: .wouldBlock, isDrained: true)
        }
        let least = room >= Self.largeRoomBytes ? Self.largeInputBytes : Self.usualInputBytes
        let input = fill(from: socket, atLeast: least)
        isDrained = input.isDrained
        switch input.outcome {
        case .bytes: return nil
        case .wouldBlock: return input
        case .ended, .failed:
            session.inputEnded()
            return nil
        }
    }

    private func fill(from socket: Int32, atLeast least: Int) -> Channel.Input {
        var input = Channel.Input(outcome: .wouldBlock, isDrained: true)
        _ = unsafe session.receive(atLeast: least) { room in
            let outcome = unsafe Socket.receive(socket, into: room)
            guard case .bytes(let count) = outcome else {
                input.outcome = outcome
                return 0
            }
            input = Channel.Input(outcome: outcome, isDrained: count < room.count)
            return count
        }
        return input
    }

    /// Returns true once if held-back input can be received now.
    func endHold() -> Bool {
        guard isHeld, !session.outputIsFull else { return false }
        isHeld = false
        return true
    }

    // MARK: Output

    var outputCount: Int { session.outputCount }
    var hasOutput: Bool { session.outputCount > 0 }
    var isFull: Bool { session.outputIsFull }

    /// Encrypts as many bytes as the output buffer accepts, and sends them.
    /// - Parameter isFollowed: whether the caller sends more bytes immediately afterwards, so that the last
    ///   records can be sent together with them.
    func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32, isFollowed: Bool) -> Socket.Outcome {
        var taken = 0
        while taken < bytes.count {
            if session.outputIsFull {
                switch flush(to: socket) {
                case .bytes: break
                case .wouldBlock where taken > 0: return .bytes(taken)
                case let outcome: return outcome
                }
            }
            do throws(TLSFailure) {
                let count = try unsafe session.write(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
                guard count > 0 else { return .ended }
                taken += count
            } catch {
                return .ended
            }
        }
        if isFollowed, !session.outputIsFull { return .bytes(taken) }
        switch flush(to: socket) {
        case .bytes, .wouldBlock: return .bytes(taken)
        case let outcome: return outcome
        }
    }

    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to socket: Int32
    ) -> Socket.Outcome {
        let outcome = unsafe send(first, to: socket, isFollowed: true)
        guard case .bytes(let count) = outcome, count == first.count else { return outcome }
        switch unsafe send(second, to: socket, isFollowed: false) {
        case .bytes(let more): return .bytes(count + more)
        case .wouldBlock: return outcome
        case let failure: return failure
        }
    }

    /// Sends pending ciphertext, as far as the socket accepts it.
    func flush(to socket: Int32) -> Socket.Outcome {
        var sent = 0
        while session.outputCount > 0 {
            var outcome = Socket.Outcome.wouldBlock
            unsafe session.withOutput { bytes in
                outcome = unsafe Socket.send(socket, bytes)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            guard case .bytes(let count) = outcome else { return outcome }
            sent += count
        }
        return .bytes(sent)
    }

    /// Appends close_notify to the output.
    func sendCloseNotify() { session.closeNotify() }

    func releaseMemory() { session.releaseMemory() }
}
#else
/// A placeholder for builds without TLS, which is never instantiated.
final class TLSLayer: Sendable {
    let clientCertificate: ClientCertificate? = nil
    let outputCount = 0
    let hasOutput = false
    let isFull = false

    private init() {}

    func endHold() -> Bool { false }
    func receive(from socket: Int32, into room: UnsafeMutableRawBufferPointer) -> Channel.Input {
        Channel.Input(outcome: .ended, isDrained: true)
    }
    func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32, isFollowed: Bool) -> Socket.Outcome {
        .ended
    }
    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to socket: Int32
    ) -> Socket.Outcome { .ended }
    func flush(to socket: Int32) -> Socket.Outcome { .ended }
    func sendCloseNotify() {}
    func releaseMemory() {}
}
#endif
