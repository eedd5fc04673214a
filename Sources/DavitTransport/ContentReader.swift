internal import DavitHTTP
internal import DavitSystem

/// The content of one request, read from its connection on demand.
final class ContentReader: RequestBody {
    private enum State {
        /// The number of bytes left, at least 1.
        case length(Int64)
        case chunked(ChunkedDecoder)
        case ended
    }

    /// With less free space than this in the caller's buffer, chunks are received through the input buffer,
    /// because system calls for a few bytes are too expensive.
    private static let leastRoomForChunks = InputBuffer.usualCapacity
    /// The maximum number of bytes received beyond the current chunk in one call. Bytes after the end of the
    /// content belong to later requests, and are kept for them.
    private static let maximumBytesAfterChunk = 256 * 1024

    let declaredLength: Int64?
    private var state: State
    /// The exchange that the request belongs to; nil after the end of the response.
    private var exchange: Exchange?
    private var awaitsContinue: Bool
    /// Whether the peer has been informed that the first part of the request has arrived.
    private var isAcknowledged = false
    private var failure: HTTPError?
    private var rateMonitor: TransferRateMonitor
    /// Bytes of content that the handler has read or that were discarded.
    private(set) var receivedBytes: Int64 = 0
    /// The number of bytes that have not been charged to the client's rate.
    var unpacedBytes: Int { Int(receivedBytes - pacedBytes) }
    private var pacedBytes: Int64 = 0
    /// The maximum number of bytes received in one call.
    private var pieceBytes = Int.max

    init(of request: HTTPRequest, in exchange: Exchange) {
        switch request.framing {
        case .none:
            state = .ended
            declaredLength = 0
        case .length(let length):
            state = .length(length)
            declaredLength = length
        case .chunked:
            state = .chunked(ChunkedDecoder(limits: exchange.server.limits))
            declaredLength = nil
        }
        awaitsContinue = request.expectsContinue
        rateMonitor = exchange.server.deadlines.transferRateMonitor
        self.exchange = exchange
    }

    var isPresent: Bool { true }

    var arrived: [UInt8]? { unsafe withArrived { unsafe Array($0) } }

    func copyArrived() -> IOBuffer? {
        unsafe withArrived { bytes in
            let buffer = IOBuffer(capacity: bytes.count)
            _ = unsafe buffer.append(bytes)
            return buffer
        }
    }

    private func withArrived<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        guard let exchange, exchange.loop.isCurrentThread, let count = arrivedCount(exchange) else {
            return nil
        }
        return unsafe exchange.unread.withUnread { bytes in
            unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// Consumes content that has arrived completely and was not read, after the handler has returned a response.
    func dropArrived() {
        guard let exchange, let count = arrivedCount(exchange) else { return }
        exchange.unread.consume(count)
        receivedBytes = Int64(count)
        state = .ended
    }

    private func arrivedCount(_ exchange: Exchange) -> Int? {
        guard case .length(let length) = state, length == declaredLength, exchange.unreadCount >= length
        else { return nil }
        return Int(length)
    }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        if let failure { throw failure }
        guard let exchange else {
            throw HTTPError(.internalServerError, "The content was read after the response.")
        }
        guard exchange.loop.isCurrentThread else {
            throw HTTPError(.internalServerError, "The content was read on another thread.")
        }
        guard buffer.freeCount > 0 else {
            throw HTTPError(.internalServerError, "The buffer for the content is full.")
        }
        do throws(HTTPError) {
            let pacer = exchange.request.pacer
            if let pacer {
                pieceBytes = pacer.pieceBytes
                if !hasEnded { try await exchange.connection.pause(until: pacer.receivingTime) }
            }
            try await answerExpectation(exchange)
            let count = try await next(into: buffer, exchange)
            receivedBytes += Int64(count)
            if let pacer {
                pacer.didReceive(count, now: exchange.loop.now)
                pacedBytes = receivedBytes
            }
            await exchange.connection.giveTurn(after: count)
            return count
        } catch {
            failure = error
            throw error
        }
    }

    private var hasEnded: Bool {
        if case .ended = state { return true }
        return false
    }

    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {
        // 101 would end HTTP on the connection, and 100 is sent before the first read.
        guard let exchange, exchange.request.minorVersion > 0, exchange.progress.status == nil,
            (102...199).contains(status.code)
        else { return }
        guard exchange.loop.isCurrentThread else {
            throw HTTPError(.internalServerError, "An interim response was sent on another thread.")
        }
        try await exchange.connection.compose(HeadEncoder.interim(status, fields))
        try await exchange.connection.sendComposed()
    }

    var abortHandler: (@Sendable () -> Void)? {
        guard let loop = exchange?.loop else { return nil }
        let reader = LoopConfined(reader: self)
        return { Task(executorPreference: loop) { reader.reader.abort() } }
    }

    /// Aborts the connection, but only while this request uses it.
    private func abort() { exchange?.connection.abort() }

    /// `@unchecked`: the reader is used only on the connection's loop.
    private struct LoopConfined: @unchecked Sendable {
        let reader: ContentReader
    }

    /// Returns what to do with unread content after the response.
    func plan(keepsAlive: Bool) -> UnreadContent {
        if failure != nil { return .close }
        let remaining: Int64? =
            switch state {
            case .ended: 0
            case .length(let length): length
            case .chunked: nil
            }
        return .plan(
            remaining: remaining, awaitsContinue: awaitsContinue && exchange?.hasUnread != true,
            keepsAlive: keepsAlive)
    }

