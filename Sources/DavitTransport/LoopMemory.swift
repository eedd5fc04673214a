internal import DavitHTTP
internal import DavitSystem

/// Memory that the connections of a loop take while they need it and give back.
struct LoopMemory {
    /// Most buffers of each kind that wait for their next use.
    private static let keptCount = 64

    private var inputs: [InputBuffer] = []
    private var outputs: [IOBuffer] = []
    private var requests: [HTTPRequest] = []
    /// Volumes that cannot tell what is in memory.
    private var unprobed: [UInt64] = []
    /// Whether volumes have no disk.
    private var diskless: [UInt64: Bool] = [:]

    mutating func takeInput() -> InputBuffer { inputs.popLast() ?? InputBuffer() }

    /// - Parameter buffer: empty.
    mutating func give(_ buffer: InputBuffer) {
        if inputs.count < Self.keptCount && buffer.capacity == InputBuffer.usualCapacity {
            inputs.append(buffer)
        }
    }

    mutating func takeRequest() -> HTTPRequest { requests.popLast() ?? HTTPRequest() }

    /// - Parameter request: nobody else has it.
    mutating func give(_ request: HTTPRequest) {
        if requests.count < Self.keptCount { requests.append(request) }
    }

    /// A buffer of 64 KiB for content on its way out, or to be dropped.
    mutating func takeOutput() -> IOBuffer {
        outputs.popLast() ?? IOBuffer(capacity: 64 * 1024)
    }

    mutating func give(_ buffer: IOBuffer) {
        buffer.removeAll()
        if outputs.count < Self.keptCount { outputs.append(buffer) }
    }

    /// False if it is known that this volume cannot tell whether content is in memory.
    func canProbe(_ volume: UInt64) -> Bool { unprobed.isEmpty || !unprobed.contains(volume) }

    /// True if the volume of this content has no disk that could be waited for.
    mutating func isDiskless(_ content: any FileContent) -> Bool {
        if let known = diskless[content.volume] { return known }
        let answer = CachedFile.isInMemory(content.descriptor)
        if content.volume != 0 && diskless.count < Self.keptCount { diskless[content.volume] = answer }
        return answer
    }

    mutating func noteUnprobed(_ volume: UInt64) {
        if volume != 0 && unprobed.count < Self.keptCount { unprobed.append(volume) }
    }
}
