import DavitAccess
import DavitHTTP
import DavitLogging
import DavitOutbox
import DavitSQLite
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// A receiver whose answers a test determines.
final class TestReceiver: EventReceiver {
    private struct State {
        var received: [(id: String, line: AuditLine)] = []
        /// What the next attempts return; then events are delivered.
        var answers: [DeliveryResult] = []
        var attempts = 0
        var isHolding = false
    }
    let name: String
    private let monitor = Monitor(State())

    init(_ name: String, _ answers: [DeliveryResult] = []) {
        self.name = name
        monitor.withLock { $0.answers = answers }
    }

    func deliver(_ event: DeliveredEvent, isCancelled: @escaping @Sendable () -> Bool) -> DeliveryResult {
        while monitor.withLock({ $0.isHolding }) {
            if isCancelled() { return .cancelled }
            SystemThread.sleep(milliseconds: 1)
        }
        let line = AuditLine(parsing: event.json)
        let answer = monitor.withLock { state -> DeliveryResult in
            state.attempts += 1
            let answer = state.answers.isEmpty ? .delivered : state.answers.removeFirst()
            if answer == .delivered, let line { state.received.append((event.id, line)) }
            return answer
        }
        monitor.broadcast()
        return answer
    }

    /// Keeps deliveries from ending.
    func hold() { monitor.withLock { $0.isHolding = true } }
    func release() { monitor.withLock { $0.isHolding = false } }

    /// Waits until this number of events has been received, and returns them.
    func events(_ count: Int) -> [(id: String, line: AuditLine)] {
        monitor.wait { $0.received.count >= count ? $0.received : nil }
    }

    /// Waits until the event of a resource has been received, and returns all events.
    func events(until path: String) -> [(id: String, line: AuditLine)] {
        monitor.wait { $0.received.last?.line.text("path") == path ? $0.received : nil }
    }

    func waitForAttempts(_ count: Int) { monitor.wait { $0.attempts >= count ? () : nil } }

    var paths: [String] { monitor.withLock { $0.received.map { $0.line.text("path") ?? "" } } }
}

final class Reports: Sendable {
    private let all = Mutex<[Outbox.Report]>([])
    func add(_ report: Outbox.Report) { all.withLock { $0.append(report) } }
    var list: [Outbox.Report] { all.withLock { $0 } }
}

/// Events are delivered at least once, in order, whatever happens to receivers and server.
struct OutboxTests {
    private let folder: TemporaryFolder
    private let reports = Reports()

    init() throws { folder = try TemporaryFolder() }

    private func outbox(
        _ receivers: [any EventReceiver], limit: Int = 1_000, wallNow: @escaping @Sendable () -> Int64 = { 0 }
    ) throws -> Outbox {
        let outbox = Outbox(
            receivers, operations: [.upload, .move], limit: limit, wallNow: wallNow, pause: { _ in 0 },
            report: { [reports] in reports.add($0) })
        try outbox.open(folder: folder.path, survivesPowerLoss: false)
        return outbox
    }

    private func event(_ path: String, _ operation: AuditEvent.Operation = .upload) throws -> AuditEvent {
        var event = AuditEvent(operation)
        event.path = ResourcePath(segments: path.split(separator: "/").map { Array($0.utf8) })
        return event
    }

    private func change(_ paths: [String], in outbox: Outbox) throws {
        for path in paths {
            let event = try event(path)
            outbox.complete(try outbox.prepare(event), event)
        }
    }

    @Test func eventsAreDeliveredInOrderToAllReceivers() throws {
        let receivers = [TestReceiver("a"), TestReceiver("b")]
        let outbox = try outbox(receivers)
        outbox.start()
        defer { outbox.stop() }
        let paths = (0..<200).map { "/\($0)" }
        try change(paths, in: outbox)
        for receiver in receivers {
            let events = receiver.events(200)
            #expect(events.map { $0.line.text("path") } == paths)
            #expect(Set(events.map(\.id)).count == 200)
            #expect(events.map { $0.line.number("sequence") } == (1...200).map { Int64($0) })
            #expect(events.allSatisfy { $0.line.text("id") == $0.id && $0.line.text("result") == "done" })
        }
        #expect(reports.list.isEmpty)
    }

    /// In the order in which the changes end.
    @Test func preparedEventsHoldUpNothing() throws {
        let receiver = TestReceiver("a")
        let outbox = try outbox([receiver])
        outbox.start()
        defer { outbox.stop() }
        let slow = try event("/slow", .move)
        let id = try outbox.prepare(slow)
        outbox.cancel(try outbox.prepare(try event("/cancelled")))
        try change(["/quick"], in: outbox)
        #expect(receiver.events(1).first?.line.text("path") == "/quick")
        outbox.complete(id, slow)
        #expect(receiver.events(2).map { $0.line.text("path") } == ["/quick", "/slow"])
        #expect(receiver.events(2).last?.id == id)
        #expect(!outbox.accepts(.lock))
    }

    /// If the server ends during a change, its event is delivered with an unknown result.
    @Test func interruptedChangesHaveUnknownResults() throws {
        var ids: [String] = []
        do {
            // Never started, and not stopped either, as after kill -9.
            let outbox = try outbox([TestReceiver("a")])
            try change(["/done"], in: outbox)
            ids.append(try outbox.prepare(try event("/first")))
            ids.append(try outbox.prepare(try event("/second")))
        }
        let receiver = TestReceiver("a")
        let outbox = try outbox([receiver])
        outbox.start()
        let events = receiver.events(3)
        outbox.stop()
        #expect(events.map { $0.line.text("path") } == ["/done", "/first", "/second"])
        #expect(events.map { $0.line.text("result") } == ["done", "unknown", "unknown"])
        #expect(events.dropFirst().map(\.id) == ids)
    }