    /// Reads and discards the remaining content.
    /// - Returns: false if the content is too long or cannot be read to its end; the connection can then not
    ///   be reused.
    func discard() async -> Bool {
        guard let exchange else { return false }
        let sink = exchange.loop.memory.takeOutput()
        defer { exchange.loop.memory.give(sink) }
        var left = UnreadContent.discardLimitBytes
        do throws(HTTPError) {
            while left >= 0 {
                sink.removeAll()
                let count = try await read(into: sink)
                if count == 0 { return true }
                left -= Int64(count)
            }
        } catch {
            // After any error, the end of this request cannot be determined.
        }
        return false
    }

    /// Detaches the reader from the exchange, so that the handler can no longer read.
    func detach() { exchange = nil }

    /// Sends 100 (Continue) before the first byte is read, unless content has already arrived (RFC 9110
    /// §10.1.1).
    private func answerExpectation(_ exchange: Exchange) async throws(HTTPError) {
        guard awaitsContinue else { return }
        awaitsContinue = false
        guard !exchange.hasUnread else { return }
        try await exchange.connection.compose(Array(HeadEncoder.continueHead.description.utf8))
        try await exchange.connection.sendComposed()
        isAcknowledged = true
    }

    private func next(into buffer: IOBuffer, _ exchange: Exchange) async throws(HTTPError) -> Int {
        while true {
            switch state {
            case .ended:
                return 0
            case .length(let remaining):
                let count = try await take(remaining, into: buffer, exchange)
                state = Int64(count) == remaining ? .ended : .length(remaining - Int64(count))
                return count
            case .chunked(let decoder)
            where !exchange.hasUnread && buffer.freeCount >= Self.leastRoomForChunks:
                let count = try await receiveChunks(decoder, into: buffer, exchange)
                if count > 0 { return count }
            case .chunked(var decoder):
                let (consumed, step) = try unsafe exchange.unread.withUnread { bytes throws(HTTPError) in
                    try unsafe decoder.decode(bytes)
                }
                exchange.unread.consume(consumed)
                state = .chunked(decoder)
                switch step {
                case .end: state = .ended
                case .needMore: try await receiveMore(exchange)
                case .data where !exchange.hasUnread: try await receiveMore(exchange)
                case .data(let remaining):
                    let count = try await take(remaining, into: buffer, exchange)
                    decoder.didTake(count)
                    state = .chunked(decoder)
                    return count
                }
            }
        }
    }

    /// Reads between 1 and `limit` bytes: from the input buffer if it holds any, otherwise directly from the
    /// socket.
    private func take(
        _ limit: Int64, into buffer: IOBuffer, _ exchange: Exchange
    ) async throws(HTTPError) -> Int {
        let limit = Int(min(limit, Int64(min(buffer.freeCount, pieceBytes))))
        if exchange.hasUnread {
            let unread = exchange.unread
            let count = unsafe unread.withUnread { bytes in
                unsafe buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<min(limit, bytes.count)]))
            }
            unread.consume(count)
            return count
        }
        while true {
            try await waitForInput(exchange)
            let count = try exchange.connection.receive(into: buffer, limit: limit)
            rateMonitor.didMove(count)
            if count > 0 { return count }
        }
    }

    /// Receives chunks directly into the destination buffer and removes their framing in place. A system call
    /// for each chunk would cost more than moving the bytes, because TCP acknowledges the data of each call
    /// and wakes the sender.
    /// - Returns: the number of content bytes; 0 if nothing, only framing, or the end was received.
    private func receiveChunks(
        _ known: ChunkedDecoder, into buffer: IOBuffer, _ exchange: Exchange
    ) async throws(HTTPError) -> Int {
        try await waitForInput(exchange)
        let held = buffer.count
        let behind = min(Self.maximumBytesAfterChunk, pieceBytes)
        let limit = min(known.dataRemaining, Int64(min(buffer.capacity, pieceBytes))) + Int64(behind)
        let received = try exchange.connection.receive(into: buffer, limit: Int(limit))
        rateMonitor.didMove(received)
        guard received > 0 else { return 0 }
        buffer.truncate(to: held)
        return try unsafe buffer.fill { room throws(HTTPError) in
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<received])
            var decoder = known
            let (count, behindEnd) = try unsafe decoder.decodeInPlace(bytes)
            state = .chunked(decoder)
            if let behindEnd {
                state = .ended
                unsafe exchange.unread.append(UnsafeRawBufferPointer(rebasing: bytes.suffix(behindEnd)))
            }
            return count
        }
    }

    /// Receives framing and content of chunks into the input buffer.
    private func receiveMore(_ exchange: Exchange) async throws(HTTPError) {
        try await waitForInput(exchange)
        let before = exchange.unread.count
        guard exchange.connection.receive(into: exchange.unread) else { throw .disconnected }
        rateMonitor.didMove(exchange.unread.count - before)
    }

    private func waitForInput(_ exchange: Exchange) async throws(HTTPError) {
        let connection = exchange.connection
        guard !connection.isReadable else { return }
        try await connection.sendComposed()
        // A peer that uses Nagle's algorithm does not send the rest before it knows that this part has arrived.
        if !isAcknowledged { connection.channel.acknowledge() }
        isAcknowledged = true
        let loop = exchange.loop
        let wake = await connection.waitForInput(.content, until: rateMonitor.beginWait(now: loop.now))
        rateMonitor.endWait(now: loop.now)
        switch wake {
        case .ready: return
        case .timeout: throw HTTPError(.requestTimeout, "The request content arrived too slowly.")
        case .park, .closing: throw .disconnected
        }
    }
}
