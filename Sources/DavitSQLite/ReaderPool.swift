internal import DavitStore
internal import Synchronization

/// Reading connections that wait to be used. There are as many at work as threads that ask at the same time;
/// a few stay open between.
final class ReaderPool: Sendable {
    private let path: String
    private let busyMilliseconds: Int32
    private let idleLimit: Int
    private let idle = Mutex<[RowReader]>([])

    /// - Parameter idleLimit: how many stay open.
    init(path: String, busyMilliseconds: Int32, idleLimit: Int) {
        self.path = path
        self.busyMilliseconds = busyMilliseconds
        self.idleLimit = idleLimit
    }

    /// See ``Statement/scanSteps``; of the connections that are idle.
    var scanSteps: Int { idle.withLock { $0.reduce(0) { $0 + $1.scanSteps } } }

    func withReader<R>(_ body: (RowReader) throws(StateError) -> R) throws(StateError) -> R {
        let waiting = idle.withLock { $0.popLast() }
        let reader =
            if let waiting { waiting } else { try RowReader(path: path, busyMilliseconds: busyMilliseconds) }
        // A statement that failed has been reset: the connection is as good as before.
        defer { idle.withLock { if $0.count < idleLimit { $0.append(reader) } } }
        return try body(reader)
    }
}
