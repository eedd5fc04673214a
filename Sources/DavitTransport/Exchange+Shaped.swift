internal import DavitHTTP
internal import DavitSystem

/// Writes responses that are slow, incomplete or malformed on purpose.
extension Exchange {
    nonisolated(nonsending) func write(
        _ response: HTTPResponse, shaped body: ShapedBody
    ) async throws(HTTPError) -> Plan {
        let shape = body.shape
        var plain = response
        plain.body = body.content
        let length = body.content.length.map { max(0, $0 + shape.lengthError) }
        var (framing, plan) = encodeHead(plain, length: length)
        let head = shape.hasMalformedHead ? Self.malformed(loop.head) : loop.head
        if shape.hasMalformedHead || shape.lengthError != 0 { plan.isPersistent = false }
        try await connection.compose(head)
        if framing != .none {
            var delivery = Delivery(shape, isChunked: framing == .chunked)
            try await deliver(body.content, &delivery)
            if delivery.isChunked { try await connection.compose(Array("0\r\n\r\n".utf8)) }
        } else if let end = shape.end, end.afterBytes == 0 {
            try await endEarly(end.manner)
        }
        return plan
    }

    /// Returns the head with a status code that is not a number.
    private static func malformed(_ head: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 2x0 Malformed\r\n".utf8) + head[(head.firstIndex(of: 10).map { $0 + 1 } ?? 0)...]
    }

    /// The progress of shaped content.
    private struct Delivery {
        /// The time between pieces of content whose rate is limited.
        private static let pieceNanoseconds: Int64 = 50_000_000
        /// The maximum number of bytes in a piece.
        private static let pieceLimit: Int64 = 1 << 16

        let shape: DeliveryShape
        let isChunked: Bool
        private let start = Clock.now()
        private(set) var sent: Int64 = 0

        init(_ shape: DeliveryShape, isChunked: Bool) {
            self.shape = shape
            self.isChunked = isChunked
        }

        /// The number of bytes to send next if `rest` bytes are available; 0 if sending ends now.
        func piece(of rest: Int64) -> Int64 {
            var piece = min(rest, Self.pieceLimit)
            if let rate = shape.bytesPerSecond {
                piece = min(piece, max(1, Int64(rate) * Self.pieceNanoseconds / 1_000_000_000))
            }
            if let end = shape.end { piece = min(piece, max(0, end.afterBytes - sent)) }
            return piece
        }

        mutating func didSend(_ count: Int64) { sent += count }

        /// The time to wait before the next piece, in nanoseconds.
        var pause: Int64 {
            guard let rate = shape.bytesPerSecond else { return 0 }
            let (seconds, rest) = sent.quotientAndRemainder(dividingBy: Int64(max(rate, 1)))
            let due = seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(max(rate, 1))
            return max(0, start + due - Clock.now())
        }
    }

    private nonisolated(nonsending) func deliver(
        _ content: HTTPBody, _ delivery: inout Delivery
    ) async throws(HTTPError) {
        switch content {
        case .empty, .shaped: break
        case .bytes(let bytes): try await deliver(bytes, &delivery)
        case .file(let file, let offset, let length):
            try await deliver(file, offset, length, &delivery)
        case .segments(let file, let segments):
            for segment in segments {
                switch segment {
                case .bytes(let bytes): try await deliver(bytes, &delivery)
                case .file(let offset, let length): try await deliver(file, offset, length, &delivery)
                }
            }
        case .stream(let stream): try await deliver(stream, &delivery)
        }
    }

    private nonisolated(nonsending) func deliver(
        _ stream: any BodyStream, _ delivery: inout Delivery
    ) async throws(HTTPError) {
        let buffer = loop.memory.takeOutput()
        defer { loop.memory.give(buffer) }
        if stream.flushesImmediately { try begin(liveStream: stream) }
        defer { connection.liveStream = nil }
        while true {
            buffer.removeAll()
            try await stream.next(into: buffer)
            if buffer.count == 0 { break }
            try await deliver(unsafe buffer.withBytes { unsafe Array($0) }, &delivery)
        }
        if let length = stream.length, length != delivery.sent { throw .disconnected }
    }

    private nonisolated(nonsending) func deliver(
        _ bytes: [UInt8], _ delivery: inout Delivery
    ) async throws(HTTPError) {
        var start = 0
        while start < bytes.count {
            let count = Int(delivery.piece(of: Int64(bytes.count - start)))
            try await beginPiece(count, delivery)
            try await connection.compose(Array(bytes[start..<start + count]))
            try await endPiece(count, &delivery)
            start += count
        }
    }

    private nonisolated(nonsending) func deliver(
        _ file: any FileContent, _ offset: Int64, _ length: Int64, _ delivery: inout Delivery
    ) async throws(HTTPError) {
        var start: Int64 = 0
        while start < length {
            let count = delivery.piece(of: length - start)
            try await beginPiece(Int(count), delivery)
            try await connection.send(file, offset: offset + start, length: count, nil) { _ in }
            try await endPiece(Int(count), &delivery)
            start += count
        }
    }

    /// - Parameter count: the length of the piece; if it is 0, the response ends here.
    private nonisolated(nonsending) func beginPiece(
        _ count: Int, _ delivery: Delivery
    ) async throws(HTTPError) {
        if count == 0, let end = delivery.shape.end { try await endEarly(end.manner) }
        if delivery.isChunked { try await connection.compose(Array("\(String(count, radix: 16))\r\n".utf8)) }
    }

    private nonisolated(nonsending) func endPiece(
        _ count: Int, _ delivery: inout Delivery
    ) async throws(HTTPError) {
        if delivery.isChunked { try await connection.compose([13, 10]) }
        progress.contentBytes += Int64(count)
        delivery.didSend(Int64(count))
        try await connection.sendComposed()
        await connection.giveTurn(after: count)
        try await Self.pause(delivery.pause)
    }

    /// Ends the response before it is complete.
    /// - Throws: always ``HTTPError/disconnected``, after waiting for the client to disconnect if it stalls.
    private nonisolated(nonsending) func endEarly(_ manner: DeliveryShape.End.Manner) async throws(HTTPError)
    {
        try await connection.sendComposed()
        switch manner {
        case .close: break
        case .reset: connection.resetOnClose()
        case .stall: while true { try await Self.pause(3600_000_000_000) }
        }
        throw .disconnected
    }

    /// - Throws: ``HTTPError/disconnected`` if the client disconnects in the meantime.
    private static nonisolated(nonsending) func pause(_ nanoseconds: Int64) async throws(HTTPError) {
        guard nanoseconds > 0 else { return }
        do {
            // Without a tolerance, because the default lets the system add up to a tenth to a delay.
            try await Task.sleep(for: .nanoseconds(nanoseconds), tolerance: .zero, clock: .continuous)
        } catch { throw .disconnected }
    }
}
