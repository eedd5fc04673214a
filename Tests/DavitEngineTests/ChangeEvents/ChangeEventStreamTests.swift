import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// The life cycle of an event stream: how it begins, resumes and ends.
struct ChangeEventStreamTests {
    typealias Event = EventReader.Event

    @Test func streamResumesFromTheLastID() async throws {
        let share = try TestShare.live()
        var id = ""
        do {
            let reader = try await share.events("/?events")
            #expect(share.shell("mkdir a") == 0)
            #expect(try await reader.next() == Event("change", "+ /a/"))
            id = reader.id
        }
        #expect(share.share.changeEvents?.poll() == false)
        #expect(share.shell("mkdir b c; rmdir a") == 0)
        let reader = try await share.events("/?events", since: id)
        let missed = try #require(try await reader.next())
        #expect(missed.name == "change")
        #expect(Set(missed.lines) == ["+ /b/", "+ /c/", "- /a/"])
        // Lock changes have no numbers, so a resumed stream reports that any lock may have changed.
        #expect(try await reader.next() == Event("locks", "/"))
        #expect(reader.id != id)
        // No change is reported twice.
        #expect(share.shell("mkdir d") == 0)
        #expect(try await reader.next() == Event("change", "+ /d/"))
        let again = try await share.events("/?events&since=" + reader.id.replacing(",", with: "%2C"))
        #expect(share.shell("mkdir e") == 0)
        #expect(try await again.next() == Event("locks", "/"))
        #expect(try await again.next() == Event("change", "+ /e/"))
    }

    static let unknown = [
        "7", "data:,davit-sync-00ff-12", "data:,davit-sync-00000000000000000000000000000000-1", "\u{1F600}",
    ]

