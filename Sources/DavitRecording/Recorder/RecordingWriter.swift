internal import DavitHTTP
internal import DavitLogging
internal import DavitSystem

/// Writes queued items to files, on its own thread.
struct RecordingWriter: ~Copyable {
    private struct OpenConnection {
        var record: ConnectionTranscript
        let peer: String
        let fileName: String
        var hasFile = false
    }

    private let folder: PrivateFolder
    private let limits: Recorder.Limits
    private let log: Log
    private var connections: [Int: OpenConnection] = [:]
    private var requests = 0
    private var missedBytes: Int64 = 0
    /// Whether writing has failed; nothing is written after that.
    private var isBroken = false

    init(_ folder: consuming PrivateFolder, limits: Recorder.Limits, log: Log) {
        self.folder = folder
        self.limits = limits
        self.log = log
    }

    mutating func run(_ queue: RecordingQueue) {
        while let items = queue.take() {
            var touched: Set<Int> = []
            for item in items { touched.insert(take(item)) }
            for number in touched { write(number) }
        }
        for number in connections.keys.sorted() { end(number) }
        report(queue)
    }

    /// Processes an item.
    ///
    /// - Returns: the number of the connection.
    private mutating func take(_ item: RecordingQueue.Item) -> Int {
        switch item {
        case .opened(let number, let peer):
            let digits = String(number)
            let name = String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".txt"
            connections[number] = OpenConnection(
                record: ConnectionTranscript(contentLimitBytes: limits.contentBytes), peer: peer,
                fileName: name)
            return number
        case .bytes(let number, let direction, let bytes, let milliseconds):
            unsafe bytes.withUnsafeBytes {
                unsafe connections[number]?.record.add(
                    $0, direction, milliseconds: milliseconds, order: &requests)
            }
            return number
        case .missed(let number, let direction, let count):
            missedBytes += count
            connections[number]?.record.miss(count, direction)
            return number
        case .closed(let number):
            end(number)
            return number
        }
    }

    private mutating func end(_ number: Int) {
        connections[number]?.record.end()
        write(number)
        connections[number] = nil
    }

    /// Writes the pending text of a connection.
    private mutating func write(_ number: Int) {
        guard let text = connections[number]?.record.takeText(), !text.isEmpty, !isBroken,
            let connection = connections[number]
        else { return }
        do throws(SystemError) {
            if connection.hasFile {
                try folder.add(text, to: connection.fileName)
            } else {
                try folder.make(connection.fileName, content: heading(number, connection.peer) + text)
                connections[number]?.hasFile = true
            }
        } catch {
            isBroken = true
            log.error(
                "recording stopped: cannot write to the recording folder", ["reason": error.description])
        }
    }

    private func heading(_ number: Int, _ peer: String) -> [UInt8] {
        var text = "\(RecordingText.mark)\(Transcript.Kind.recording.rawValue)\n"
        text += "Name: connection \(number)\nClient: \(peer)\nRecorded: "
        let time = HTTPDate.iso8601(Timestamp(nanoseconds: Clock.wallNow()))
        return Array(text.utf8) + time + [UInt8(ascii: "\n")]
    }

    private func report(_ queue: RecordingQueue) {
        let refused = queue.refusedConnections
        guard missedBytes > 0 || refused > 0 else { return }
        log.warning(
            "recording is incomplete: the queue was full",
            ["missed_bytes": "\(missedBytes)", "missed_connections": "\(refused)"])
    }
}
