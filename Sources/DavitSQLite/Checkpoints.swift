internal import CSQLite
internal import DavitStore
internal import Synchronization

/// Brings the write-ahead log back into the database, beside the commits: a checkpoint waits for the disk, and
/// no request should.
///
/// While it runs, commits go on behind it; only a log that has been copied whole starts anew. So where commits
/// never pause, the log grows until ``limit`` pages, and the commit that meets this waits for what is left.
final class Checkpoints: Sendable {
    /// Pages of the log after which it is copied.
    static let step: Int32 = 1_000
    /// Pages of the log, of 4 KiB each, after which a commit waits for the copy: 16 MiB.
    static let limit: Int32 = 4_000

    private let path: String
    private let durability: SQLiteStateStore.Durability
    private let busyMilliseconds: Int32
    private let background: BackgroundWork
    private let connection = Mutex(Opened())
    /// The length of the log at the last copy.
    private let copied = Mutex<Int32>(0)

    private struct Opened: ~Copyable {
        var connection: Connection?
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

    /// To be called after each commit.
    /// - Parameter pages: the length of the log.
    func note(logPages pages: Int32) {
        let isDue = copied.withLock { copied in
            if pages < copied { copied = 0 }
            guard pages >= copied + Self.step else { return false }
            copied = pages
            return true
        }
        guard isDue else { return }
        if pages >= Self.limit { run() } else { background.run { self.run() } }
    }

    /// A fault is left to the next one: the log holds what was committed. A disk without room for the copy
    /// has none for the log either, and the commits say so.
    private func run() {
        connection.withLock { opened in
            do throws(StateError) {
                if opened.connection == nil {
                    let connection = try Connection(path: path, busyMilliseconds: busyMilliseconds)
                    try connection.promise(durability)
                    opened.connection = consume connection
                }
                try opened.connection?.checkpoint()
            } catch {}
        }
    }
}
