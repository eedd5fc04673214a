import DavitAccess
import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Keeps events as texts, or refuses them.
final class RecordingOutbox: ChangeOutbox {
    private struct State {
        var prepared: [String: AuditEvent] = [:]
        var completed: [AuditEvent] = []
        var cancelled = 0
        var error: OutboxError?
        var count = 0
    }
    private let state = Mutex(State())
    private let operations: Set<AuditEvent.Operation>

    init(_ operations: Set<AuditEvent.Operation> = Set(AuditEvent.Operation.allCases)) {
        self.operations = operations
    }

    func accepts(_ operation: AuditEvent.Operation) -> Bool { operations.contains(operation) }

    func prepare(_ event: AuditEvent) throws(OutboxError) -> String {
        let result = state.withLock { state -> Result<String, OutboxError> in
            if let error = state.error { return .failure(error) }
            state.count += 1
            state.prepared["\(state.count)"] = event
            return .success("\(state.count)")
        }
        return try result.get()
    }

    func complete(_ id: String, _ event: AuditEvent) {
        state.withLock { state in
            let prepared = state.prepared.removeValue(forKey: id)
            #expect(prepared?.path == event.path && prepared?.operation == event.operation)
            #expect(prepared?.share == "/srv" && event.share == "/srv")
            state.completed.append(event)
        }
    }

    func cancel(_ id: String) {
        state.withLock { state in
            #expect(state.prepared.removeValue(forKey: id) != nil)
            state.cancelled += 1
        }
    }

    func fail(_ error: OutboxError) { state.withLock { $0.error = error } }

    /// The number of events that are prepared, but neither completed nor cancelled.
    var openCount: Int { state.withLock { $0.prepared.count } }
    var cancelledCount: Int { state.withLock { $0.cancelled } }
    func take() -> [AuditEvent] {
        state.withLock { state in
            defer { state.completed = [] }
            return state.completed
        }
    }
}

/// Each change has one event, which is stored before the change and completed after it.
struct OutboxTests {
    private static func share(_ outbox: RecordingOutbox, _ folder: TemporaryFolder? = nil) throws -> TestShare
    {
        try TestShare(folder) { $0.outbox = ShareOutbox(outbox, folder: "/srv") }
    }

    @Test("each change has one event", arguments: ["/tmp", "/dev/shm"])
    func changesHaveEvents(parent: String) async throws {
        for row in AuditTests.rows {
            let outbox = RecordingOutbox()
            let share = try Self.share(outbox, TemporaryFolder(in: parent))
            #expect(share.shell(ShareHooksTests.setUp) == 0)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) }, principal: "anna")
            #expect(response.status == row.status, "\(row)")
            let trail = RecordingTrail()
            for event in outbox.take() { trail.record(event) }
            let isChange = row.record != nil && row.status < 300
            #expect(trail.texts() == (isChange ? ["\(row.record!) by anna"] : []), "\(row)")
            #expect(outbox.openCount == 0)
        }
    }

    /// The event of a change must be stored before the change, because the server can end in between.
    @Test(
        "a change without an event is refused",
        arguments: [(OutboxError.outOfSpace, 507), (.failed(reason: "x"), 503)] as [(OutboxError, UInt16)],
        ["/tmp", "/dev/shm"])
    func changesWithoutEventsAreRefused(
        failure: (error: OutboxError, status: UInt16), parent: String
    ) async throws {
        for row in AuditTests.rows where row.record != nil && row.status < 300 {
            let outbox = RecordingOutbox()
            let share = try Self.share(outbox, TemporaryFolder(in: parent))
            #expect(share.shell(ShareHooksTests.setUp) == 0)
            outbox.fail(failure.error)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) })
            #expect(response.status == failure.status, "\(row)")
            let unchanged = "[ -f a ] && [ -f b ] && [ -d d ] && [ -f d/e/g ] && [ -L l ]"
            let nothingNew = "[ ! -e new ] && [ ! -e c ] && [ ! -e large ]"
            #expect(share.shell("\(unchanged) && \(nothingNew)") == 0, "\(row)")
            #expect(share.state.locks(under: .root, now: .init(seconds: 0)).isEmpty)
        }
    }

    @Test func failedCommitsCancelTheirEvents() async throws {
        let outbox = RecordingOutbox()
        let share = try Self.share(outbox)
        #expect(share.shell("touch a") == 0)
        share.resources.watch { $0 == .rename ? .outOfSpace : nil }
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/b")]).status == 507)
        #expect(outbox.take().isEmpty)
        #expect(outbox.cancelledCount > 0)
        #expect(outbox.openCount == 0)
    }

    /// After an internal error, part of the change may have taken effect.
    @Test func internalErrorsHaveUnknownResults() async throws {
        let outbox = RecordingOutbox()
        let share = try Self.share(outbox)
        #expect(share.shell("touch a") == 0)
        share.resources.watch { $0 == .rename ? .failed(reason: "broken disk") : nil }
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/b")]).status == 500)
        let events = outbox.take()
        #expect(events.map(\.operation) == [.move])
        #expect(events.allSatisfy { $0.result == .unknown })
        #expect(outbox.openCount == 0)
    }

    @Test func onlyChosenOperationsHaveEvents() async throws {
        let outbox = RecordingOutbox([.delete])
        let share = try Self.share(outbox)
        #expect(try await share.client.send("PUT", "/a", text: "x").status == 201)
        #expect(try await share.client.send("DELETE", "/a").status == 204)
        #expect(outbox.take().map(\.operation) == [.delete])
    }

    @Test func deletedMembersAreListed() async throws {
        let outbox = RecordingOutbox()
        let share = try Self.share(outbox)
        #expect(share.shell("mkdir -p d/e; touch d/e/f") == 0)
        #expect(try await share.client.send("DELETE", "/d").status == 204)
        #expect(outbox.take().first?.members?.paths.map(\.description) == ["/d/e", "/d/e/f"])
    }
}
