internal import Synchronization

/// The level of a log and of all its copies, which can change while the log is in use.
final class LogThreshold: Sendable {
    private let value: Atomic<Int>

    init(_ level: Log.Level) { value = Atomic(level.rawValue) }

    var level: Log.Level { Log.Level(rawValue: value.load(ordering: .relaxed)) ?? .debug }

    func includes(_ level: Log.Level) -> Bool { level.rawValue <= value.load(ordering: .relaxed) }

    func set(_ level: Log.Level) { value.store(level.rawValue, ordering: .relaxed) }
}
