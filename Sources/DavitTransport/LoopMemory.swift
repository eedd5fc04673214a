internal import DavitHTTP
internal import DavitSystem

/// Buffers that the connections of a loop borrow and return.
struct LoopMemory {
    /// Maximum number of unused objects of each kind, and of volumes, that are kept.
    private static let keptCount = 64

    private var inputs: [InputBuffer] = []
    private var outputs: [IOBuffer] = []
    private var requests: [HTTPRequest] = []
    /// Volumes that cannot report whether content is in memory.
    private var unprobed: [UInt64] = []
    /// For each known volume, whether it has no disk to wait for.
    private var diskless: [UInt64: Bool] = [:]

    mutating func takeInput() -> InputBuffer { inputs.popLast() ?? InputBuffer() }

    /// - Parameter buffer: must be empty.
    mutating func give(_ buffer: InputBuffer) {
        if inputs.count < Self.keptCount && buffer.capacity == InputBuffer.usualCapacity {
            inputs.append(buffer)
        }
    }

    mutating func takeRequest() -> HTTPRequest { requests.popLast() ?? HTTPRequest() }

    /// - Parameter request: must have no other references.
    mutating func give(_ request: HTTPRequest) {
        if requests.count < Self.keptCount { requests.append(request) }
    }

    /// Returns a buffer of 64 KiB for content that is sent or discarded.
    mutating func takeOutput() -> IOBuffer {
        outputs.popLast() ?? IOBuffer(capacity: 64 * 1024)
    }

    mutating func give(_ buffer: IOBuffer) {
        buffer.removeAll()
        if outputs.count < Self.keptCount { outputs.append(buffer) }
    }

    /// Returns false if the volume is known not to report whether content is in memory.
    func canProbe(_ volume: UInt64) -> Bool { unprobed.isEmpty || !unprobed.contains(volume) }

    /// Returns true if the volume of this content has no disk to wait for.
    mutating func isDiskless(_ content: any FileContent) -> Bool {
        if let known = diskless[content.volume] { return known }
        let answer = CachedFile.isInMemory(content.descriptor)
        if content.volume != 0 && diskless.count < Self.keptCount { diskless[content.volume] = answer }
        return answer
    }

    mutating func recordUnprobed(_ volume: UInt64) {
        if volume != 0 && unprobed.count < Self.keptCount { unprobed.append(volume) }
    }
}
