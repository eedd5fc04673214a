import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Situations in which other servers have granted too much or too little, according to their issues. The precedence of rules
/// is tested in `PrecedenceTests`.
struct PeerComplaintTests {
    private func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    private func share(_ rules: [AccessRule], _ setup: String) throws -> TestShare {
        let policy = try AccessRules(rules + [AccessRule(.user("root"), .root, .all)])
        let share = try TestShare {
            $0.access = policy
            $0.trash = TrashLimits()
        }
        #expect(share.shell(setup) == 0)
        return share
    }

    /// Rights to the source do not permit changes at the destination (hacdias/webdav#179, sabre-io/dav#179).
    @Test(arguments: ["COPY", "MOVE"]) func bothEndsOfATransferAreChecked(method: String) async throws {
        let share = try share(
            [
                AccessRule(.user("ann"), path("c"), .edit), AccessRule(.user("ann"), path("a"), .view),
                AccessRule(.user("ann"), path("a/own"), .edit),
            ], "mkdir -p a/own b c/d && echo >c/f && echo >c/d/f && echo >a/f && echo >b/f")
        func status(_ source: String, _ destination: String) async throws -> UInt16 {
            try await share.client.send(method, source, [("Destination", destination)], principal: "ann")
                .status
        }
        for source in ["/c/f", "/c/d"] {
            #expect(try await status(source, "/a/new") == 403)
            #expect(try await status(source, "/a/f") == 403)
            #expect(try await status(source, "/b/new") == 403)
            #expect(try await status(source, "/b/f") == 403)
        }
        #expect(try await status("/b/f", "/c/new") == 404)
        #expect(try await status("/a/f", "/c/new") == (method == "COPY" ? 201 : 403))
        #expect(share.shell("[ -f c/f ] && [ -f c/d/f ] && [ -f a/f ] && [ -f b/f ] && [ ! -e a/new ]") == 0)
        #expect(try await status("/c/d", "/a/own/new") == 201)
    }

    /// A rename in one folder needs neither the right to delete nor that to create (pimcore/pimcore#19326).
    @Test func renamingIsAChange() async throws {
        let share = try share(
            [AccessRule(.user("ann"), path("p"), [.list, .read, .change])], "mkdir -p p/d && echo >p/f")
        func move(_ source: String, _ destination: String) async throws -> UInt16 {
            try await share.client.send(
                "MOVE", source, [("Destination", destination), ("Overwrite", "F")], principal: "ann"
            ).status
        }
        #expect(try await move("/p/f", "/p/g") == 201)
        #expect(try await move("/p/d", "/p/e") == 201)
        #expect(try await move("/p/g", "/p/e/g") == 403)
        #expect(try await move("/p/g", "/p/G") == 201)
    }

    /// What was deleted from a folder stays as private as the folder, whatever happens to the folders above it
    /// (nextcloud/groupfolders#1157, #1258, #2871).
    @Test func trashRemainsPrivate() async throws {
        let share = try share(
            [
                AccessRule(.everyone, path("team"), .edit),
                AccessRule(.everyone, path("team/staff/pay"), .none),
                AccessRule(.user("ben"), path("team/staff/pay"), .edit),
            ], "mkdir -p team/staff/pay && echo >team/staff/pay/f")
        #expect(try await share.client.send("DELETE", "/team/staff/pay/f", principal: "ben").status == 204)
        // Renaming a folder above would detach the entry from the rule.
        for (target, destination) in [
            ("/team/staff/pay", "/team/x"), ("/team/staff", "/team/x"), ("/team", "/x"),
        ] {
            for principal in ["root", "ben", "ann"] {
                let status = try await share.client.send(
                    "MOVE", target, [("Destination", destination)], principal: principal
                ).status
                #expect(status == 403 || status == 404, "\(principal) \(target)")
            }
        }
        let id = try #require(try share.state.trash(after: 0, limit: 1).first?.id)
        func report(_ principal: String) async throws -> String {
            try await share.client.send(
                "REPORT", "/team", [("Depth", "infinity")], text: "<V:trash xmlns:V='urn:davit:trash'/>",
                principal: principal
            ).text
        }
        #expect(try await report("ben").contains("/team/staff/pay/f"))
        #expect(try await !report("ann").contains("pay"))
        for action in ["restore", "purge"] {
            let response = try await share.client.send(
                "POST", "/team/?action=\(action)", ownForm, text: "id=\(id)&confirmed=yes", principal: "ann")
            #expect(response.status == 404)
        }
    }

    /// No way in ignores the lock of another client (owncloud/core#38912).
    @Test(arguments: AccessWay.all.indices) func everyChangeRespectsLocks(index: Int) async throws {
        let way = AccessWay.all[index]
        // Ways that change no resource in the locked folder, or that are about the lock itself.
        let others: Set<String> = [
            "COPY out", "UNLOCK own", "UNLOCK other", "LOCK refresh", "POST unlock form", "POST archive form",
            "POST purge form", "DELETE upload",
        ]
        let reading: Set<String> = ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH"]
        guard !reading.contains(way.method), !others.contains(way.name) else { return }
        let table = AccessTable(way: way, place: .folder, kind: .account)
        let fixture = try await table.fixture()
        let locked = try await fixture.share.client.send(
            "LOCK", "/p", [("Depth", "infinity")], text: AccessWay.lockBody, principal: "root")
        #expect(locked.status == 200)
        let response = try await table.send(.all, to: fixture)
        #expect(response.status == 423, "\(way.name): \(response.status) \(response.text)")
    }
}
