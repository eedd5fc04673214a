import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// Breaking the locks of other users, by form and by the administrator.
struct BreakLockTests {
    private static let form = [
        ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
    ]

    private static func unlock(
        _ target: String, _ content: String, _ status: UInt16, as principal: String? = nil
    ) -> Scenario.Step {
        step("POST \(target)?action=unlock", form, content, status, as: principal)
    }

    static let scenarios: [Scenario] = [
        Scenario(
            "clients with write access may break the locks of other users",
            [
                step("PUT /a", [], "1", 201, as: "anna"), lock("/a", as: "anna"),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 403, as: "bert"),
                step("PUT /a", [("If", "(<$1>)")], "2", 423, as: "bert"),
                unlock("/", "member=a&token=$1", 204, as: "bert"),
                step("PUT /a", [], "2", 204, as: "bert"),
                // The lock owner gets an error.
                step("PUT /a", [("If", "(<$1>)")], "3", 412, as: "anna"),
                unlock("/", "member=a&token=$1", 409, as: "bert"),
            ]),
        Scenario(
            "the token identifies the lock, which must cover the member",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "1", 201), step("PUT /b", [], "1", 201),
                lock("/d/a", scope: "shared"), lock("/d/a", scope: "shared"),
                unlock("/", "member=b&token=$1", 409), unlock("/d/", "member=none&token=$1", 409),
                unlock("/d/", "member=a&token=urn%3Auuid%3A1", 409),
                unlock("/d/", "member=a&token=$1", 204),
                step("PUT /d/a", [], "2", 423), unlock("/d/", "member=a&token=$2", 204),
                step("PUT /d/a", [], "2", 204),
            ]),
        Scenario(
            "breaking a lock on the collection, directly or through a member that it covers",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a%20b", [], "1", 201), lock("/d/"),
                unlock("/d/", "member=a%2520b&token=$1", 204), lock("/d/"), unlock("/d/", "token=$2", 204),
                lock("/d/"), unlock("/d/", "member=&token=$3", 204), step("PUT /d/a%20b", [], "2", 204),
            ]),
        Scenario(
            "an expired lock does not exist",
            [
                step("PUT /a", [], "1", 201), lock("/a", fields: [("Timeout", "Second-10")]),
                later(seconds: 11), unlock("/", "member=a&token=$1", 409),
            ]),
        Scenario(
            "an invalid form, or one from another origin",
            [
                step("PUT /a", [], "1", 201), lock("/a"), unlock("/", "member=a", 400),
                unlock("/", "member=a&token=", 400), unlock("/", "member=..&token=$1", 400),
                step(
                    "POST /?action=unlock", [form[0], ("Sec-Fetch-Site", "cross-site")],
                    "member=a&token=$1", 403),
                step("POST /?action=unlock", [form[0]], "member=a&token=$1", 403),
                step("PUT /a", [], "2", 423),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(scenario: Scenario) async throws { try await TestShare.play(scenario) }

    @Test func readOnlyShareKeepsItsLocks() async throws {
        let share = try TestShare { $0.isReadOnly = true }
        let answer = try await share.client.send(
            "POST", "/?action=unlock", Self.form, text: "member=a&token=urn%3Auuid%3A1")
        #expect(answer.status == 403)
    }

    @Test func brokenLocksAreReportedWithOwnerAndActor() async throws {
        let broken = Mutex<[BrokenLock]>([])
        let share = try TestShare { $0.hooks.lockBroken = { lock in broken.withLock { $0.append(lock) } } }
        #expect(share.shell("mkdir d; touch d/a") == 0)
        func lock() async throws -> String {
            let answer = try await share.client.send(
                "LOCK", "/d/a", text: lockBody(scope: "shared"), principal: "anna")
            return String((answer["Lock-Token"] ?? "").dropFirst().dropLast())
        }
        let token = try await lock()
        let answer = try await share.client.send(
            "POST", "/d/?action=unlock", Self.form, text: "member=a&token=\(token)", principal: "bert")
        #expect(answer.status == 204)
        let first = try #require(broken.withLock { $0.first })
        #expect(first.root == ResourcePath(segments: ["d".utf8.map(\.self), "a".utf8.map(\.self)]))
        #expect(first.token == token && first.owner == "me" && first.holder == "anna")
        #expect(first.principal == "bert")
        // UNLOCK by the lock owner is not reported.
        let own = try await lock()
        let unlocked = try await share.client.send(
            "UNLOCK", "/d/a", [("Lock-Token", "<\(own)>")], principal: "anna")
        #expect(unlocked.status == 204)
        #expect(broken.withLock { $0.count } == 1)
    }

    @Test(
        "the allows hook decides whether a lock is broken, and the other hooks are notified",
        arguments: [true, false])
    func hooksDecideOnBreakingLocks(isAllowed: Bool) async throws {
        let notes = ShareHooksTests.Notes()
        let share = try TestShare {
            $0.hooks.allows = { action in
                notes.add("asked " + ShareHooksTests.text(action))
                return isAllowed
            }
            $0.hooks.completed = { notes.add("told " + ShareHooksTests.text($0)) }
            $0.hooks.lockBroken = { notes.add("broken \($0.root)") }
        }
        #expect(share.shell("mkdir d; touch d/a") == 0)
        let answer = try await share.client.send(
            "LOCK", "/d", text: lockBody(scope: "exclusive"), principal: "anna")
        let token = (answer["Lock-Token"] ?? "").dropFirst().dropLast()
        #expect(notes.take().isEmpty)
        // If no lock matches, the hooks are not called.
        for form in ["member=none&token=\(token)", "member=a&token=urn%3Auuid%3A1"] {
            #expect(
                try await share.client.send("POST", "/d/?action=unlock", Self.form, text: form).status == 409)
        }
        #expect(notes.take().isEmpty)
        let unlocked = try await share.client.send(
            "POST", "/d/?action=unlock", Self.form, text: "member=a&token=\(token)", principal: "bert")
        #expect(unlocked.status == (isAllowed ? 204 : 403))
        let asked = "asked breakLock /d/ by bert"
        #expect(notes.take() == (isAllowed ? [asked, "broken /d", "told breakLock /d/ by bert"] : [asked]))
        #expect(try share.share.locks.heldLocks().count == (isAllowed ? 0 : 1))
        if isAllowed { return }
        // The administrator can break the lock even if the hook refuses.
        #expect(try share.share.locks.breakLocks(.token(String(token)), from: "here")?.count == 1)
        #expect(notes.take() == ["broken /d", "told breakLock /d/"])
    }

    /// While the hook decides, the administrator breaks the lock. The form must not break the other lock on the
    /// resource instead.
    @Test func lockCreatedWhileTheHookDecidesIsNotBroken() async throws {
        let tokens = Mutex<[String]>([])
        let box = Mutex<TestShare?>(nil)
        let share = try TestShare {
            $0.hooks.allows = { action in
                guard action.kind == .breakLock, let share = box.withLock({ $0 }) else { return true }
                _ = try? share.share.locks.breakLocks(.token(tokens.withLock { $0[0] }), from: "here")
                return true
            }
        }
        box.withLock { $0 = share }
        defer { box.withLock { $0 = nil } }
        #expect(share.shell("touch a") == 0)
        for _ in 0..<2 {
            let answer = try await share.client.send("LOCK", "/a", text: lockBody(scope: "shared"))
            tokens.withLock { $0.append(String((answer["Lock-Token"] ?? "").dropFirst().dropLast())) }
        }
        let token = tokens.withLock { $0[0] }
        let answer = try await share.client.send(
            "POST", "/?action=unlock", Self.form, text: "member=a&token=\(token)")
        #expect(answer.status == 409)
        #expect(try share.share.locks.heldLocks().count == 1)
    }

    // MARK: Administration

    @Test func activeLocksAreListed() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d; touch d/a b gone") == 0)
        for target in ["/gone", "/d/a", "/b", "/", "/d/a"] {
            let answer = try await share.client.send(
                "LOCK", target, [("Depth", "0")], text: lockBody(scope: "shared"), principal: "anna")
            #expect(answer.status == 200)
        }
        #expect(share.shell("rm gone; touch gone") == 0)
        let locks = try share.share.locks.heldLocks()
        #expect(locks.map(\.root.description) == ["/", "/b", "/d/a", "/d/a"])
        #expect(
            locks.allSatisfy { $0.created == Timestamp(seconds: 1_800_000_000) && $0.principal == "anna" })
        let path = try #require(ResourcePath(segments: ["d".utf8.map(\.self), "a".utf8.map(\.self)]))
        #expect(try share.share.locks.breakLocks(.root(path), from: "here")?.count == 2)
        #expect(try share.share.locks.breakLocks(.token(locks[0].token.uri), from: "here")?.count == 1)
        #expect(try share.share.locks.breakLocks(.token("urn:uuid:1"), from: "here")?.isEmpty == true)
        #expect(try share.share.locks.heldLocks().map(\.root.description) == ["/b"])
    }

    // MARK: Visible to other users

    @Test func lockOwnerAndTimeAreVisibleToOthers() async throws {
        let share = try TestShare()
        #expect(share.shell("touch a b") == 0)
        let body =
            #"<D:propfind xmlns:D="DAV:"><D:prop><n:lock-details xmlns:n="urn:davit:property"/></D:prop></D:propfind>"#
        func details(_ target: String) async throws -> String {
            let answer = try await share.client.send(
                "PROPFIND", target, [("Depth", "0")], text: body, principal: "bert")
            #expect(answer.status == 207 && !answer.text.contains("HTTP/1.1 404"))
            return answer.text
        }
        let locked = try await share.client.send(
            "LOCK", "/a", text: lockBody(scope: "shared"), principal: "anna & <co>")
        share.wait(seconds: 60)
        _ = try await share.client.send("LOCK", "/a", text: lockBody(scope: "shared"))
        let text = try await details("/a")
        let token = (locked["Lock-Token"] ?? "").dropFirst().dropLast()
        #expect(
            text.contains(
                """
                <N:lock-details xmlns:N="urn:davit:property"><N:lock>\
                <D:locktoken><D:href>\(token)</D:href></D:locktoken>\
                <N:principal>anna &amp; &lt;co&gt;</N:principal>\
                <N:created>2027-01-15T08:00:00Z</N:created></N:lock><N:lock><D:locktoken>
                """))
        #expect(text.contains("<N:created>2027-01-15T08:01:00Z</N:created></N:lock></N:lock-details>"))
        #expect(
            try await details("/b").contains(
                #"<N:lock-details xmlns:N="urn:davit:property"></N:lock-details>"#))
        let change = """
            <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><n:lock-details xmlns:n="urn:davit:property">x\
            </n:lock-details></D:prop></D:set></D:propertyupdate>
            """
        let refused = try await share.client.send("PROPPATCH", "/b", text: change)
        #expect(refused.text.contains("cannot-modify-protected-property"))
        // allprop returns only the properties of RFC 4918.
        let all = try await share.client.send("PROPFIND", "/a", [("Depth", "0")])
        #expect(!all.text.contains("lock-details"))
    }
}
