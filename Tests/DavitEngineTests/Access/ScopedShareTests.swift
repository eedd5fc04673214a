import DavitAccess
import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// What a client with limited rights sees of a share, through every method that reads.
struct ScopedShareTests {
    private func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    /// The view of ann: `/open` to edit, `/read` to look at, `/in` to hand in, `/deep/way/room` to edit; nothing else.
    private func share(
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws -> TestShare {
        let policy = try AccessRules([
            AccessRule(.user("root"), .root, .all), AccessRule(.user("ann"), path("open"), .edit),
            AccessRule(.user("ann"), path("open/private"), .none),
            AccessRule(.user("ann"), path("read"), .view),
            AccessRule(.user("ann"), path("read/names"), .list), AccessRule(.user("ann"), path("in"), .drop),
            AccessRule(.user("ann"), path("deep/way/room"), .edit),
        ])
        var journal = ShareJournal.Options()
        journal.walksInBackground = false
        let share = try TestShare(journal: journal) {
            $0.trash = TrashLimits()
            configure(&$0)
            $0.access = policy
        }
        let made = share.shell(
            """
            mkdir -p open/private open/sub read/names in deep/way/room deep/other secret && \
            for name in open/file open/private/hidden open/sub/file read/file read/names/unread in/sent \
            deep/way/room/file deep/way/beside secret/file; do printf "text of $name" >$name; done && \
            ln -s ../secret/file open/link && ln -s ../secret open/folder
            """)
        #expect(made == 0)
        return share
    }

    private func hrefs(_ response: TestResponse) -> Set<String> {
        var found: Set<String> = []
        for part in response.text.split(separator: "<D:href>").dropFirst() {
            found.insert(String(part.prefix { $0 != "<" }))
        }
        return found.filter { !$0.hasPrefix("/.davit") }
    }

    static let visible: Set<String> = [
        "/", "/open/", "/open/file", "/open/sub/", "/open/sub/file", "/read/", "/read/file", "/read/names/",
        "/read/names/unread", "/in/", "/deep/", "/deep/way/", "/deep/way/room/", "/deep/way/room/file",
    ]

    @Test func listingsShowWhatMayBeListed() async throws {
        let share = try share()
        let all = try await share.client.send(
            "PROPFIND", "/", [("Depth", "infinity")], principal: "ann")
        #expect(hrefs(all) == Self.visible)
        let root = try await share.client.send("PROPFIND", "/", [("Depth", "1")], principal: "ann")
        #expect(hrefs(root) == ["/", "/open/", "/read/", "/in/", "/deep/"])
        let everything = try await share.client.send(
            "PROPFIND", "/", [("Depth", "infinity")], principal: "root")
        #expect(hrefs(everything).count > Self.visible.count)
        let nobody = try await share.client.send("PROPFIND", "/", [("Depth", "1")])
        #expect(hrefs(nobody) == ["/"])
    }

    static let refusals: [(method: String, target: String, condition: String)] = [
        ("PUT", "/read/file", "<D:href>/read/file</D:href><D:privilege><D:write/></D:privilege>"),
        ("PUT", "/read/new", "<D:href>/read/</D:href><D:privilege><D:bind/></D:privilege>"),
        ("MKCOL", "/read/new", "<D:href>/read/</D:href><D:privilege><D:bind/></D:privilege>"),
        ("DELETE", "/read/file", "<D:href>/read/</D:href><D:privilege><D:unbind/></D:privilege>"),
        // The client may not list the collection.
        ("MKCOL", "/secret/new", ""), ("PUT", "/secret/file", ""),
    ]

    /// 403 states the privilege that the client lacks (RFC 3744 §7.1.1), unless that would reveal a name.
    @Test(arguments: refusals)
    func refusalsNameThePrivilege(method: String, target: String, condition: String) async throws {
        let share = try share()
        let response = try await share.client.send(method, target, principal: "ann")
        #expect(response.status == 403)
        let text = response.text
        if condition.isEmpty {
            #expect(!text.contains("need-privileges"))
        } else {
            #expect(
                text.contains("<D:need-privileges><D:resource>\(condition)</D:resource></D:need-privileges>"))
        }
    }

