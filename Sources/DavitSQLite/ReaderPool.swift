internal import DavitStore
internal import Synchronization

/// A pool of reading connections. There are as many active connections as concurrent readers; a few stay open
/// when idle.
final class ReaderPool: Sendable {
    private let path: String
    private let busyMilliseconds: Int32
    private let idleLimit: Int
    private let idle = Mutex<[RowReader]>([])

    /// - Parameter idleLimit: the maximum number of idle connections.
    init(path: String, busyMilliseconds: Int32, idleLimit: Int) {
        self.path = path
        self.busyMilliseconds = busyMilliseconds
        self.idleLimit = idleLimit
    }

    /// See ``Statement/scanSteps``; for idle connections only.
    var scanSteps: Int { idle.withLock { $0.reduce(0) { $0 + $1.scanSteps } } }

    func withReader<R>(_ body: (RowReader) throws(StateError) -> R) throws(StateError) -> R {
        let waiting = idle.withLock { $0.popLast() }
        let reader =
            if let waiting { waiting } else { try RowReader(path: path, busyMilliseconds: busyMilliseconds) }
        // A failed statement has been reset, so the connection can be reused.
        defer { idle.withLock { if $0.count < idleLimit { $0.append(reader) } } }
        return try body(reader)
    }
}
