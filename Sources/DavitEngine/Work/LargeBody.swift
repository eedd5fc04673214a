internal import DavitHTTP

/// The content of a large response, in memory. Holds a slot until little of it remains to be sent.
final class LargeBody: BodyStream {
    let length: Int64?
    private var rest: ArraySlice<UInt8>
    private var slot: ClientSlots.Slot?

    init(_ bytes: [UInt8], _ slot: ClientSlots.Slot) {
        length = Int64(bytes.count)
        rest = bytes[...]
        self.slot = slot
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        let taken = unsafe rest.withUnsafeBytes { unsafe buffer.append($0) }
        rest = rest.dropFirst(taken)
        guard slot != nil, rest.count <= ClientSlots.unreservedBytes else { return }
        // The copy releases the memory of what has been sent.
        rest = Array(rest)[...]
        slot = nil
    }
}

/// The content of a response that keeps much memory while it is generated. Holds a slot until it has been sent.
final class ReservedStream: BodyStream {
    private let stream: any BodyStream
    private let slot: ClientSlots.Slot

    init(_ stream: any BodyStream, _ slot: ClientSlots.Slot) {
        self.stream = stream
        self.slot = slot
    }

    var flushesImmediately: Bool { stream.flushesImmediately }
    var length: Int64? { stream.length }
    var effortBytes: Int { stream.effortBytes }

    func next(into buffer: IOBuffer) async throws(HTTPError) { try await stream.next(into: buffer) }
    func nextFile() async throws(HTTPError) -> FilePiece? { try await stream.nextFile() }
    func begin(on executor: any TaskExecutor) { stream.begin(on: executor) }
    func finishEarly() { stream.finishEarly() }
}
