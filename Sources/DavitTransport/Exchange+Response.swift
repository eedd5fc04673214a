internal import DavitHTTP

/// Responses out.
extension Exchange {
    /// What follows a response.
    struct Plan {
        /// The response lets the connection live.
        var isPersistent: Bool
        /// What to do with content the handler has not read.
        var unread: UnreadContent
    }

    /// Writes a response. Small ones are only composed: they go out with the next call of
    /// `connection.sendComposed()`, or at the end of the job.
    nonisolated(nonsending) func write(_ response: HTTPResponse) async throws(HTTPError) -> Plan {
        if connection.hasUnsent { try await connection.sendComposed() }
        if case .stream(let stream) = response.body, request.method != .head, !response.status.forbidsContent
        {
            return try await write(response, stream: stream)
        }
        let (framing, plan) = encodeHead(response, length: response.body.length)
        if !connection.composeNow(loop.head) { try await connection.compose(loop.head) }
        if framing != .none, !writeContentNow(response.body) { try await writeContent(response.body) }
        return plan
    }

    /// Stored content that follows what was sent of it.
    struct FileRest {
        let content: any FileContent
        let offset: Int64
        let length: Int64
    }

    /// How far a response got without waiting.
    enum Written {
        case written
        /// The socket took no more.
        case begun(FileRest)
        /// Nothing was done.
        case impossible
    }

    /// Composes a small response that lets the connection live, if all of it can be composed at once. Sends
    /// large stored content as far as the socket takes it.
    func writeNow(_ response: HTTPResponse) -> Written {
        guard !connection.hasUnsent, !loop.output.isFull, !response.closesConnection else {
            return .impossible
        }
        switch response.body {
        case .empty, .bytes: break
        case .file(let content, let offset, let length):
            guard length > Connection.inlineLimit, request.method != .head, !response.status.forbidsContent
            else { break }
            return beginNow(response, FileRest(content: content, offset: offset, length: length))
        case .segments, .stream: return .impossible
        }
        let (mark, before) = (loop.output.mark(of: connection), progress)
        if let (framing, plan) = composeHead(response, length: response.body.length), plan.isPersistent,
            framing == .none || writeContentNow(response.body)
        {
            return .written
        }
        loop.output.goBack(to: mark)
        progress = before
        return .impossible
    }

    private func beginNow(_ response: HTTPResponse, _ all: FileRest) -> Written {
        guard connection.canSendNow(all.content, offset: all.offset, length: all.length) else {
            return .impossible
        }
        let (mark, before) = (loop.output.mark(of: connection), progress)
        guard let (_, plan) = composeHead(response, length: all.length), plan.isPersistent else {
            loop.output.goBack(to: mark)
            progress = before
            return .impossible
        }
        let sent = connection.sendNow(all.content, offset: all.offset, length: all.length)
        progress.contentBytes += sent
        if sent == all.length { return .written }
        return .begun(
            FileRest(content: all.content, offset: all.offset + sent, length: all.length - sent))
    }

    /// Writes what ``writeNow(_:)`` has left.
    nonisolated(nonsending) func write(_ rest: FileRest) async throws(HTTPError) {
        try await connection.send(rest.content, offset: rest.offset, length: rest.length) {
            progress.contentBytes += $0
        }
    }

    nonisolated(nonsending) func writeRefusal(_ response: HTTPResponse) async throws(HTTPError) {
        let exchange = HeadEncoder.Exchange(isHead: false, minorVersion: 1, keepsAlive: false)
        _ = encodeHead(response, length: response.body.length, for: exchange)
        try await connection.compose(loop.head)
        try await writeContent(response.body)
    }

    /// Leaves the head in the memory of the loop, which is good until the next suspension.
    private func encodeHead(_ response: HTTPResponse, length: Int64?) -> (ResponseFraming, Plan) {
        let (exchange, unread) = outlook(response)
        let framing = encodeHead(response, length: length, for: exchange)
        let isPersistent = HeadEncoder.isPersistent(response, exchange, framing: framing)
        return (framing, Plan(isPersistent: isPersistent, unread: unread))
    }

    /// Writes the head behind what is composed, which this connection has claimed.
    /// - Returns: nil if there is no room.
    private func composeHead(_ response: HTTPResponse, length: Int64?) -> (ResponseFraming, Plan)? {
        let (exchange, unread) = outlook(response)
        let framing = HeadEncoder.encode(
            response, length: length, for: exchange, date: loop.dateText, server: server.name,
            into: loop.output.buffer)
        guard let framing else { return nil }
        progress.status = response.status
        let isPersistent = HeadEncoder.isPersistent(response, exchange, framing: framing)
        return (framing, Plan(isPersistent: isPersistent, unread: unread))
    }

