internal import DavitHTTP
internal import DavitSystem

/// The content of one request, read from its connection when the handler asks for it.
final class ContentReader: RequestBody {
    private enum State {
        /// At least one byte.
        case length(Int64)
        case chunked(ChunkedDecoder)
        case ended
    }

    /// With less room for them, chunks come through the input buffer: calls for a few bytes cost too much.
    private static let leastRoomForChunks = InputBuffer.usualCapacity
    /// Received at once behind the present chunk. So much can be the next requests', and is kept for them.
    private static let mostBehindChunk = 256 * 1024

    let declaredLength: Int64?
    private var state: State
    /// Nil once the response has ended.
    private var exchange: Exchange?
    private var awaitsContinue: Bool
    private var failure: HTTPError?
    private var guardian: ProgressGuard
    /// What the handler got, or was dropped for it.
    private(set) var receivedBytes: Int64 = 0

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
        guardian = exchange.server.deadlines.progressGuard
        self.exchange = exchange
    }

    var isPresent: Bool { true }

    var arrived: [UInt8]? {
        guard let exchange, exchange.loop.isCurrentThread, let count = arrivedCount(exchange) else {
            return nil
        }
        return unsafe exchange.unread.withUnread { unsafe Array($0[..<count]) }
    }

    /// Drops content that has arrived: it was answered at once.
    func dropArrived() {
        guard let exchange, let count = arrivedCount(exchange) else { return }
        exchange.unread.consume(count)
        receivedBytes = Int64(count)
        state = .ended
    }

    private func arrivedCount(_ exchange: Exchange) -> Int? {
        guard case .length(let length) = state, length == declaredLength, exchange.unread.count >= length
        else { return nil }
        return Int(length)
    }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        if let failure { throw failure }
        guard let exchange else { throw HTTPError(.internalServerError, "content was read too late") }
        guard exchange.loop.isCurrentThread else {
            throw HTTPError(.internalServerError, "content was read on another thread")
        }
        guard buffer.freeCount > 0 else { throw HTTPError(.internalServerError, "no room for content") }
        do throws(HTTPError) {
            try await answerExpectation(exchange)
            let count = try await next(into: buffer, exchange)
            receivedBytes += Int64(count)
            await exchange.connection.giveTurn(after: count)
            return count
        } catch {
            failure = error
            throw error
        }
    }

    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {
        // 101 ends HTTP on the connection, and 100 is sent with the first read.
        guard let exchange, exchange.request.minorVersion > 0, exchange.progress.status == nil,
            (102...199).contains(status.code)
        else { return }
        guard exchange.loop.isCurrentThread else {
            throw HTTPError(.internalServerError, "an interim response on another thread")
        }
        try await exchange.connection.compose(HeadEncoder.interim(status, fields))
        try await exchange.connection.sendComposed()
    }

    var cutOff: (@Sendable () -> Void)? {
        guard let loop = exchange?.loop else { return nil }
        let reader = OfLoop(reader: self)
        return { Task(executorPreference: loop) { reader.reader.breakOff() } }
    }

    /// Not the next request on this connection.
    private func breakOff() { exchange?.connection.abort() }

    /// `@unchecked`: only the loop of the connection touches the reader.
    private struct OfLoop: @unchecked Sendable {
        let reader: ContentReader
    }

    /// What is to be done with what has not been read.
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

    /// Reads and drops the rest.
    /// - Returns: false if it is too long or broken; the connection cannot go on.
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
            // Whatever it was: the end of this request cannot be found.
        }
        return false
    }

    /// The connection goes on without the handler.
    func detach() { exchange = nil }

    /// RFC 9110 §10.1.1: before the first byte is asked for, and not if some came already.
    private func answerExpectation(_ exchange: Exchange) async throws(HTTPError) {
        guard awaitsContinue else { return }
        awaitsContinue = false
        guard !exchange.hasUnread else { return }
        try await exchange.connection.compose(Array(HeadEncoder.continueHead.description.utf8))
        try await exchange.connection.sendComposed()
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

    /// Takes at least one byte and at most `limit`: what is buffered, else straight from the socket.
    private func take(
        _ limit: Int64, into buffer: IOBuffer, _ exchange: Exchange
    ) async throws(HTTPError) -> Int {
        let limit = Int(min(limit, Int64(buffer.freeCount)))
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
            guardian.didMove(count)
            if count > 0 { return count }
        }
    }

    /// Receives chunks with their framing where the content belongs, and takes the framing out there. A call for
    /// each chunk would cost more than moving the bytes: TCP answers after each, and that wakes the sender.
    /// - Returns: how many bytes of content came; 0 if it was framing alone, or the end.
    private func receiveChunks(
        _ known: ChunkedDecoder, into buffer: IOBuffer, _ exchange: Exchange
    ) async throws(HTTPError) -> Int {
        try await waitForInput(exchange)
        let held = buffer.count
        let limit = min(known.dataRemaining, Int64(buffer.capacity)) + Int64(Self.mostBehindChunk)
        let received = try exchange.connection.receive(into: buffer, limit: Int(limit))
        guardian.didMove(received)
        guard received > 0 else { return 0 }
        buffer.count = held
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

    /// Receives framing, and whatever comes with it.
    private func receiveMore(_ exchange: Exchange) async throws(HTTPError) {
        try await waitForInput(exchange)
        let before = exchange.unread.count
        guard exchange.connection.receive(into: exchange.unread) else { throw .disconnected }
        guardian.didMove(exchange.unread.count - before)
    }

    private func waitForInput(_ exchange: Exchange) async throws(HTTPError) {
        let connection = exchange.connection
        guard !connection.isReadable else { return }
        try await connection.sendComposed()
        let loop = exchange.loop
        let wake = await connection.waitForInput(.content, until: guardian.beginWait(now: loop.now))
        guardian.endWait(now: loop.now)
        switch wake {
        case .ready: return
        case .timeout: throw HTTPError(.requestTimeout, "the content came too slowly")
        case .park, .closing: throw .disconnected
        }
    }
}
