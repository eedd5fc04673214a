import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Change events after errors of the journal.
struct ChangeEventFaultTests {
    typealias Event = EventReader.Event

    private let folder: TemporaryFolder
    private let journal = ScriptedJournal()
    private let share: Share

    init() throws {
        folder = try TemporaryFolder()
        share = try journal.share(of: folder)
    }

    private func reader(since id: String? = nil) async throws -> EventReader {
        let client = TestClient(WebDAVHandler(share: share, page: nil))
        let fields = id.map { [("Last-Event-ID", $0)] } ?? []
        let reader = EventReader(try await client.begin("GET", "/?events", fields))
        if id == nil { try await reader.start() }
        return reader
    }

    /// A recreated journal numbers its changes from a value below those that readers have already seen.
    @Test func recreatedJournalResetsTheStream() async throws {
        let reader = try await reader()
        journal.add("a")
        #expect(try await reader.next() == Event("change", "+ /a"))
        #expect(reader.id == "data:,davit-sync-aa-1001")
        journal.state.withLock {
            $0.position = JournalPosition(journal: "bb", last: 5, forgotten: 0)
            $0.changes = []
        }
        journal.notify()
        #expect(try await reader.next() == Event("reset", "/"))
        #expect(reader.id == "data:,davit-sync-bb-5")
        journal.add("b")
        #expect(try await reader.next() == Event("change", "+ /b"))
        #expect(reader.id == "data:,davit-sync-bb-6")
    }

    @Test func forgottenRemovalsResetTheStream() async throws {
        let reader = try await reader()
        journal.state.withLock { $0.position = JournalPosition(journal: "aa", last: 9_000, forgotten: 5_000) }
        journal.notify()
        #expect(try await reader.next() == Event("reset", "/"))
        journal.add("b")
        #expect(try await reader.next() == Event("change", "+ /b"))
    }

    /// The journal does not report when an error is resolved, so the next tick retries.
    @Test func noEventIsLostAfterAJournalError() async throws {
        let reader = try await reader()
        for fault in [JournalError.interrupted, .state(.outOfSpace), .store(.busy)] {
            journal.state.withLock { $0.error = fault }
            journal.add("a")
            #expect(share.changeEvents?.poll() == true)
            journal.state.withLock { $0.error = nil }
            journal.add("b", notifies: false)
            #expect(share.changeEvents?.poll() == true)
            let event = try await reader.next()
            #expect(event == Event("change", "+ /a", "+ /b"))
        }
        journal.state.withLock { $0.error = .gone }
        journal.notify()
        #expect(try await reader.next() == Event("gone", "/"))
        #expect(try await reader.next() == nil)
    }

    /// A reader that joins later starts at a later change number and receives no change twice.
    @Test func eachReaderStartsAtItsOwnNumber() async throws {
        let first = try await reader()
        journal.add("a", notifies: false)
        let second = try await reader()
        journal.add("b")
        #expect(try await first.next() == Event("change", "+ /a", "+ /b"))
        #expect(try await second.next() == Event("change", "+ /b"))
        let third = try await reader(since: "data:,davit-sync-aa-1001")
        #expect(try await third.next() == Event("change", "+ /b"))
        journal.add("c")
        for reader in [first, second] { #expect(try await reader.next() == Event("change", "+ /c")) }
        #expect(try await third.next() == Event("locks", "/"))
        #expect(try await third.next() == Event("change", "+ /c"))
    }

    @Test func failingJournalRefusesNewStreams() async throws {
        journal.state.withLock { $0.error = .state(.outOfSpace) }
        let client = TestClient(WebDAVHandler(share: share, page: nil))
        #expect(try await client.send("GET", "/?events").status == 507)
        #expect(share.changeEvents?.poll() == false)
    }
}
