internal import CSQLite
internal import DavitStore
internal import Synchronization

/// Runs checkpoints of the write-ahead log outside of commits, because a checkpoint waits for the disk and
/// requests should not.
///
/// Commits continue during a checkpoint; the log is only reused from its beginning after all of it has been
/// copied. Under constant load the log therefore grows up to ``limit`` pages; the commit that reaches this
/// limit runs a checkpoint itself and waits for it.
final class Checkpoints: Sendable {
    /// The number of log pages after which a checkpoint is scheduled.
    static let step: Int32 = 1_000
    /// The number of log pages, 4 KiB each, from which on commits wait for checkpoints: about 16 MB.
    static let limit: Int32 = 4_000

    private let path: String
    private let durability: SQLiteStateStore.Durability
    private let busyMilliseconds: Int32
    private let background: BackgroundWork
    private let connection = Mutex(Opened())
    /// The length of the log, in pages, when the last checkpoint became due.
    private let copied = Mutex<Int32>(0)

    private struct Opened: ~Copyable {
        var connection: DatabaseConnection?
    }

    init(
        path: String, durability: SQLiteStateStore.Durability, busyMilliseconds: Int32,
        background: BackgroundWork
    ) {
        self.path = path
        self.durability = durability
        self.busyMilliseconds = busyMilliseconds
        self.background = background
    }

    /// Schedules or runs a checkpoint if one is due. To be called after each commit.
    /// - Parameter pages: the length of the log.
    func record(logPages pages: Int32) {
        let isDue = copied.withLock { copied in
            if pages < copied { copied = 0 }
            guard pages >= copied + Self.step else { return false }
            copied = pages
            return true
        }
        guard isDue else { return }
        if pages >= Self.limit { run() } else { background.run { self.run() } }
    }

    /// Runs a checkpoint. An error is ignored, because the log still contains everything that was committed.
    /// If the disk is full, commits fail and report it.
    private func run() {
        connection.withLock { opened in
            do throws(StateError) {
                if opened.connection == nil {
                    let connection = try DatabaseConnection(path: path, busyMilliseconds: busyMilliseconds)
                    try connection.promise(durability)
                    opened.connection = consume connection
                }
                try opened.connection?.checkpoint()
            } catch {}
        }
    }
}
