internal import DavitHTTP
internal import DavitSystem

/// Sends stored content.
extension Connection {
    /// Content up to this size is read into the output buffer and sent together with the head; for larger
    /// content, sendfile is cheaper.
    static let inlineLimit: Int64 = 32 * 1024
    /// Large files are sent in windows of this size; each is loaded into memory before it is sent.
    private static let windowBytes: Int64 = 1024 * 1024

    /// Sends a part of a file after the buffered output.
    /// - Parameters:
    ///   - pacer: limits the rate.
    ///   - didSend: called with the number of bytes sent or buffered since the last call.
    /// - Throws: ``HTTPError/disconnected``, including when the file has become shorter: the response cannot
    ///   be completed, and closing the connection is the only way to signal that to the peer.
    nonisolated(nonsending) func send(
        _ content: any FileContent, offset: Int64, length: Int64, _ pacer: TransferPacer?,
        didSend: (Int64) -> Void
    ) async throws(HTTPError) {
        if length <= Self.inlineLimit {
            if let pacer { try await pause(until: pacer.sendingTime) }
            try await compose(content, offset: offset, length: Int(length))
            didSend(length)
        } else {
            try await sendWindows(content, offset: offset, end: offset + length, pacer, didSend)
        }
    }

    /// Returns true if the connection has not used up its turn, and the first window of the file can probably
    /// be sent without waiting for a disk.
    func canSendNow(_ content: any FileContent, offset: Int64, length: Int64) -> Bool {
        guard !isTurnOver else { return false }
        if loop.memory.isDiskless(content) { return true }
        return CachedFile.isCached(
            content.descriptor, offset: offset + min(length, Self.windowBytes) - 1)
    }

    /// Sends the buffered output and then the first window of a file, as far as the socket accepts it.
    /// - Returns: the number of bytes of the file that were sent.
    func sendNow(_ content: any FileContent, offset: Int64, length: Int64) -> Int64 {
        loop.output.flush(isFollowed: true)
        let window = min(Self.windowBytes, length)
        var sent: Int64 = 0
        while sent < window, !hasUntaken, !isBroken {
            let outcome = sendFile(content.descriptor, offset: offset + sent, count: Int(window - sent))
            switch outcome {
            case .bytes(let count):
                sent += Int64(count)
                sending.didMove(count)
            case .wouldBlock:
                didSendInTurn(Int(sent))
                return sent
            case .ended, .failed: _ = broken()
            }
        }
        didSendInTurn(Int(sent))
        return sent
    }

    /// Appends a small part of a file to the output buffer if the part fits, and if it is in memory or the
    /// volume cannot report whether it is in memory.
    /// - Returns: false if nothing was appended.
    func composeNow(_ content: any FileContent, offset: Int64, length: Int) -> Bool {
        loop.output.claim(for: self)
        let buffer = loop.output.buffer
        guard buffer.freeCount >= length else { return false }
        let (start, descriptor, volume) = (buffer.count, content.descriptor, content.volume)
        var done = 0
        while done < length {
            let outcome = read(
                descriptor, of: volume, at: offset + Int64(done), count: length - done, into: buffer)
            guard case .bytes(let count) = outcome, count > 0 else {
                buffer.truncate(to: start)
                return false
            }
            done += count
        }
        return true
    }

    /// Reads into the loop's output buffer; uses the pool only for content that is not in memory.
    private nonisolated(nonsending) func compose(
        _ content: any FileContent, offset: Int64, length: Int
    ) async throws(HTTPError) {
        if loop.output.isOwned(by: self) && loop.output.buffer.freeCount < length { try await sendComposed() }
        if composeNow(content, offset: offset, length: length) { return }
        try await composeFromPool(content, offset: offset, length: length)
    }

