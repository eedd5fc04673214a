internal import DavitCrypto
internal import DavitHTTP
internal import DavitSystem

#if TLS
/// TLS between a socket and the connection that it belongs to.
///
/// Belongs to the thread of the loop, but for a step of the handshake that runs on the pool: the connection touches
/// nothing here until that has ended. That makes the unchecked conformance true. What each request touches is not
/// checked for overlapping access at run time: no access lasts longer than a call of the session.
@safe final class TLSLayer: @unchecked Sendable {
    /// Room for a full record with its framing, so that one call can bring it.
    private static let usualInputBytes = 16 * 1024 + 512
    /// For content on its way into a large buffer: fewer calls.
    private static let largeInputBytes = 64 * 1024 + usualInputBytes
    private static let largeRoomBytes = 64 * 1024

    @safe @exclusivity(unchecked) private var session: TLSSession
    /// What the client has shown in the handshake.
    private(set) var clientCertificate: ClientCertificate?
    /// Input was not taken because output waits: nothing will report it again.
    @safe @exclusivity(unchecked) private(set) var isHeld = false

    init(_ context: TLSContext, now: Timestamp) throws(CryptoError) {
        session = try TLSSession(context, now: now)
    }

    // MARK: Handshake

    /// Takes what has arrived for the handshake.
    func receiveHandshake(from socket: Int32) -> Channel.Input {
        fill(from: socket, atLeast: Self.usualInputBytes)
    }

    /// Goes on with the handshake; what is to be sent waits in the output.
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
            // A name that cannot be written is the name of nobody.
        }
    }

    /// True if something has arrived behind what was read.
    var hasInput: Bool { session.hasInput }

    // MARK: Input

    func receive(from socket: Int32, into room: UnsafeMutableRawBufferPointer) -> Channel.Input {
        var isDrained = false
        if !session.hasInput, let end = fill(from: socket, for: room.count, &isDrained) { return end }
        while true {
            let reading = unsafe session.read(into: room)
            // Alerts, and answers to new keys.
            if session.outputCount > 0 { _ = flush(to: socket) }
            switch reading {
            case .bytes(let count):
                return Channel.Input(outcome: .bytes(count), isDrained: isDrained && count < room.count)
            case .needsInput:
                // Also after a short read: the end may stand behind it, and is announced only once.
                if let end = fill(from: socket, for: room.count, &isDrained) { return end }
            case .ended, .failed:
                return Channel.Input(outcome: .ended, isDrained: true)
            }
        }
    }

    /// Receives ciphertext, once.
    /// - Returns: what to tell the caller where none came and none will come by itself.
    private func fill(from socket: Int32, for room: Int, _ isDrained: inout Bool) -> Channel.Input? {
        // A peer that sends and does not read would have us collect answers without end.
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

    /// True once after input was not taken, if it can be taken now.
    func endHold() -> Bool {
        guard isHeld, !session.outputIsFull else { return false }
        isHeld = false
        return true
    }

    // MARK: Output

    var outputCount: Int { session.outputCount }
    var hasOutput: Bool { session.outputCount > 0 }
    var isFull: Bool { session.outputIsFull }

    /// Encrypts as much as there is room for, and sends it.
    /// - Parameter isFollowed: more is sent at once, so that the last records can wait for it.
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

    /// Sends the ciphertext that waits, all that the socket takes.
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

    /// Says that nothing more comes from here.
    func sayEnd() { session.closeNotify() }

    func releaseMemory() { session.releaseMemory() }
}
#else
/// There is none in this build: nothing makes one, and nothing that is said here is ever asked.
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
    func sayEnd() {}
    func releaseMemory() {}
}
#endif
