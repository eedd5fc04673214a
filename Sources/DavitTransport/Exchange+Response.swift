internal import DavitHTTP

/// Writes responses.
extension Exchange {
    /// The treatment of the connection after a response.
    struct Plan {
        /// Whether the connection stays open after the response.
        var isPersistent: Bool
        /// The treatment of content that the handler has not read.
        var unread: UnreadContent
    }

    /// Writes a response. Small responses are only appended to the output buffer: they are sent by the next
    /// call of `connection.sendComposed()`, or at the end of the job.
    nonisolated(nonsending) func write(_ response: HTTPResponse) async throws(HTTPError) -> Plan {
        if connection.hasUnsent { try await connection.sendComposed() }
        if request.isPaced {
            try await connection.pause(until: startTime(of: response, to: request))
        }
        if case .stream(let stream) = response.body, request.method != .head, !response.status.forbidsContent
        {
            return try await write(response, stream: stream)
        }
        if case .shaped(let shaped) = response.body {
            return try await write(response, shaped: shaped)
        }
        let (framing, plan) = encodeHead(response, length: response.body.length)
        if !connection.composeNow(loop.head) { try await connection.compose(loop.head) }
        if framing != .none, !writeContentNow(response.body) { try await writeContent(response.body) }
        return plan
    }

    /// The remaining part of stored content that was partly sent.
    struct RemainingFile {
        let content: any FileContent
        let offset: Int64
        let length: Int64
    }

    /// The result of writing a response without waiting.
    enum Written {
        case written
        /// Only a part of the content was sent.
        case begun(RemainingFile)
        /// Nothing was written.
        case impossible
    }

    /// Writes a small response to the output buffer if all of it fits and the connection stays open. Sends
    /// the first window of large stored content, as far as the socket accepts it.
    func writeNow(_ response: HTTPResponse, to request: HTTPRequest) -> Written {
        guard !connection.hasUnsent, !loop.output.isFull, !response.closesConnection,
            !request.isPaced || startTime(of: response, to: request) <= loop.now
        else {
            return .impossible
        }
        switch response.body {
        case .empty, .bytes: break
        case .file(let content, let offset, let length):
            guard length > Connection.inlineLimit, request.method != .head, !response.status.forbidsContent
            else { break }
            if request.isPaced { return .impossible }
            return beginNow(
                response, to: request, RemainingFile(content: content, offset: offset, length: length))
        case .segments, .stream, .shaped: return .impossible
        }
        let (mark, before) = (loop.output.mark(of: connection), progress)
        if let (framing, plan) = composeHead(response, to: request, length: response.body.length),
            plan.isPersistent,
            framing == .none || writeContentNow(response.body)
        {
            return .written
        }
        loop.output.goBack(to: mark)
        progress = before
        return .impossible
    }

    /// Returns the time from which a response may be written if the rate of the client is limited: a response with content waits
    /// for earlier ones, and content of the request that has arrived with the head, for earlier uploads.
    private func startTime(of response: HTTPResponse, to request: HTTPRequest) -> Int64 {
        guard let pacer = request.pacer else { return .min }
        let hasContent = response.body.length != 0 && request.method != .head
        let hasUnpaced = (content?.unpacedBytes ?? 0) > 0
        return max(hasContent ? pacer.sendingTime : .min, hasUnpaced ? pacer.receivingTime : .min)
    }

    private func beginNow(_ response: HTTPResponse, to request: HTTPRequest, _ all: RemainingFile) -> Written
    {
        guard connection.canSendNow(all.content, offset: all.offset, length: all.length) else {
            return .impossible
        }
        let (mark, before) = (loop.output.mark(of: connection), progress)
        guard let (_, plan) = composeHead(response, to: request, length: all.length), plan.isPersistent else {
            loop.output.goBack(to: mark)
            progress = before
            return .impossible
        }
        let sent = connection.sendNow(all.content, offset: all.offset, length: all.length)
        progress.contentBytes += sent
        if sent == all.length { return .written }
        return .begun(
            RemainingFile(content: all.content, offset: all.offset + sent, length: all.length - sent))
    }

    /// Writes the rest of a response that ``writeNow(_:to:)`` has begun.
    nonisolated(nonsending) func write(_ rest: RemainingFile) async throws(HTTPError) {
        try await send(rest.content, offset: rest.offset, length: rest.length)
    }

    nonisolated(nonsending) func writeRefusal(_ response: HTTPResponse) async throws(HTTPError) {
        let exchange = HeadEncoder.Context(isHead: false, minorVersion: 1, keepsAlive: false)
        _ = encodeHead(response, length: response.body.length, for: exchange)
        try await connection.compose(loop.head)
        try await writeContent(response.body)
    }

