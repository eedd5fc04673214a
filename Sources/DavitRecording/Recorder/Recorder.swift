internal import DavitHTTP
package import DavitSystem
package import DavitTransport

/// Writes what a server and its clients say to each other into a folder: a file for each connection, for its owner alone.
///
/// Event loops copy bytes into a queue and go on; one thread reads the queue, finds the messages, masks credentials and
/// writes. Where the disk is too slow the queue fills, and what comes then is left out and counted.
package final class Recorder: Sendable {
    /// Why nothing can be recorded there.
    package enum Failure: Error, Hashable, Sendable {
        /// It holds a recording, or something else; one folder is one session.
        case notEmpty
        case notUsable(SystemError)
    }

    package struct Limits: Sendable {
        /// Longer content is recorded as its length and its digest.
        package var contentBytes = 64 * 1024
        /// So much waits for the thread that writes.
        package var queueBytes = 32 * 1024 * 1024
        package var queueItems = 100_000

        package init() {}
    }

    private let queue: RecordingQueue
    private let finished = Latch(count: 1)

    /// Makes the folder if it is missing, and starts the thread.
    package init(folder path: String, limits: Limits = Limits(), log: Log) throws(Failure) {
        queue = RecordingQueue(limits)
        do throws(SystemError) {
            let folder = try PrivateFolder(making: path)
            if try folder.names().isEmpty {
                let writer = RecordingWriter(folder, limits: limits, log: log)
                try Thread.start(named: "davit-record") { [queue, finished] in
                    // It is older than the signals' own descriptor.
                    Signals.blockAll()
                    writer.run(queue)
                    finished.countDown()
                }
                return
            }
        } catch {
            throw .notUsable(error)
        }
        throw .notEmpty
    }

    deinit { queue.end() }

    /// A tap for a new connection; nil if too much waits to record another one.
    package func tap(for peer: String) -> (any ConnectionTap)? {
        guard let number = queue.open(peer: peer) else { return nil }
        return RecordingTap(number, queue: queue)
    }

    /// Writes what is queued and ends; what comes later is not recorded. Blocks.
    package func stop() {
        queue.end()
        finished.wait()
    }
}

/// Copies the bytes of a connection into the queue.
///
/// Its state belongs to the loop of the connection, which makes all calls: that makes the unchecked conformance true.
private final class RecordingTap: ConnectionTap, @unchecked Sendable {
    private let number: Int
    private let queue: RecordingQueue
    /// Bytes there was no room for.
    private var missed: [(direction: ConnectionRecord.Direction, count: Int64)] = []

    init(_ number: Int, queue: RecordingQueue) {
        self.number = number
        self.queue = queue
    }

    func received(_ bytes: UnsafeRawBufferPointer) { unsafe add(bytes, .received) }

    func sent(_ bytes: UnsafeRawBufferPointer) { unsafe add(bytes, .sent) }

    func closed() {
        for gap in missed { queue.miss(number, gap.direction, gap.count) }
        queue.close(number)
    }

    private func add(_ bytes: UnsafeRawBufferPointer, _ direction: ConnectionRecord.Direction) {
        guard bytes.count > 0 else { return }
        if !missed.isEmpty, queue.hasRoom(for: bytes.count) {
            for gap in missed { queue.miss(number, gap.direction, gap.count) }
            missed = []
        }
        // Nothing may overtake what was missed.
        if missed.isEmpty, unsafe queue.add(number, direction, bytes) { return }
        if missed.last?.direction == direction {
            missed[missed.count - 1].count += Int64(bytes.count)
        } else {
            missed.append((direction, Int64(bytes.count)))
        }
    }
}
