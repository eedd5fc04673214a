internal import DavitHTTP
internal import DavitSystem

/// Sends bytes. Output is collected in the loop's buffer; bytes are always sent in the order in which they
/// were appended.
extension Connection {
    /// Whether output, plain or encrypted, has not been sent yet.
    var hasUnsent: Bool { hasUntaken || channel.hasOutput }

    /// Whether the channel has not accepted all output yet. Later output must wait until it has.
    var hasUntaken: Bool { unsentStart < unsent.count }

    /// Appends to the output buffer if the bytes fit.
    /// - Returns: false if nothing was appended.
    func composeNow(_ bytes: [UInt8]) -> Bool {
        loop.output.claim(for: self)
        guard loop.output.buffer.freeCount >= bytes.count else { return false }
        _ = loop.output.buffer.append(bytes)
        return true
    }

    /// Appends to the output buffer, and sends the buffered output whenever the buffer is full.
    nonisolated(nonsending) func compose(_ bytes: [UInt8]) async throws(HTTPError) {
        var start = 0
        while start < bytes.count {
            loop.output.claim(for: self)
            start += unsafe bytes.withUnsafeBytes { all in
                unsafe loop.output.buffer.append(UnsafeRawBufferPointer(rebasing: all[start...]))
            }
            if loop.output.buffer.freeCount == 0 { try await sendComposed() }
        }
    }

    /// Appends the content of `buffer` to the output buffer, and first sends the buffered output if the
    /// content does not fit. The capacity of the output buffer must suffice for the content.
    nonisolated(nonsending) func compose(_ buffer: IOBuffer) async throws(HTTPError) {
        loop.output.claim(for: self)
        if loop.output.buffer.freeCount < buffer.count { try await sendComposed() }
        loop.output.claim(for: self)
        _ = unsafe buffer.withBytes { unsafe loop.output.buffer.append($0) }
    }

    /// Sends the buffered output and waits until the channel and the socket have accepted all of it.
    nonisolated(nonsending) func sendComposed() async throws(HTTPError) {
        if loop.output.isOwned(by: self) { loop.output.flush() }
        while hasUnsent {
            sendUnsent()
            if hasUnsent { try await waitForRoom() }
        }
        if isBroken { throw .disconnected }
    }

    /// Sends the buffered output followed by `buffer`, in as few system calls as possible.
    nonisolated(nonsending) func sendComposed(followedBy buffer: IOBuffer) async throws(HTTPError) {
        var sent = 0
        if loop.output.isOwned(by: self) && !hasUntaken {
            let composed = loop.output.buffer
            let outcome = unsafe composed.withBytes { first in
                unsafe buffer.withBytes { second in unsafe sendBytes(first, second) }
            }
            switch outcome {
            case .bytes(let count):
                sending.didMove(count)
                let taken = min(count, composed.count)
                keepUnsent(of: composed, from: taken)
                loop.output.discard(of: self)
                sent = count - taken
            case .wouldBlock: break
            case .ended, .failed: throw broken()
            }
        }
        try await sendComposed()
        try await send(buffer.count - sent) { offset in
            unsafe buffer.withBytes { bytes in
                unsafe sendBytes(
                    UnsafeRawBufferPointer(rebasing: bytes[(sent + offset)...]), isFollowed: false)
            }
        }
    }

    /// Sends a large array without copying it to the output buffer.
    nonisolated(nonsending) func send(_ bytes: [UInt8]) async throws(HTTPError) {
        if loop.output.isOwned(by: self) { loop.output.flush(isFollowed: true) }
        try await sendComposed()
        try await send(bytes.count) { offset in
            unsafe bytes.withUnsafeBytes { all in
                unsafe sendBytes(UnsafeRawBufferPointer(rebasing: all[offset...]), isFollowed: false)
            }
        }
    }

    /// Calls `attempt` with the number of bytes sent so far until all `count` bytes are sent; between
    /// attempts, waits for space in the socket's buffer.
    nonisolated(nonsending) func send(
        _ count: Int, _ attempt: (Int) -> Socket.Outcome
    ) async throws(HTTPError) {
        var sent = 0
        while sent < count {
            switch attempt(sent) {
            case .bytes(let moved):
                sent += moved
                sending.didMove(moved)
            case .wouldBlock: try await waitForRoom()
            case .ended, .failed: throw broken()
            }
        }
    }

    /// Sends pending output as far as the socket accepts it. Never waits.
    func sendUnsent() {
        while hasUntaken {
            let outcome = unsafe unsent.withUnsafeBytes { all in
                unsafe sendBytes(UnsafeRawBufferPointer(rebasing: all[unsentStart...]), isFollowed: false)
            }
            switch outcome {
            case .bytes(let count):
                unsentStart += count
                sending.didMove(count)
            case .wouldBlock: return
            case .ended, .failed:
                _ = broken()
                break
            }
        }
        unsent = []
        unsentStart = 0
        guard channel.hasOutput, !isBroken else { return }
        let before = channel.outputCount
        let outcome = channel.flush()
        // A partial flush also counts as progress.
        sending.didReachPeer(before - channel.outputCount)
        switch outcome {
        case .bytes, .wouldBlock: break
        case .ended, .failed: _ = broken()
        }
    }

    /// Sends the loop's output buffer, which belongs to this connection; keeps a copy of the bytes that the
    /// channel does not accept.
    /// - Parameter isFollowed: whether the caller sends more bytes immediately afterwards.
    func send(composed: IOBuffer, isFollowed: Bool = false) {
        var sent = 0
        if !hasUntaken {
            while sent < composed.count {
                let outcome = unsafe composed.withBytes { bytes in
                    unsafe sendBytes(
                        UnsafeRawBufferPointer(rebasing: bytes[sent...]), isFollowed: isFollowed)
                }
                guard case .bytes(let count) = outcome else {
                    if outcome != .wouldBlock {
                        _ = broken()
                        return
                    }
                    break
                }
                sent += count
                sending.didMove(count)
            }
        }
        keepUnsent(of: composed, from: sent)
    }

    private func keepUnsent(of composed: IOBuffer, from start: Int) {
        guard start < composed.count else { return }
        unsafe composed.withBytes { unsafe unsent.append(contentsOf: $0[start...]) }
    }

    /// Marks the connection as broken and drops pending output.
    func broken() -> HTTPError {
        markBroken()
        unsent = []
        unsentStart = 0
        return .disconnected
    }
}