    /// Encodes the head into the loop's scratch memory, which is valid until the next suspension.
    func encodeHead(_ response: HTTPResponse, length: Int64?) -> (ResponseFraming, Plan) {
        let (exchange, unread) = planConnection(response, to: request)
        let framing = encodeHead(response, length: length, for: exchange)
        let isPersistent = HeadEncoder.isPersistent(response, exchange, framing: framing)
        return (framing, Plan(isPersistent: isPersistent, unread: unread))
    }

    /// Appends the head to the output buffer, which this connection has claimed.
    /// - Returns: nil if the head does not fit.
    private func composeHead(
        _ response: HTTPResponse, to request: HTTPRequest, length: Int64?
    ) -> (ResponseFraming, Plan)? {
        let (exchange, unread) = planConnection(response, to: request)
        let framing = HeadEncoder.encode(
            response, length: length, for: exchange, date: loop.dateText, server: server.name,
            into: loop.output.buffer)
        guard let framing else { return nil }
        progress.status = response.status
        let isPersistent = HeadEncoder.isPersistent(response, exchange, framing: framing)
        return (framing, Plan(isPersistent: isPersistent, unread: unread))
    }

    /// Returns the context for encoding the head, and what to do with unread content. `keepsAlive` of the
    /// context does not yet take the framing of the response into account.
    private func planConnection(
        _ response: HTTPResponse, to request: HTTPRequest
    ) -> (HeadEncoder.Context, UnreadContent) {
        var exchange = HeadEncoder.Context(request)
        if connection.isEnding || response.closesConnection { exchange.keepsAlive = false }
        let unread = content?.plan(keepsAlive: exchange.keepsAlive) ?? .none
        if unread == .close { exchange.keepsAlive = false }
        return (exchange, unread)
    }

    private func encodeHead(
        _ response: HTTPResponse, length: Int64?, for exchange: HeadEncoder.Context
    ) -> ResponseFraming {
        loop.head.removeAll(keepingCapacity: true)
        progress.status = response.status
        return HeadEncoder.encode(
            response, length: length, for: exchange, date: loop.dateText, server: server.name,
            into: &loop.head)
    }

    /// Appends small content to the output buffer without suspending. Most responses take this path: even a
    /// possible suspension that does not occur costs as much as a small copy.
    /// - Returns: false if that is not possible; nothing was appended then.
    private func writeContentNow(_ body: HTTPBody) -> Bool {
        switch body {
        case .empty: return true
        case .bytes(let bytes):
            guard bytes.count <= Connection.inlineLimit, connection.composeNow(bytes) else { return false }
            progress.contentBytes += Int64(bytes.count)
            return true
        case .file(let content, let offset, let length):
            guard length <= Connection.inlineLimit,
                connection.composeNow(content, offset: offset, length: Int(length))
            else { return false }
            progress.contentBytes += length
            return true
        case .segments, .stream, .shaped: return false
        }
    }

    private nonisolated(nonsending) func writeContent(_ body: HTTPBody) async throws(HTTPError) {
        switch body {
        case .empty, .stream, .shaped:
            break
        case .bytes(let bytes):
            try await writeBytes(bytes)
        case .file(let content, let offset, let length):
            try await send(content, offset: offset, length: length)
        case .segments(let content, let segments):
            for segment in segments {
                switch segment {
                case .bytes(let bytes):
                    try await writeBytes(bytes)
                case .file(let offset, let length):
                    try await send(content, offset: offset, length: length)
                }
            }
        }
    }

    private nonisolated(nonsending) func send(
        _ content: any FileContent, offset: Int64, length: Int64
    ) async throws(HTTPError) {
        let pacer = request.pacer
        try await connection.send(content, offset: offset, length: length, pacer) { didSend(Int($0), pacer) }
    }

    private nonisolated(nonsending) func writeBytes(_ bytes: [UInt8]) async throws(HTTPError) {
        if let pacer = request.pacer {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(pacer.pieceBytes))
                rest = rest.dropFirst(piece.count)
                try await connection.pause(until: pacer.sendingTime)
                try await connection.send(piece)
                didSend(piece.count, pacer)
            }
        } else {
            if bytes.count <= Connection.inlineLimit {
                try await connection.compose(bytes)
            } else {
                try await connection.send(bytes)
            }
            didSend(bytes.count, nil)
        }
    }

    /// Counts sent content, and charges it to the rate of the client.
    private func didSend(_ count: Int, _ pacer: TransferPacer?) {
        progress.contentBytes += Int64(count)
        guard let pacer else { return }
        progress.pacedBytes += Int64(count)
        pacer.didSend(count, now: loop.now)
    }
}