    @Test func searchFindsWhatMayBeListed() async throws {
        let share = try share()
        let body = """
            <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:displayname/></D:prop></D:select>\
            <D:from><D:scope><D:href>/</D:href><D:depth>infinity</D:depth></D:scope></D:from>\
            <D:where><D:like><D:prop><D:displayname/></D:prop><D:literal>%</D:literal></D:like></D:where>\
            </D:basicsearch></D:searchrequest>
            """
        let response = try await share.client.send(
            "SEARCH", "/", [("Content-Type", "text/xml")], text: body, principal: "ann")
        #expect(response.status == 207)
        #expect(hrefs(response).isSubset(of: Self.visible))
        #expect(hrefs(response).contains("/open/file"))
    }

    @Test(arguments: [
        "/secret", "/secret/file", "/open/private/hidden", "/open/link", "/open/folder/file", "/in/sent",
    ])
    func hiddenResourcesDoNotExist(target: String) async throws {
        let share = try share()
        for method in ["GET", "HEAD", "PROPFIND", "DELETE", "PROPPATCH", "UNLOCK"] {
            let hidden = try await share.client.send(
                method, target, [("Depth", "0"), ("Lock-Token", "<urn:x>")],
                body: method == "PROPPATCH" ? Array(AccessWay.patchBody.utf8) : nil, principal: "ann")
            let missing = try await share.client.send(
                method, "/open/missing", [("Depth", "0"), ("Lock-Token", "<urn:x>")],
                body: method == "PROPPATCH" ? Array(AccessWay.patchBody.utf8) : nil, principal: "ann")
            #expect(hidden.status == missing.status, "\(method) \(target)")
        }
    }

