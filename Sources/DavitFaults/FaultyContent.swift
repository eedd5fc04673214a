internal import DavitHTTP

/// The content of a request, received at a limited rate or only in part.
final class FaultyContent: RequestBody {
    /// The time between reads of content whose rate is limited.
    private static let pieceSeconds = 0.05

    private let content: any RequestBody
    private let bytesPerSecond: Int?
    /// The error that reading throws after a part of the content; nil if there is none.
    private let refusal: FaultRule.Refusal?
    private let clock = ContinuousClock()
    private var start: ContinuousClock.Instant?
    private var received: Int64 = 0

    init(_ content: any RequestBody, bytesPerSecond: Int?, refusal: FaultRule.Refusal?) {
        self.content = content
        self.bytesPerSecond = bytesPerSecond
        self.refusal = refusal
    }

    var isPresent: Bool { content.isPresent }
    var declaredLength: Int64? { content.declaredLength }
    /// Nil, so that the content is read.
    var arrived: [UInt8]? { nil }
    var abortHandler: (@Sendable () -> Void)? { content.abortHandler }

    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {
        try await content.sendInterim(status, fields)
    }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let start = start ?? clock.now
        self.start = start
        var limit = Int64(buffer.freeCount)
        if let bytesPerSecond {
            limit = min(limit, max(1, Int64(Double(bytesPerSecond) * Self.pieceSeconds)))
        }
        if let left = leftUntilRefusal {
            if left <= 0 { throw error }
            limit = min(limit, left)
        }
        let count = try await read(into: buffer, limit: Int(limit))
        received += Int64(count)
        // Content of unknown length is refused at its end.
        if count == 0, refusal != nil { throw error }
        if let bytesPerSecond {
            let due = start + .seconds(Double(received) / Double(bytesPerSecond))
            try await FaultPause.sleep(until: due)
        }
        return count
    }

    private func read(into buffer: IOBuffer, limit: Int) async throws(HTTPError) -> Int {
        if limit >= buffer.freeCount { return try await content.read(into: buffer) }
        let piece = IOBuffer(capacity: limit)
        let count = try await content.read(into: piece)
        _ = unsafe piece.withBytes { unsafe buffer.append($0) }
        return count
    }

    /// The number of bytes to receive before the error; nil without error, or if the length is unknown.
    private var leftUntilRefusal: Int64? {
        guard let part = refusal?.receivedPart, let length = declaredLength else { return nil }
        return Int64(Double(length) * part) - received
    }

    private var error: HTTPError {
        HTTPError(refusal?.status ?? .internalServerError, "This error was requested by a fault rule.")
    }
}
