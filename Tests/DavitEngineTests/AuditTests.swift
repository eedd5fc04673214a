import DavitAccess
import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Keeps the events of a share, and decides whether changes are admitted.
final class RecordingTrail: AuditTrail {
    private struct State {
        var events: [AuditEvent] = []
        var admission = AuditAdmission.admitted
    }
    private let state = Mutex(State())

    func admission() -> AuditAdmission { state.withLock { $0.admission } }
    func record(_ event: AuditEvent) { state.withLock { $0.events.append(event) } }
    func set(_ admission: AuditAdmission) { state.withLock { $0.admission = admission } }

    /// Returns and clears the events.
    func take() -> [AuditEvent] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// The events as texts such as `move /a /b by anna`.
    func texts() -> [String] {
        take().map { event in
            var text = event.operation.rawValue
            switch event.result {
            case .done: break
            case .partial: text += " in part"
            case .unknown: text += " unknown"
            case .refused(let status): text += " refused \(status.code)"
            }
            text += " \(event.path?.description ?? "")"
            if let destination = event.destination { text += " \(destination)" }
            if let bytes = event.bytes { text += " \(bytes)" }
            if let members = event.members { text += " with \(members.count)" }
            if event.trashID != nil { text += " trash" }
            if let name = event.request?.principal { text += " by \(name)" }
            return text
        }
    }
}

struct AuditTests {
    private static func share(
        _ trail: RecordingTrail, _ folder: TemporaryFolder? = nil,
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws -> TestShare {
        try TestShare(folder) { configuration in
            configuration.audit = ShareAudit(trail, folder: "/srv")
            configure(&configuration)
        }
    }

    typealias Row = (
        method: String, target: String, fields: [(String, String)], body: String?, status: UInt16,
        record: String?
    )

    static let rows: [Row] = [
        ("PUT", "/new", [], "xyz", 201, "upload /new 3"), ("PUT", "/a", [], "x", 204, "upload /a 1"),
        ("PUT", "/l/new", [], "x", 201, "upload /d/new 1"),
        ("PUT", "/large", [], String(repeating: "x", count: 200_000), 201, "upload /large 200000"),
        ("PUT", "/new", [("Content-Range", "bytes 0-0/2")], "x", 201, "upload /new 1"),
        ("PATCH", "/a", ShareHooksTests.append, "x", 204, "upload /a 3"),
        ("POST", "/l/?add-member", [("Slug", "new")], "x", 201, "upload /d/new 1"),
        ("MKCOL", "/new", [], nil, 201, "create-folder /new"),
        (
            "MKCOL", "/new", [ExtendedMkColTests.xml], ExtendedMkColTests.body("<x:p/>"), 201,
            "create-folder /new"
        ),
        ("DELETE", "/a", [], nil, 204, "delete /a"), ("DELETE", "/d", [], nil, 204, "delete /d with 3"),
        ("DELETE", "/l", [], nil, 204, "delete /l"),
        ("COPY", "/a", [("Destination", "/c")], nil, 201, "copy /a /c"),
        ("MOVE", "/a", [("Destination", "/c")], nil, 201, "move /a /c"),
        ("MOVE", "/d", [("Destination", "/a")], nil, 204, "move /d /a"),
        ("LOCK", "/new", [], lockBody(scope: "exclusive"), 201, "lock /new"),
        ("LOCK", "/a", [], lockBody(scope: "exclusive"), 200, "lock /a"),
        ("PROPPATCH", "/a", [], setProperty("p", "1"), 207, "set-properties /a"),
        ("PROPFIND", "/", [("Depth", "1")], nil, 207, nil), ("GET", "/a", [], nil, 200, nil),
        // A request that is not refused because of rights or locks is no concern of the audit log.
        ("PUT", "/none/a", [], "x", 409, nil), ("PUT", "/a", [("If-Match", "\"x\"")], "x", 412, nil),
        ("MKCOL", "/a", [], nil, 405, nil), ("DELETE", "/none", [], nil, 404, nil),
        ("DELETE", "/", [], nil, 403, "delete refused 403 /"),
        ("MOVE", "/a", [("Destination", "/a")], nil, 403, "move refused 403 /a /a"),
    ]

    @Test("each change is recorded once", arguments: ["/tmp", "/dev/shm"])
    func changesAreRecorded(parent: String) async throws {
        for row in Self.rows {
            let trail = RecordingTrail()
            let share = try Self.share(trail, TemporaryFolder(in: parent))
            #expect(share.shell(ShareHooksTests.setUp) == 0)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) }, principal: "anna")
            #expect(response.status == row.status, "\(row)")
            #expect(
                trail.texts() == (row.record.map { ["\($0) by anna"] } ?? []), "\(row.method) \(row.target)")
        }
    }