    @Test func nothingIsLostOrRepeatedByARestart() throws {
        let first = TestReceiver("a")
        do {
            let outbox = try outbox([first])
            outbox.start()
            try change(["/1", "/2"], in: outbox)
            _ = first.events(2)
            first.hold()
            try change(["/3", "/4"], in: outbox)
            outbox.stop()
        }
        #expect(first.paths == ["/1", "/2"])
        let second = TestReceiver("a")
        let outbox = try outbox([second])
        outbox.start()
        try change(["/5"], in: outbox)
        #expect(second.events(3).map { $0.line.text("path") } == ["/3", "/4", "/5"])
        outbox.stop()
        #expect(outbox.statistics.waiting == 0)
        #expect(outbox.statistics.delivered == 3)
    }

    @Test func receiversAreAddedAndForgotten() throws {
        let old = TestReceiver("old")
        old.hold()
        do {
            let outbox = try outbox([old])
            outbox.start()
            try change(["/1"], in: outbox)
            outbox.stop()
        }
        // It has no events of the time before it was added.
        let new = TestReceiver("new")
        do {
            let outbox = try outbox([new])
            outbox.start()
            try change(["/2"], in: outbox)
            #expect(new.events(1).map { $0.line.text("path") } == ["/2"])
            outbox.stop()
        }
        let database = try OutboxDatabase(folder: folder.path, receivers: ["new"], limit: 10)
        #expect(try database.positions() == ["new": 2])
        #expect(try database.events(after: 0, limit: 10).isEmpty)
    }

    @Test func unavailableReceiversAreTriedAgain() throws {
        let answers = [DeliveryResult](repeating: .unavailable(reason: "down"), count: 20)
        let receiver = TestReceiver("a", answers)
        let other = TestReceiver("b")
        let outbox = try outbox([receiver, other])
        outbox.start()
        defer { outbox.stop() }
        try change(["/1", "/2"], in: outbox)
        // It does not hold up the other one.
        _ = other.events(2)
        #expect(receiver.events(2).map { $0.line.text("path") } == ["/1", "/2"])
        #expect(
            reports.list == [.unavailable(receiver: "a", reason: "down"), .availableAgain(receiver: "a")])
    }

    @Test func refusedEventsAreGivenUp() throws {
        let receiver = TestReceiver("a", [DeliveryResult](repeating: .refused(reason: "no"), count: 5))
        let outbox = try outbox([receiver])
        outbox.start()
        defer { outbox.stop() }
        try change(["/1", "/2"], in: outbox)
        #expect(receiver.events(1).map { $0.line.text("path") } == ["/2"])
        guard case .givenUp("a", _, "no")? = reports.list.first else {
            Issue.record("\(reports.list)")
            return
        }
        #expect(outbox.statistics.givenUp == 1)
    }

    @Test func oldEventsAreGivenUp() throws {
        let now = Mutex<Int64>(0)
        let receiver = TestReceiver(
            "a", [DeliveryResult](repeating: .unavailable(reason: "down"), count: 1_000))
        let outbox = try outbox([receiver], wallNow: { now.withLock { $0 } })
        outbox.start()
        defer { outbox.stop() }
        try change(["/1"], in: outbox)
        receiver.waitForAttempts(10)
        #expect(outbox.statistics.givenUp == 0)
        #expect(outbox.statistics.unavailableReceivers == 1)
        now.withLock { $0 = 3 * 86_400 * 1_000_000_000 + 1 }
        try change(["/2"], in: outbox)
        while outbox.statistics.givenUp == 0 { SystemThread.sleep(milliseconds: 1) }
    }

    /// With too many events, the oldest ones are given up, and no others.
    @Test func waitingEventsAreLimited() throws {
        let receiver = TestReceiver("a")
        receiver.hold()
        let outbox = try outbox([receiver], limit: 100)
        outbox.start()
        defer { outbox.stop() }
        // The database deletes events when a position is a multiple of 1024.
        try change((1...2048).map { "/\($0)" }, in: outbox)
        receiver.release()
        let events = receiver.events(until: "/2048")
        #expect(events.contains { $0.line.text("path") == "/1949" })
        #expect(outbox.statistics.givenUp + events.count == 2048)
        #expect(
            reports.list.contains { if case .overflown("a", let count) = $0 { count > 0 } else { false } })
    }

    @Test func pausesGrow() {
        #expect(
            [1, 2, 3, 9, 10, 1_000].map { DeliverySchedule.pause(after: $0) } == [
                1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
            ])
    }

    @Test func aNewerDatabaseIsRefused() throws {
        _ = try outbox([])
        #expect(throws: OutboxError.self) { _ = try outboxAfterVersion(99) }
    }

    private func outboxAfterVersion(_ version: Int) throws -> Outbox {
        let process = ChildProcess(
            "/usr/bin/env", arguments: ["python3", "-c", Self.setVersion, folder.path, "\(version)"],
            seconds: 3_600)
        #expect(try process.run { _ in true }.status == 0)
        return try outbox([])
    }

    private static let setVersion = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1] + "/outbox.sqlite")
        database.execute("PRAGMA user_version = " + sys.argv[2])
        """
}
