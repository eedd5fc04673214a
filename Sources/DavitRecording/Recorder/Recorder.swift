internal import DavitHTTP
package import DavitLogging
package import DavitSystem
package import DavitTransport

/// Records the traffic between a server and its clients in a folder: one file per connection, readable by its
/// owner only.
///
/// Event loops copy bytes into a queue without blocking; one thread reads the queue, finds the messages,
/// masks credentials and writes the files. If the disk is too slow, the queue fills up, and further bytes are
/// dropped and counted.
package final class Recorder: Sendable {
    /// The reason why the folder cannot be used for a recording.
    package enum Failure: Error, Hashable, Sendable {
        /// The folder is not empty. Each folder holds one recording.
        case notEmpty
        case notUsable(SystemError)
    }

    package struct Limits: Sendable {
        /// Longer content is recorded as its length and digest or, if it repeats one byte, as that byte.
        package var contentBytes = 64 * 1024
        /// The approximate maximum number of bytes in the queue.
        package var queueBytes = 32 * 1024 * 1024
        package var queueItems = 100_000

        package init() {}
    }

    private let queue: RecordingQueue
    private let finished = Latch(count: 1)

    /// Creates the folder if it is missing, and starts the writer thread.
    package init(folder path: String, limits: Limits = Limits(), log: Log) throws(Failure) {
        queue = RecordingQueue(limits)
        do throws(SystemError) {
            let folder = try PrivateFolder(making: path)
            if try folder.names().isEmpty {
                let writer = Exclusive(RecordingWriter(folder, limits: limits, log: log))
                try SystemThread.start(named: "davit-record") { [queue, finished] in
                    // Leave signals to the other threads, so that they do not interrupt writes to the files.
                    Signals.blockAll()
                    writer.withValue { $0.run(queue) }
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

    /// Returns a tap for a new connection, or nil if the queue is full or recording has stopped.
    package func tap(for peer: String) -> (any ConnectionTap)? {
        guard let number = queue.open(peer: peer) else { return nil }
        return RecordingTap(number, queue: queue)
    }

    /// Writes the queued data and stops; later data is not recorded. Blocks.
    package func stop() {
        queue.end()
        finished.wait()
    }
}

/// Copies the bytes of a connection into the queue. Its methods are called only on the connection's event
/// loop.
private final class RecordingTap: ConnectionTap {
    private typealias Gap = (direction: ConnectionTranscript.Direction, count: Int64)

    private let number: Int
    private let queue: RecordingQueue
    /// The numbers of dropped bytes, in order, until these numbers can be queued.
    private let missed = Exclusive<[Gap]>([])

    init(_ number: Int, queue: RecordingQueue) {
        self.number = number
        self.queue = queue
    }

    func received(_ bytes: UnsafeRawBufferPointer) { unsafe add(bytes, .received) }

    func sent(_ bytes: UnsafeRawBufferPointer) { unsafe add(bytes, .sent) }

    func closed() {
        missed.withValue { missed in
            for gap in missed { queue.miss(number, gap.direction, gap.count) }
        }
        queue.close(number)
    }

    private func add(_ bytes: UnsafeRawBufferPointer, _ direction: ConnectionTranscript.Direction) {
        guard bytes.count > 0 else { return }
        missed.withValue { missed in
            if !missed.isEmpty, queue.hasRoom(for: bytes.count) {
                for gap in missed { queue.miss(number, gap.direction, gap.count) }
                missed = []
            }
            // The numbers of missed bytes must be queued first, so that the bytes stay in order.
            if missed.isEmpty, unsafe queue.add(number, direction, bytes) { return }
            if missed.last?.direction == direction {
                missed[missed.count - 1].count += Int64(bytes.count)
            } else {
                missed.append((direction, Int64(bytes.count)))
            }
        }
    }
}