    /// Appends content of a file to `buffer`: only what is in memory, or everything if the volume cannot
    /// report what is in memory.
    private func read(
        _ descriptor: Int32, of volume: UInt64, at position: Int64, count: Int, into buffer: IOBuffer
    ) -> CachedFile.Outcome {
        let isProbed = loop.memory.canProbe(volume)
        var outcome = CachedFile.Outcome.unknown
        _ = unsafe buffer.fill { room in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<min(count, room.count)])
            if isProbed {
                outcome = unsafe CachedFile.readCached(descriptor, into: target, offset: position)
                if outcome == .unknown { loop.memory.recordUnprobed(volume) }
            }
            if outcome == .unknown {
                outcome = unsafe CachedFile.read(descriptor, into: target, offset: position)
            }
            if case .bytes(let read) = outcome { return read }
            return 0
        }
        return outcome
    }

    private nonisolated(nonsending) func composeFromPool(
        _ content: any FileContent, offset: Int64, length: Int
    ) async throws(HTTPError) {
        let bytes = await server.pool.run { () -> [UInt8] in
            unsafe [UInt8](unsafeUninitializedCapacity: length) { room, count in
                while count < length {
                    let target = unsafe UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: room[count..<length]))
                    let position = offset + Int64(count)
                    let outcome = unsafe CachedFile.read(content.descriptor, into: target, offset: position)
                    guard case .bytes(let read) = outcome, read > 0 else { return }
                    count += read
                }
            }
        }
        guard let bytes, bytes.count == length else { throw broken() }
        try await compose(bytes)
    }

    private nonisolated(nonsending) func sendWindows(
        _ content: any FileContent, offset: Int64, end: Int64, _ pacer: TransferPacer?,
        _ didSend: (Int64) -> Void
    ) async throws(HTTPError) {
        if loop.output.isOwned(by: self) { loop.output.flush(isFollowed: true) }
        try await sendComposed()
        var position = offset
        let most = min(Self.windowBytes, Int64(pacer?.pieceBytes ?? .max))
        while position < end {
            if let pacer { try await pause(until: pacer.sendingTime) }
            let window = min(most, end - position)
            try await fetch(content, offset: position, count: Int(window))
            let start = position
            try await send(Int(window)) { done in
                sendFile(content.descriptor, offset: start + Int64(done), count: Int(window) - done)
            }
            position += window
            didSend(window)
            await giveTurn(after: Int(window))
        }
    }

    /// Sends bytes of a file that are in memory, or that may be read from disk on this thread. Uses sendfile
    /// on a plain connection; with TLS, encrypts up to 64 KiB per call.
    private func sendFile(_ file: Int32, offset: Int64, count: Int) -> Socket.Outcome {
        guard channel.tls != nil else { return sendFileBytes(file, offset: offset, count: count) }
        if channel.isFull, case let outcome = channel.flush(), outcome == .wouldBlock { return outcome }
        let piece = loop.memory.takeOutput()
        defer { loop.memory.give(piece) }
        var outcome = CachedFile.Outcome.bytes(0)
        _ = unsafe piece.fill { room in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<min(count, room.count)])
            outcome = unsafe CachedFile.read(file, into: target, offset: offset)
            if case .bytes(let read) = outcome { return read }
            return 0
        }
        guard case .bytes = outcome, piece.count > 0 else { return .ended }
        return unsafe piece.withBytes { unsafe sendBytes($0, isFollowed: count > piece.count) }
    }

    /// If a window is not cached, loads it into memory on a thread of the pool, so that sendfile does not
    /// block the loop.
    private nonisolated(nonsending) func fetch(
        _ content: any FileContent, offset: Int64, count: Int
    ) async throws(HTTPError) {
        if loop.memory.isDiskless(content) { return }
        if CachedFile.isCached(content.descriptor, offset: offset + Int64(count) - 1) { return }
        // If the pool refuses the job, the read blocks the loop instead.
        _ = await server.pool.run { CachedFile.fetch(content.descriptor, offset: offset, count: count) }
        if isBroken { throw .disconnected }
    }
}
