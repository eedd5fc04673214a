package import DavitAccess
internal import DavitHTTP
internal import DavitLogging
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Stores events in a database, and delivers them to their receivers: each at least once, and to each receiver in the
/// order of the changes.
///
/// A thread for each receiver delivers one event after the other. While a receiver cannot be used, its events wait for
/// up to three days; an event that it refuses is given up after five attempts. At most ``waitingLimit`` events wait;
/// then the oldest ones are given up.
package final class Outbox: ChangeOutbox {
    /// An entry for the log.
    package enum Report: Hashable, Sendable {
        /// A receiver cannot be used; its events wait. Reported once until it can be used again.
        case unavailable(receiver: String, reason: String)
        case availableAgain(receiver: String)
        /// An event was given up.
        case givenUp(receiver: String, id: String, reason: String)
        /// Events were given up, because too many are waiting.
        case overflown(receiver: String, count: Int)
        /// The database cannot be used.
        case broken(reason: String)
    }

    /// The numbers of events, each counted once for each receiver, since the start of the server.
    package struct Statistics: Hashable, Sendable {
        package var waiting = 0
        package var delivered = 0
        package var givenUp = 0
        /// The number of receivers that cannot be used now.
        package var unavailableReceivers = 0
    }

    /// The maximum number of events that wait for a receiver.
    package static let waitingLimit = 100_000
    /// The length in bytes from which members of a deleted collection are left out of an event.
    private static let memberBytes = 8 << 10
    private static let batchSize = 64
    /// How often a database that cannot be used is tried again, in milliseconds.
    private static let databasePause: Int64 = 1000

    private struct State {
        var statistics = Statistics()
        var positions: [String: Int64] = [:]
        /// Changes of the database that have failed, to be made before the next ones.
        var failedWrites: [OutboxDatabase.Write] = []
        var isStopping = true
        var threads = 0
    }

    private let receivers: [any EventReceiver]
    private let operations: Set<AuditEvent.Operation>
    private let report: @Sendable (Report) -> Void
    private let wallNow: @Sendable () -> Int64
    private let pause: @Sendable (_ attempts: Int) -> Int64
    private let limit: Int
    private let monitor = Monitor(State())
    private let line = Mutex<GroupCommitQueue<OutboxDatabase.Write, StateError>?>(nil)
    private let opened = Mutex<OutboxDatabase?>(nil)

    /// - Parameters:
    ///   - operations: the operations whose events are delivered.
    ///   - limit: the maximum number of events that wait for a receiver.
    ///   - wallNow: returns nanoseconds since 1970.
    ///   - pause: returns the milliseconds after which a failed delivery is attempted again.
    ///   - report: called on any thread; must return quickly.
    package init(
        _ receivers: [any EventReceiver], operations: Set<AuditEvent.Operation>, limit: Int = waitingLimit,
        wallNow: @escaping @Sendable () -> Int64 = { Clock.wallNow() },
        pause: (@Sendable (_ attempts: Int) -> Int64)? = nil, report: @escaping @Sendable (Report) -> Void
    ) {
        self.receivers = receivers
        self.operations = operations
        self.limit = limit
        self.wallNow = wallNow
        self.pause = pause ?? { DeliverySchedule.pause(after: $0) }
        self.report = report
    }

    // MARK: Life cycle

    /// Opens the database in a state folder, whose lock the caller holds. Must be called before any change.
    /// - Throws: ``OutboxError``
    package func open(folder: String, survivesPowerLoss: Bool) throws(OutboxError) {
        do throws(StateError) {
            let database = try OutboxDatabase(
                folder: folder, receivers: receivers.map(\.name), limit: limit,
                durability: survivesPowerLoss ? .powerLoss : .processDeath,
                onCommit: { FileFaults.step("sqlite-commit") })
            let positions = try database.positions()
            monitor.withLock { $0.positions = positions }
            opened.withLock { $0 = database }
            let queue = GroupCommitQueue<OutboxDatabase.Write, StateError>(background: .immediate) {
                database.commit($0)
            }
            line.withLock { $0 = queue }
        } catch {
            throw OutboxError(error)
        }
    }

    /// Starts to deliver events.
    package func start() {
        guard let database = opened.withLock({ $0 }) else { return }
        monitor.withLock { $0.isStopping = false }
        for receiver in receivers {
            monitor.withLock { $0.threads += 1 }
            do throws(SystemError) {
                try SystemThread.start(named: "davit-events") { [self] in
                    FileFaults.uncounted { deliverAll(to: receiver, database) }
                    monitor.withLock { $0.threads -= 1 }
                    monitor.broadcast()
                }
            } catch {
                monitor.withLock { $0.threads -= 1 }
                report(.unavailable(receiver: receiver.name, reason: error.description))
            }
        }
    }

    /// Stops delivering events, and waits until running deliveries have been ended. Events that were not delivered
    /// remain stored.
    package func stop() {
        monitor.withLock { $0.isStopping = true }
        monitor.broadcast()
        monitor.wait { $0.threads == 0 ? () : nil }
        writeFailedOnes()
    }

    package var statistics: Statistics {
        let newest = opened.withLock { $0?.newestPosition } ?? 0
        return monitor.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.positions.values.reduce(0) { $0 + Int(max(0, newest - $1)) }
            return statistics
        }
    }

    // MARK: Events

    package func accepts(_ operation: AuditEvent.Operation) -> Bool { operations.contains(operation) }

    package func prepare(_ event: AuditEvent) throws(OutboxError) -> String {
        let id = Self.newID()
        let now = wallNow()
        var event = event
        event.result = .unknown
        try write(.prepare(id: id, time: now, json: Self.json(event, now)))
        writeFailedOnes()
        return id
    }

    package func complete(_ id: String, _ event: AuditEvent) {
        let now = wallNow()
        writeOrKeep(.complete(id: id, time: now, json: Self.json(event, now)))
        wakeThreads()
    }

    package func cancel(_ id: String) { writeOrKeep(.cancel(id: id)) }

    /// 128 random bits.
    private static func newID() -> String {
        let words = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
        return words.map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }

    private static func json(_ event: AuditEvent, _ time: Int64) -> [UInt8] {
        var json: [UInt8] = []
        AuditRecord.append(event, time: time, suppressed: 0, memberBytes: memberBytes, to: &json)
        return json
    }

    // MARK: Writing

    private func write(_ write: OutboxDatabase.Write) throws(OutboxError) {
        guard let line = line.withLock({ $0 }) else { throw .failed(reason: "the outbox is not open") }
        if let error = line.perform(write) { throw OutboxError(error) }
    }

    /// Makes a change that must not be lost. If it fails, it is repeated with later ones; after the end of the server,
    /// a prepared event is delivered with an unknown result.
    private func writeOrKeep(_ write: OutboxDatabase.Write) {
        do throws(OutboxError) { try self.write(write) } catch {
            monitor.withLock { $0.failedWrites.append(write) }
            report(.broken(reason: error.text))
        }
    }

    private func writeFailedOnes() {
        let writes = monitor.withLock { state in
            defer { state.failedWrites = [] }
            return state.failedWrites
        }
        for write in writes { writeOrKeep(write) }
        if !writes.isEmpty { wakeThreads() }
    }

    /// Wakes the threads that wait for events, also one that has just looked and is about to wait.
    private func wakeThreads() {
        monitor.withLock { _ in }
        monitor.broadcast()
    }

    // MARK: Delivering

    /// Delivers events until the server stops.
    private func deliverAll(to receiver: any EventReceiver, _ database: OutboxDatabase) {
        while waitForEvents(receiver, database) {
            var position = monitor.withLock { $0.positions[receiver.name] ?? 0 }
            let events: [StoredEvent]
            do throws(StateError) {
                events = try database.events(after: position, limit: Self.batchSize)
            } catch {
                report(.broken(reason: error.text))
                if !rest(Self.databasePause) { return }
                continue
            }
            for event in events {
                if event.position > position + 1 {
                    giveUp(Int(event.position - position - 1), receiver)
                }
                guard deliver(event, to: receiver) else { return }
                position = event.position
                finish(position, receiver)
            }
        }
    }

    /// Waits until there are events for a receiver.
    /// - Returns: false if the server stops.
    private func waitForEvents(_ receiver: any EventReceiver, _ database: OutboxDatabase) -> Bool {
        monitor.wait { state in
            if state.isStopping { return false }
            return database.newestPosition > state.positions[receiver.name] ?? 0 ? true : nil
        }
    }

    /// Waits for a time.
    /// - Returns: false if the server stops.
    private func rest(_ milliseconds: Int64) -> Bool {
        monitor.wait(milliseconds: milliseconds) { $0.isStopping ? () : nil } == nil
    }

    /// Delivers an event, or gives it up.
    /// - Returns: false if the server stops.
    private func deliver(_ event: StoredEvent, to receiver: any EventReceiver) -> Bool {
        let delivered = DeliveredEvent(id: event.id, sequence: event.position, record: event.json)
        var attempts = 0
        var refusals = 0
        var isUnavailable = false
        defer { if isUnavailable { monitor.withLock { $0.statistics.unavailableReceivers -= 1 } } }
        while true {
            if monitor.withLock({ $0.isStopping }) { return false }
            let result = receiver.deliver(delivered) { [monitor] in monitor.withLock { $0.isStopping } }
            attempts += 1
            switch result {
            case .cancelled: return false
            case .delivered:
                monitor.withLock { $0.statistics.delivered += 1 }
                if isUnavailable { report(.availableAgain(receiver: receiver.name)) }
                return true
            case .refused(let reason):
                refusals += 1
                if refusals == DeliverySchedule.refusalLimit {
                    giveUp(event, receiver, reason)
                    return true
                }
            case .unavailable(let reason):
                if wallNow() - event.time > DeliverySchedule.lifetime {
                    giveUp(event, receiver, reason)
                    return true
                }
                if !isUnavailable {
                    isUnavailable = true
                    monitor.withLock { $0.statistics.unavailableReceivers += 1 }
                    report(.unavailable(receiver: receiver.name, reason: reason))
                }
            }
            if !rest(pause(attempts)) { return false }
        }
    }

    private func giveUp(_ event: StoredEvent, _ receiver: any EventReceiver, _ reason: String) {
        monitor.withLock { $0.statistics.givenUp += 1 }
        report(.givenUp(receiver: receiver.name, id: event.id, reason: reason))
    }

    private func giveUp(_ count: Int, _ receiver: any EventReceiver) {
        monitor.withLock { $0.statistics.givenUp += count }
        report(.overflown(receiver: receiver.name, count: count))
    }

    /// Stores that a receiver has received all events up to a position. If that fails, some are delivered again after a
    /// restart.
    private func finish(_ position: Int64, _ receiver: any EventReceiver) {
        monitor.withLock { $0.positions[receiver.name] = position }
        do throws(OutboxError) {
            try write(.received(receiver: receiver.name, position: position))
        } catch {
            report(.broken(reason: error.text))
        }
    }
}

extension OutboxError {
    fileprivate init(_ error: StateError) {
        self = error == .outOfSpace ? .outOfSpace : .failed(reason: error.text)
    }

    /// A message for the log.
    package var text: String {
        switch self {
        case .outOfSpace: "out of space"
        case .failed(let reason): reason
        }
    }
}