    /// Changes that a full audit log refuses change nothing.
    @Test(
        "a change that cannot be recorded is refused",
        arguments: [(AuditAdmission.outOfSpace, 507), (.unavailable, 503)] as [(AuditAdmission, UInt16)],
        ["/tmp", "/dev/shm"])
    func changesAreRefused(refusal: (admission: AuditAdmission, status: UInt16), parent: String) async throws
    {
        for row in Self.rows where row.record != nil && row.status < 300 {
            let trail = RecordingTrail()
            let share = try Self.share(trail, TemporaryFolder(in: parent))
            #expect(share.shell(ShareHooksTests.setUp) == 0)
            trail.set(refusal.admission)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) })
            #expect(response.status == refusal.status, "\(row)")
            #expect(trail.take().isEmpty)
            let unchanged = "[ -f a ] && [ -f b ] && [ -d d ] && [ -f d/e/g ] && [ -L l ]"
            let nothingNew = "[ ! -e new ] && [ ! -e c ] && [ ! -e large ]"
            #expect(share.shell("\(unchanged) && \(nothingNew)") == 0, "\(row)")
            #expect(share.state.locks(under: .root, now: .init(seconds: 0)).isEmpty)
        }
    }

    @Test func lockedResourcesAreRecordedAsRefused() async throws {
        let trail = RecordingTrail()
        let share = try Self.share(trail)
        let locked = try await share.client.send(
            "LOCK", "/a", text: lockBody(scope: "exclusive"), principal: "anna")
        let token = try #require(locked["Lock-Token"])
        #expect(try await share.client.send("PUT", "/a", text: "x", principal: "ben").status == 423)
        let refresh = try await share.client.send("LOCK", "/a", [("If", "(\(token))")], principal: "anna")
        #expect(refresh.status == 200)
        for (name, status) in [("ben", 403), ("anna", 204)] as [(String, UInt16)] {
            let unlock = try await share.client.send("UNLOCK", "/a", [("Lock-Token", token)], principal: name)
            #expect(unlock.status == status)
        }
        #expect(
            trail.texts() == [
                "lock /a by anna", "upload refused 423 /a by ben", "unlock refused 403 /a by ben",
                "unlock /a by anna",
            ])
    }

    @Test func trashIsRecordedWithItsEntries() async throws {
        let trail = RecordingTrail()
        let share = try Self.share(trail) { $0.trash = .init() }
        _ = try await share.client.send("PUT", "/a", text: "1")
        let gone = try await share.client.send("DELETE", "/a")
        let events = trail.take()
        #expect(events.last?.trashID == gone["Davit-Trash"])
        #expect(events.last?.trashID != nil)
        #expect(try await share.restore(gone["Davit-Trash"]).status == 201)
        #expect(trail.texts() == ["restore /a /a trash"])
        _ = try await share.client.send("DELETE", "/a")
        _ = trail.take()
        #expect(share.share.trashMaintenance.purge { _ in true } == 1)
        #expect(trail.texts() == ["purge /a trash"])
    }

    @Test func membersOfAFolderAreListedUpToALimit() async throws {
        let trail = RecordingTrail()
        let share = try Self.share(trail)
        #expect(share.shell("mkdir -p d/e; cd d/e; seq 1 1200 | xargs touch") == 0)
        #expect(try await share.client.send("DELETE", "/d").status == 204)
        let members = try #require(trail.take().first?.members)
        #expect(members.count == 1_201)
        #expect(members.paths.count == 1_000)
        #expect(members.paths.first?.description == "/d/e")
        #expect(members.isComplete)
    }

    private static let subfolder = ResourcePath(unchecked: Array("d/e".utf8))

    /// The record of a deletion shows if some of the deleted members are missing in it.
    @Test(arguments: [WatchedStore.Call.members(subfolder), .nextMember(subfolder)])
    func unreadableMembersMakeTheListIncomplete(_ call: WatchedStore.Call) async throws {
        let trail = RecordingTrail()
        let share = try Self.share(trail)
        #expect(share.shell("mkdir -p d/e; touch d/a d/e/b") == 0)
        // Only the listing for the record fails, not the removal that follows.
        let hasFailed = Atomic(false)
        share.resources.watch { found in
            found == call && !hasFailed.exchange(true, ordering: .relaxed) ? .forbidden : nil
        }
        #expect(try await share.client.send("DELETE", "/d").status == 204)
        let members = try #require(trail.take().first?.members)
        #expect(members.paths.map(\.description).sorted() == ["/d/a", "/d/e"])
        #expect(!members.isComplete)
    }
}