    /// Whether the connection lives on after a response, as far as the request and its content decide.
    private func outlook(_ response: HTTPResponse) -> (HeadEncoder.Exchange, UnreadContent) {
        var exchange = HeadEncoder.Exchange(request)
        if connection.isEnding || response.closesConnection { exchange.keepsAlive = false }
        let unread = content?.plan(keepsAlive: exchange.keepsAlive) ?? .none
        if unread == .close { exchange.keepsAlive = false }
        return (exchange, unread)
    }

    private func encodeHead(
        _ response: HTTPResponse, length: Int64?, for exchange: HeadEncoder.Exchange
    ) -> ResponseFraming {
        loop.head.removeAll(keepingCapacity: true)
        progress.status = response.status
        return HeadEncoder.encode(
            response, length: length, for: exchange, date: loop.dateText, server: server.name,
            into: &loop.head)
    }

    /// Composes small content without a suspension. Most responses go this way, and each suspension that
    /// could be, but is not, costs as much as a small copy.
    /// - Returns: false, and nothing was done, if that is not possible.
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
        case .segments, .stream: return false
        }
    }

    private nonisolated(nonsending) func writeContent(_ body: HTTPBody) async throws(HTTPError) {
        switch body {
        case .empty, .stream:
            break
        case .bytes(let bytes):
            try await writeBytes(bytes)
        case .file(let content, let offset, let length):
            try await connection.send(content, offset: offset, length: length) { progress.contentBytes += $0 }
        case .segments(let content, let segments):
            for segment in segments {
                switch segment {
                case .bytes(let bytes):
                    try await writeBytes(bytes)
                case .file(let offset, let length):
                    try await connection.send(content, offset: offset, length: length) {
                        progress.contentBytes += $0
                    }
                }
            }
        }
    }

    private nonisolated(nonsending) func writeBytes(_ bytes: [UInt8]) async throws(HTTPError) {
        if bytes.count <= Connection.inlineLimit {
            try await connection.compose(bytes)
        } else {
            try await connection.send(bytes)
        }
        progress.contentBytes += Int64(bytes.count)
    }
}

/// Content that is made while it is sent.
extension Exchange {
    /// While so much of the buffer is free, more is collected in the hope of the end.
    private static let collectFreeBytes = 16 * 1024
    /// When it took so much to make it, it goes out.
    private static let collectEffortBytes = 48 * 1024
    /// Bytes that are copied in the time in which one is worked on.
    private static let effortRatio = 4

    private nonisolated(nonsending) func write(
        _ response: HTTPResponse, stream: any BodyStream
    ) async throws(HTTPError) -> Plan {
        let buffer = loop.memory.takeOutput()
        defer { loop.memory.give(buffer) }
        if stream.isLive { try begin(live: stream) }
        defer { connection.live = nil }
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

    /// It may go on for as long as the server does.
    /// - Throws: when the peer has gone before.
    private func begin(live stream: any BodyStream) throws(HTTPError) {
        if connection.hasEnded { throw .disconnected }
        stream.begin(on: loop)
        connection.live = stream
        if connection.isEnding { stream.wrapUp() }
        server.upkeep?.note(on: loop)
    }

    /// - Returns: true if the content ended.
    private nonisolated(nonsending) func collect(
        _ stream: any BodyStream, into buffer: IOBuffer
    ) async throws(HTTPError) -> Bool {
        var effort = 0
        while buffer.freeCount >= Self.collectFreeBytes {
            let before = buffer.count
            try await stream.next(into: buffer)
            if buffer.count == before { return true }
            effort += stream.effortBytes
            if stream.isLive || effort >= Self.collectEffortBytes { return false }
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

    /// RFC 9112 §7.1; each chunk begins with the line end of the one before it.
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

    /// Content that has a length it was promised to have: neither more nor less may go out as the whole.
    private nonisolated(nonsending) func writeLength(
        _ length: Int64, of stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        var rest = length
        while rest > 0 {
            if buffer.count == 0 || Int64(buffer.count) > rest { throw .disconnected }
            rest -= Int64(buffer.count)
            try await sendPiece(of: stream, buffer)
            try await stream.next(into: buffer)
        }
        if buffer.count > 0 { throw .disconnected }
    }

    /// Sends what is in the buffer and composed before it, and empties it.
    private nonisolated(nonsending) func sendPiece(
        of stream: any BodyStream, _ buffer: IOBuffer
    ) async throws(HTTPError) {
        try await connection.sendComposed(followedBy: buffer)
        progress.contentBytes += Int64(buffer.count)
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