    /// A condition about another resource must not reveal whether it exists.
    @Test func conditionsDoNotRevealHiddenResources() async throws {
        let share = try share()
        let tag = try #require(
            try await share.client.send("HEAD", "/secret/file", principal: "root").fields.first(.etag))
        for condition in ["</secret/file> ([\(tag)])", "</secret/file> (Not [\(tag)])"] {
            let real = try await share.client.send(
                "PUT", "/open/file", [("If", condition)], text: "x", principal: "ann")
            let missing = try await share.client.send(
                "PUT", "/open/file", [("If", condition.replacing("secret/file", with: "secret/none"))],
                text: "x",
                principal: "ann")
            #expect(real.status == missing.status, "\(condition)")
        }
    }

    /// A folder with something in it that the client may not delete remains unchanged (sabre-io/dav#179, hacdias/webdav#179).
    @Test func aTreeIsMovedOrDeletedAsAWhole() async throws {
        let share = try share()
        let deleted = try await share.client.send("DELETE", "/open", principal: "ann")
        #expect(deleted.status == 403)
        let moved = try await share.client.send(
            "MOVE", "/open", [("Destination", "/deep/way/room/open")], principal: "ann")
        #expect(moved.status == 403)
        let replaced = try await share.client.send(
            "COPY", "/deep/way/room/file", [("Destination", "/open")], principal: "ann")
        #expect(replaced.status == 403)
        let inside = try await share.client.send("DELETE", "/open/sub", principal: "ann")
        #expect(inside.status == 204)
        #expect(share.shell("[ -f open/private/hidden ]") == 0)
        // Even a client with all rights cannot move a folder away from its rules.
        let place = try await share.client.send(
            "MOVE", "/open", [("Destination", "/elsewhere")], principal: "root")
        #expect(place.status == 403)
    }

    @Test func copiesContainWhatMayBeRead() async throws {
        let share = try share()
        let open = try await share.client.send(
            "COPY", "/open", [("Destination", "/deep/way/room/copy")], principal: "ann")
        #expect(open.status == 201)
        #expect(share.shell("[ -f deep/way/room/copy/file ] && [ ! -e deep/way/room/copy/private ]") == 0)
        #expect(share.shell("[ ! -e deep/way/room/copy/link ] && [ ! -e deep/way/room/copy/folder ]") == 0)
        let partial = try await share.client.send(
            "COPY", "/read", [("Destination", "/deep/way/room/other")], principal: "ann")
        #expect(partial.status == 207)
        #expect(hrefs(partial) == ["/read/names/unread"])
        #expect(
            share.shell("[ -f deep/way/room/other/file ] && [ ! -e deep/way/room/other/names/unread ]") == 0)
    }

    /// The trash follows the rights (nextcloud/groupfolders#1157, #1258, #2871).
    @Test func trashShowsWhatMayBeListed() async throws {
        let share = try share()
        for target in ["/secret/file", "/open/file", "/read/file"] {
            #expect(try await share.client.send("DELETE", target, principal: "root").status == 204)
        }
        let ids = try share.state.trash(after: 0, limit: 10)
        func act(_ action: String, _ index: Int) async throws -> UInt16 {
            UInt16(
                try await share.client.send(
                    "POST", "/?action=\(action)", ownForm, text: "id=\(ids[index].id)&confirmed=1",
                    principal: "ann"
                ).status)
        }
        #expect(try await act("restore", 0) == 404)
        #expect(try await act("purge", 0) == 404)
        #expect(try await act("restore", 2) == 403)
        #expect(try await act("purge", 2) == 403)
        #expect(try await act("restore", 1) == 201)
        #expect(share.shell("[ -f open/file ] && [ ! -e secret/file ]") == 0)
    }

    @Test func synchronizationReportsWhatMayBeListed() async throws {
        let share = try share()
        let body = """
            <D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>infinite</D:sync-level>\
            <D:prop><D:getetag/></D:prop></D:sync-collection>
            """
        let first = try await share.client.send("REPORT", "/", text: body, principal: "ann")
        #expect(first.status == 207)
        #expect(hrefs(first).isSubset(of: Self.visible))
        #expect(hrefs(first).contains("/deep/way/room/file"))
        let token = try #require(
            first.text.split(separator: "<D:sync-token>").last?.prefix { $0 != "<" })
        for target in ["/secret/file", "/open/private/hidden", "/open/sub/file"] {
            #expect(try await share.client.send("DELETE", target, principal: "root").status == 204)
        }
        let next = try await share.client.send(
            "REPORT", "/",
            text: body.replacing("<D:sync-token/>", with: "<D:sync-token>\(token)</D:sync-token>"),
            principal: "ann")
        #expect(next.status == 207)
        // The journal does not know where a removed link led, so its name is reported like any other in the folder.
        #expect(hrefs(next) == ["/open/link", "/open/sub/file"])
    }

    /// Locks of resources that the client cannot see still protect them, and do not reveal them.
    @Test func locksAboveTheViewAreShownAsOnesOwn() async throws {
        let share = try share()
        let locked = try await share.client.send(
            "LOCK", "/", [("Depth", "infinity")],
            text: AccessWay.lockBody.replacing(
                "</D:lockinfo>", with: "<D:owner>the owner</D:owner></D:lockinfo>"), principal: "root")
        #expect(locked.status == 200)
        let refused = try await share.client.send("PUT", "/open/file", text: "x", principal: "ann")
        #expect(refused.status == 423)
        #expect(hrefs(refused) == ["/open/file"])
        let second = try await share.client.send(
            "LOCK", "/open/file", text: AccessWay.lockBody, principal: "ann")
        #expect(second.status == 423)
        #expect(hrefs(second) == ["/open/file"])
        let shown = try await share.client.send(
            "PROPFIND", "/open/file", [("Depth", "0")],
            text: "<D:propfind xmlns:D='DAV:'><D:prop><D:lockdiscovery/></D:prop></D:propfind>",
            principal: "ann")
        #expect(shown.text.contains("<D:lockroot><D:href>/open/file</D:href></D:lockroot>"))
        #expect(!shown.text.contains("the owner"))
    }

    @Test func privilegesAreThoseOfTheResource() async throws {
        let share = try share()
        func privileges(_ target: String) async throws -> String {
            let response = try await share.client.send(
                "PROPFIND", target, [("Depth", "0")],
                text:
                    "<D:propfind xmlns:D='DAV:'><D:prop><D:current-user-privilege-set/></D:prop></D:propfind>",
                principal: "ann")
            return response.text.split(separator: "<D:privilege>").dropFirst().map {
                String($0.dropFirst(3).prefix { $0 != "/" })
            }.joined(separator: " ")
        }
        #expect(
            try await privileges("/open/file")
                == "read read-current-user-privilege-set write-properties write-content write")
        #expect(
            try await privileges("/open/")
                == "read read-current-user-privilege-set write-properties bind unbind write")
        #expect(try await privileges("/read/file") == "read read-current-user-privilege-set")
        #expect(try await privileges("/in/") == "read-current-user-privilege-set bind")
        #expect(try await privileges("/") == "read-current-user-privilege-set")
    }

    /// Rights are checked again for each part of an upload.
    @Test func anUploadEndsWithTheRightToIt() async throws {
        let share = try share()
        let created = try await share.client.send(
            "POST", "/open/",
            [("Tus-Resumable", "1.0.0"), ("Upload-Length", "4"), ("Upload-Metadata", "filename bmV3")],
            principal: "ann")
        #expect(created.status == 201)
        let url = try #require(created.fields.first(.location))
        let part = [
            ("Tus-Resumable", "1.0.0"), ("Upload-Offset", "0"),
            ("Content-Type", "application/offset+octet-stream"),
        ]
        // Another client cannot continue it, whatever its rights.
        let other = try await share.client.send("PATCH", url, part, text: "data", principal: "root")
        #expect(other.status == 404)
        let own = try await share.client.send("PATCH", url, part, text: "data", principal: "ann")
        #expect(own.status == 204)
        #expect(share.shell("[ $(cat open/new) = data ]") == 0)
    }

    /// A stream reports only what its client may see, and changes afterwards with the rights.
    @Test func eventsReportWhatMayBeListed() async throws {
        let policy = ChangingPolicy([
            AccessRule(.user("root"), .root, .all), AccessRule(.user("ann"), path("open"), .view),
        ])
        let share = try TestShare.live { $0.access = policy }
        #expect(share.shell("mkdir open secret") == 0)
        let reader = EventReader(
            try await share.client.begin("GET", "/?events&depth=infinity", principal: "ann"))
        try #require(reader.response.status == .ok)
        try await reader.start()
        func put(_ target: String) async throws {
            #expect(try await share.client.send("PUT", target, text: "x", principal: "root").status == 201)
        }
        try await put("/secret/a")
        try await put("/open/a")
        #expect(try await reader.next()?.lines == ["+ /open/a"])
        policy.replace([
            AccessRule(.user("root"), .root, .all), AccessRule(.user("ann"), path("secret"), .view),
        ])
        try await put("/open/b")
        try await put("/secret/b")
        #expect(try await reader.next()?.lines == ["+ /secret/b"])
        #expect(
            try await share.client.begin("GET", "/open/?events", principal: "ann").status == .notFound)
    }

    /// Archives leave out what is hidden.
    @Test func downloadsContainWhatMayBeRead() async throws {
        let share = try share()
        let client = TestClient(WebDAVHandler(share: share.share, page: DownloadPage()))
        let text = try await client.send("GET", "/", principal: "ann").text
        #expect(
            Set(text.split(separator: "\n")) == [
                "open/file", "open/sub/file", "read/file", "deep/way/room/file", "! read/names/unread",
            ])
    }
}