/// Writes content that is generated while it is sent.
extension Exchange {
    /// More content is collected while at least this many bytes of the buffer are free, in case the stream
    /// ends soon.
    private static let collectFreeBytes = 16 * 1024
    /// Collected content is sent once the stream has processed this many bytes of input to generate it.
    private static let collectEffortBytes = 48 * 1024
    /// How many times more bytes can be copied than processed in the same time.
    private static let effortRatio = 4

    private nonisolated(nonsending) func write(
        _ response: HTTPResponse, stream: any BodyStream
    ) async throws(HTTPError) -> Plan {
        let buffer = loop.memory.takeOutput()
        defer { loop.memory.give(buffer) }
        if stream.flushesImmediately { try begin(liveStream: stream) }
        defer { connection.liveStream = nil }
        let isWhole = try await collect(stream, into: buffer)
        let collected = Int64(buffer.count)
        let known = stream.length
        if let known, isWhole ? collected != known : collected > known { throw .disconnected }
        let (framing, plan) = encodeHead(response, length: isWhole ? collected : known)
        try await connection.compose(loop.head)
        switch framing {
        case .none: break
        case .length where isWhole: try await writeWhole(buffer)
        case .length(let length): try await writeLength(length, of: stream, buffer)
        case .chunked: try await writeChunks(of: stream, buffer)
        case .untilClose: try await writeUntilClose(stream, buffer)
        }
        return plan
    }

    /// Begins content that is generated live, which may last until the server stops.
    /// - Throws: ``HTTPError/disconnected`` if the peer has already disconnected.
    func begin(liveStream stream: any BodyStream) throws(HTTPError) {
        if connection.hasEnded { throw .disconnected }
        stream.begin(on: loop)
        connection.liveStream = stream
        if connection.isEnding { stream.finishEarly() }
        server.scheduleMaintenance(on: loop)
    }

    /// Collects the beginning of the stream, so that the length of short content is known for the head.
    /// - Returns: true if the stream has ended.
    private nonisolated(nonsending) func collect(
        _ stream: any BodyStream, into buffer: IOBuffer
    ) async throws(HTTPError) -> Bool {
        var effort = 0
        while buffer.freeCount >= Self.collectFreeBytes {
            let before = buffer.count
            try await stream.next(into: buffer)
            if buffer.count == before { return true }
            effort += stream.effortBytes
            if stream.flushesImmediately || effort >= Self.collectEffortBytes { return false }
        }
        return false
    }

    private nonisolated(nonsending) func writeWhole(_ buffer: IOBuffer) async throws(HTTPError) {
        if buffer.count <= Connection.inlineLimit {
            try await connection.compose(buffer)
        } else {
            try await connection.sendComposed(followedBy: buffer)
        }
        progress.contentBytes += Int64(buffer.count)
    }

    /// Writes chunked content (RFC 9112 §7.1). Each chunk starts with the line end of the previous one.
    private nonisolated(nonsending) func writeChunks(
        of stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        var isFirst = true
        while buffer.count > 0 {
            try await connection.compose(Self.chunkHead(size: buffer.count, isFirst: isFirst))
            isFirst = false
            try await sendPiece(of: stream, buffer)
            try await stream.next(into: buffer)
        }
        try await connection.compose(Array("\r\n0\r\n\r\n".utf8))
    }

    /// Writes content of a declared length. Aborts the response if the stream produces fewer or more bytes.
    private nonisolated(nonsending) func writeLength(
        _ length: Int64, of stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        var rest = length
        while rest > 0 {
            if buffer.count == 0 || Int64(buffer.count) > rest { throw .disconnected }
            rest -= Int64(buffer.count)
            try await sendPiece(of: stream, buffer)
            while let file = try await stream.nextFile() {
                if file.length > rest { throw .disconnected }
                rest -= file.length
                try await send(file.content, offset: file.offset, length: file.length)
            }
            try await stream.next(into: buffer)
        }
        if buffer.count > 0 { throw .disconnected }
    }

    /// Sends the buffered output followed by `buffer`, and empties `buffer`.
    private nonisolated(nonsending) func sendPiece(
        of stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        let pacer = request.pacer
        if let pacer { try await connection.pause(until: pacer.sendingTime) }
        try await connection.sendComposed(followedBy: buffer)
        didSend(buffer.count, pacer)
        await connection.giveTurn(after: max(buffer.count, stream.effortBytes * Self.effortRatio))
        buffer.removeAll()
    }

    private nonisolated(nonsending) func writeUntilClose(
        _ stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        while buffer.count > 0 {
            try await sendPiece(of: stream, buffer)
            try await stream.next(into: buffer)
        }
    }

    private static func chunkHead(size: Int, isFirst: Bool) -> [UInt8] {
        Array("\(isFirst ? "" : "\r\n")\(String(size, radix: 16))\r\n".utf8)
    }
}