    @Test(arguments: unknown)
    func unknownIDCausesAReset(id: String) async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir d") == 0)
        let reader = try await share.events("/?events&in=d/&in=", since: id)
        #expect(try await reader.next() == Event("reset", "/d/", "/"))
        #expect(share.shell("mkdir a") == 0)
        #expect(try await reader.next() == Event("change", "+ /a/"))
    }

    @Test func tooManyMissedEventsCauseAReset() async throws {
        let share = try TestShare.live()
        let id = try await share.events("/?events").id
        #expect(share.shell("touch $(seq 1100)") == 0)
        let reader = try await share.events("/?events", since: id)
        #expect(try await reader.next() == Event("reset", "/"))
    }

    /// The pending events of a slow reader are limited; other readers still receive all events.
    @Test func slowReaderIsReset() async throws {
        let share = try TestShare.live()
        let slow = try await share.events("/?events")
        let fast = try await share.events("/?events")
        for round in 0..<3 {
            #expect(share.shell("mkdir $(seq \(round)000 \(round)499); mkdir end\(round)") == 0)
            while let event = try await fast.next(), !event.lines.contains("+ /end\(round)/") {
                #expect(event.name == "change")
            }
        }
        #expect(try await slow.next() == Event("reset", "/"))
        #expect(share.shell("mkdir more") == 0)
        #expect(try await slow.next() == Event("change", "+ /more/"))
    }

    /// A name that changes often between two reads is reported once.
    @Test func repeatedChangesOfANameAreReportedOnce() async throws {
        let share = try TestShare.live()
        let slow = try await share.events("/?events")
        let fast = try await share.events("/?events")
        for round in 0..<5 {
            #expect(share.shell("echo \(round) >> a; mkdir b\(round)") == 0)
            while let event = try await fast.next(), !event.lines.contains("+ /b\(round)/") {}
        }
        let told = try #require(try await slow.next())
        #expect(
            told.lines == told.lines.filter { $0 != "+ /a" }.sorted() + ["+ /a"] || Set(told.lines).count == 6
        )
        #expect(told.lines.count == 6)
    }

    @Test func streamEndsOnShutdown() async throws {
        let share = try TestShare.live()
        let reader = try await share.events("/?events")
        #expect(try await share.client.send("LOCK", "/a", text: lockBody(scope: "shared")).status == 201)
        reader.finishEarly()
        // Pending events are sent first.
        var names: Set<String> = []
        while let event = try await reader.next() { names.insert(event.name) }
        #expect(names.contains("locks"))
        let other = try await share.events("/?events")
        other.finishEarly()
        #expect(try await other.next() == nil)
    }

    @Test func idleStreamSendsKeepAlives() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir d") == 0)
        let reader = try await share.events("/d/?events")
        for _ in 0..<3 { #expect(share.share.changeEvents?.poll() == true) }
        #expect(try await reader.block() == ":")
        // Changes elsewhere are not reported, but their numbers are, so that the reader's id does not expire.
        let id = reader.id
        let other = try await share.events("/?events")
        #expect(share.shell("touch a") == 0)
        // Once another reader has received the change, the feed has processed it.
        #expect(try await other.next() == Event("change", "+ /a"))
        for _ in 0..<3 { #expect(share.share.changeEvents?.poll() == true) }
        let block = try await reader.block()
        #expect(block?.hasPrefix("id: data:,davit-sync-") == true && block != "id: \(id)")
    }

    @Test func numberOfStreamsIsLimited() async throws {
        let share = try TestShare.live { $0.eventStreamLimit = 2 }
        let first = try await share.events("/?events")
        var second: EventReader? = try await share.events("/?events")
        let third = try await share.client.begin("GET", "/?events")
        #expect(third.status == .serviceUnavailable)
        #expect(third.fields.contains(.retryAfter))
        #expect(second?.id == first.id)
        second = nil
        #expect(try await share.client.begin("GET", "/?events").status == .ok)
    }

    // MARK: The response

    @Test func streamResponseHasFieldsForBrowsersAndProxies() async throws {
        let share = try TestShare.live { $0.isReadOnly = true }
        do {
            let response = try await share.client.begin("GET", "/?events", [("Accept", "text/event-stream")])
            #expect(response.status == .ok)
            #expect(response.fields.first(.contentType) == "text/event-stream")
            #expect(response.fields.first(.cacheControl) == "no-store, no-transform")
            #expect(response.fields.first(named: "X-Accel-Buffering") == "no")
            #expect(try await EventReader(response).block() == "retry: 2000")
        }
        let head = try await share.client.send("HEAD", "/?events")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(share.share.changeEvents?.poll() == false)
    }

    static let refused: [(target: String, accept: String?, status: UInt16)] = [
        ("/none/?events", nil, 404), ("/?events&in=none/", nil, 404), ("/?events&in=../x", nil, 400),
        ("/?events&in=a/./b", nil, 400), ("/?events&in=%00", nil, 400), ("/?events", "text/html", 406),
        ("/?events", "text/event-stream;q=0, */*", 406), ("/?events", "text/html, */*;q=0.1", 200),
        ("/?events", "text/*", 200), ("/?events=", nil, 200), ("/?page=2&events", nil, 200),
        ("/?events&in=" + (0..<65).map { "d\($0)" }.joined(separator: "&in="), nil, 400),
        ("/?events&in=.davit-principalsfolder/", nil, 404), ("/?events&in=f", nil, 404),
    ]

    @Test(arguments: refused)
    func invalidRequestsAreRefused(target: String, accept: String?, status: UInt16) async throws {
        let share = try TestShare.live()
        #expect(share.shell("touch f") == 0)
        let fields = accept.map { [("Accept", $0)] } ?? []
        #expect(try await share.client.begin("GET", target, fields).status.code == status)
    }

    /// Only collections have event streams.
    @Test func eventsQueryIsIgnoredForFiles() async throws {
        let share = try TestShare.live()
        #expect(share.shell("echo 1 > f") == 0)
        #expect(try await share.client.send("GET", "/f?events").text == "1\n")
    }

    @Test func shareWithoutAJournalHasNoEvents() async throws {
        let share = try TestShare()
        let answer = try await share.client.send("GET", "/?events")
        #expect(answer.status == 404)
        #expect(answer.text.contains("does not support change events"))
    }
}
