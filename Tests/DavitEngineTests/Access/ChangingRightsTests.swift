import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// What happens to clients when their rights change.
struct ChangingRightsTests {
    private static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    private static func rules(_ ann: Rights, ben: Rights = .view) -> [AccessRule] {
        [
            AccessRule(.user("root"), .root, .all), AccessRule(.user("ann"), path("p"), ann),
            AccessRule(.user("ben"), path("p"), ben),
        ]
    }

    private let policy = ChangingPolicy(rules(.edit))

    private func share() throws -> TestShare {
        let share = try TestShare.live { $0.access = policy }
        #expect(share.shell("mkdir p && echo >p/f") == 0)
        return share
    }

    // MARK: Sync tokens

    private func sync(_ token: String, _ share: TestShare, _ principal: String) async throws -> TestResponse {
        try await share.client.send(
            "REPORT", "/p/",
            text: """
                <D:sync-collection xmlns:D="DAV:"><D:sync-token>\(token)</D:sync-token>\
                <D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>
                """, principal: principal)
    }

    private func token(in response: TestResponse) throws -> String {
        let parts = response.text.split(separator: "<D:sync-token>")
        try #require(response.status == 207 && parts.count > 1)
        return String(parts[parts.count - 1].prefix { $0 != "<" })
    }

    @Test func syncTokensEndWithAChangeOfRights() async throws {
        let share = try share()
        let ann = try token(in: await sync("", share, "ann"))
        let ben = try token(in: await sync("", share, "ben"))
        #expect(try await sync(ann, share, "ann").status == 207)
        // The token of a client with other rights.
        #expect(try await sync(ben, share, "ann").status == 403)
        policy.replace(Self.rules(.view))
        let refused = try await sync(ann, share, "ann")
        #expect(refused.status == 403 && refused.text.contains("<D:valid-sync-token/>"))
        // Ben's rights are the same as before, and Ann now has the same.
        #expect(try await sync(ben, share, "ben").status == 207)
        #expect(try token(in: await sync("", share, "ann")) == ben)
        policy.replace(Self.rules(.edit))
        #expect(try await sync(ann, share, "ann").status == 207)
    }

    /// In `If`, a token that has ended identifies no state.
    @Test func conditionsWithEndedTokensFail() async throws {
        let share = try share()
        let token = try token(in: await sync("", share, "ann"))
        func put() async throws -> UInt16 {
            try await share.client.send(
                "PUT", "/p/new", [("If", "</p/> (<\(token)>)")], text: "x", principal: "ann"
            ).status
        }
        policy.replace(Self.rules([.list, .read, .create, .change]))
        #expect(try await put() == 412)
        policy.replace(Self.rules(.edit))
        #expect(try await put() == 201)
    }

    /// A client that reconnects after a change of its rights reads everything again.
    @Test func eventStreamsResumeOnlyWithTheSameRights() async throws {
        let share = try share()
        let token = try token(in: await sync("", share, "ann"))
        func first(_ principal: String) async throws -> String {
            let response = try await share.client.begin(
                "GET", "/p/?events", [("Last-Event-ID", token)], principal: principal)
            let reader = EventReader(response)
            try await reader.start()
            return try await reader.next()?.lines.joined() ?? ""
        }
        #expect(try await share.client.send("PUT", "/p/new", text: "x", principal: "root").status == 201)
        #expect(try await first("ann") == "+ /p/new")
        policy.replace(Self.rules(.view))
        let reset = try await first("ann")
        #expect(!reset.contains("/p/new"))
    }

    /// A stream of a folder that its client may no longer list reports no locks, either.
    @Test func locksAreReportedOnlyToThoseWhoMayListTheFolder() async throws {
        let share = try share()
        let reader = EventReader(try await share.client.begin("GET", "/p/?events", principal: "ann"))
        try await reader.start()
        func lock(_ target: String) async throws {
            let response = try await share.client.send(
                "LOCK", target, [("Depth", "0")], text: AccessWay.lockBody, principal: "root")
            #expect(response.status == 200)
            let token = response.fields.first(named: "Lock-Token") ?? ""
            #expect(
                try await share.client.send("UNLOCK", target, [("Lock-Token", token)], principal: "root")
                    .status
                    == 204)
        }
        policy.replace(Self.rules(.none))
        try await lock("/p")
        try await lock("/p/f")
        policy.replace(Self.rules(.edit))
        #expect(try await share.client.send("PUT", "/p/new", text: "x", principal: "root").status == 201)
        #expect(try await reader.next()?.lines == ["+ /p/new"])
    }

    @Test func tokensWithoutAPolicyContainNoRights() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir p") == 0)
        let token = try #require(SyncToken(parsing: try token(in: await sync("", share, "ann"))))
        #expect(token.view == nil)
    }

    // MARK: Changes in progress

    /// A body that is received before the rest of the request, and changes the rights meanwhile.
    private final class ChangingBody: RequestBody {
        private let rest: Mutex<[UInt8]>
        private let action: @Sendable () -> Void
        let declaredLength: Int64?
        var isPresent: Bool { true }

        init(_ text: String, _ action: @escaping @Sendable () -> Void) {
            rest = Mutex(Array(text.utf8))
            declaredLength = Int64(text.utf8.count)
            self.action = action
        }

        func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
            rest.withLock { rest in
                let taken = buffer.append(Array(rest.prefix(buffer.freeCount)))
                rest.removeFirst(taken)
                if rest.isEmpty { action() }
                return taken
            }
        }
    }

    static let changes: [(method: String, target: String, fields: [(String, String)])] = [
        ("PUT", "/p/new", []), ("PUT", "/p/f", []),
        ("PUT", "/p/f", [("Content-Range", "bytes 0-3/4")]),
        (
            "PATCH", "/p/f",
            [("Content-Type", "application/x-sabredav-partialupdate"), ("X-Update-Range", "append")]
        ),
        ("POST", "/p/?add-member", []),
        ("PUT", "/p/new", [("Upload-Complete", "?1"), ("Upload-Draft-Interop-Version", "8")]),
    ]

    /// The rights at the moment of the commit decide, not those at the start of the request.
    @Test(arguments: changes.indices) func changesInProgressEndWithTheRight(index: Int) async throws {
        let (method, target, fields) = Self.changes[index]
        let share = try share()
        let policy = policy
        let before = share.shell("cat p/* | cksum >sum")
        #expect(before == 0)
        let response = try await share.client.send(
            method, target, fields,
            body: ChangingBody("data") { policy.replace(Self.rules(.view)) }, principal: "ann")
        #expect(response.status == 403, "\(method) \(response.text)")
        #expect(share.shell("cat p/* | cksum | cmp - sum && [ ! -e p/new ]") == 0)
    }

    static let reads: [(method: String, fields: [(String, String)], body: String)] = [
        ("PROPFIND", [("Depth", "infinity")], #"<propfind xmlns="DAV:"><allprop/></propfind>"#),
        (
            "SEARCH", [],
            """
            <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:getetag/></D:prop></D:select>\
            <D:from><D:scope><D:href>/p/</D:href><D:depth>infinity</D:depth></D:scope></D:from>\
            </D:basicsearch></D:searchrequest>
            """
        ),
        ("GET", [], ""), ("COPY", [("Destination", "/p2")], ""),
    ]

    private static func rules(secret: String) -> [AccessRule] {
        [AccessRule(.user("ann"), .root, .edit), AccessRule(.user("ann"), path(secret), .none)]
    }

    /// A restricted folder that is moved with its rules into a collection is not visible to requests that read the collection.
    @Test(arguments: reads.indices) func foldersThatWereRestrictedMeanwhileAreNotRead(index: Int) async throws
    {
        let (method, fields, body) = Self.reads[index]
        let policy = ChangingPolicy(Self.rules(secret: "secret"))
        let share = try TestShare { $0.access = policy }
        #expect(share.shell("mkdir p secret && echo >p/f && echo >secret/hidden") == 0)
        let moved = Mutex(false)
        share.resources.watch { call in
            guard call == .members(Self.path("p")) || call == .beginCopy else { return nil }
            moved.withLock { moved in
                guard !moved else { return }
                #expect(share.shell("mv secret p") == 0)
                policy.replace(Self.rules(secret: "p/secret"))
                moved = true
            }
            return nil
        }
        let handler = IdentityHandler(
            base: WebDAVHandler(share: share.share, page: DownloadPage()),
            identity: Principal(.account, "ann"))
        let response = try await TestClient(handler).send(method, "/p/", fields, text: body)
        #expect(moved.withLock { $0 } && (200...207).contains(response.status), "\(response.status)")
        #expect(!response.text.contains("hidden") && share.shell("[ ! -e p2/secret ]") == 0)
        let visible = method == "GET" ? "f\n" : "/p/f"
        if method != "COPY" { #expect(response.text.contains(visible)) }
    }

    // MARK: Uploads

    private static let tus = ("Tus-Resumable", "1.0.0")
    private static let draft = ("Upload-Draft-Interop-Version", "8")
    private static let offsetType = ("Content-Type", "application/offset+octet-stream")

    /// How an upload begins, and how it continues.
    static let uploads:
        [(name: String, begin: (String, String, [(String, String)]), next: [(String, String)])] = [
            (
                "tus",
                (
                    "POST", "/p/",
                    [tus, ("Upload-Length", "8"), ("Upload-Metadata", "filename bmV3"), offsetType]
                ),
                [tus, ("Upload-Offset", "4"), offsetType]
            ),
            (
                "draft", ("PUT", "/p/new", [("Upload-Complete", "?0"), draft]),
                [
                    draft, ("Upload-Offset", "4"), ("Upload-Complete", "?1"),
                    ("Content-Type", "application/partial-upload"),
                ]
            ),
            (
                "part",
                ("POST", "/p/", [tus, ("Upload-Length", "8"), ("Upload-Concat", "partial"), offsetType]),
                [tus, ("Upload-Offset", "4"), offsetType]
            ),
        ]

    @Test(arguments: uploads.indices) func uploadsFollowTheRights(index: Int) async throws {
        let (name, begin, next) = Self.uploads[index]
        let share = try share()
        let created = try await share.client.send(begin.0, begin.1, begin.2, text: "data", principal: "ann")
        #expect(created.status == 201, "\(name)")
        let url = try #require(created.fields.first(.location))
        func status(_ method: String, _ fields: [(String, String)], _ body: String?, _ principal: String?)
            async throws -> UInt16
        {
            try await share.client.send(
                method, url, fields, body: body.map { Array($0.utf8) }, principal: principal
            ).status
        }
        // The upload of another account does not exist, whatever the rights of the client.
        for other in ["root", "ben", nil] {
            #expect(try await status("HEAD", [next[0]], nil, other) == 404, "\(name)")
            #expect(try await status("PATCH", next, "more", other) == 404, "\(name)")
            #expect(try await status("DELETE", [next[0]], nil, other) == 404, "\(name)")
        }
        // Without rights, one's own cannot be continued, completed, read or ended.
        for rights in [Rights.view, .none] {
            policy.replace(Self.rules(rights))
            let expected: UInt16 = rights == .view ? 403 : 404
            #expect(try await status("HEAD", [next[0]], nil, "ann") == expected, "\(name)")
            #expect(try await status("PATCH", next, "more", "ann") == expected, "\(name)")
            #expect(try await status("DELETE", [next[0]], nil, "ann") == expected, "\(name)")
        }
        // It continues where it was when the rights return.
        policy.replace(Self.rules(.add))
        #expect(try await status("PATCH", next, "more", "ann") < 300, "\(name)")
        if name != "part" { #expect(share.shell("[ $(cat p/new) = datamore ]") == 0, "\(name)") }
    }

    /// Parts cannot be put together without the right to create the whole, or by another account.
    @Test func partsFollowTheRights() async throws {
        let share = try share()
        let part = try await share.client.send(
            "POST", "/p/", [Self.tus, ("Upload-Length", "4"), ("Upload-Concat", "partial"), Self.offsetType],
            text: "data", principal: "ann")
        let url = try #require(part.fields.first(.location))
        func join(_ principal: String) async throws -> UInt16 {
            try await share.client.send(
                "POST", "/p/",
                [Self.tus, ("Upload-Concat", "final;\(url)"), ("Upload-Metadata", "filename bmV3")],
                principal: principal
            ).status
        }
        #expect(try await join("root") == 404)
        policy.replace(Self.rules(.view))
        #expect(try await join("ann") == 403)
        #expect(share.shell("[ ! -e p/new ]") == 0)
        policy.replace(Self.rules(.add))
        #expect(try await join("ann") == 201)
    }

    /// A limit of a credential ends what it has begun, although the account could continue.
    @Test func uploadsFollowTheLimitOfACredential() async throws {
        let share = try share()
        func client(_ limit: AccessLimit?) -> TestClient<IdentityHandler<WebDAVHandler>> {
            TestClient(
                IdentityHandler(
                    base: WebDAVHandler(share: share.share, page: nil),
                    identity: Principal(.appPassword, "ann", limit: limit)))
        }
        let (_, begin, next) = Self.uploads[1]
        let created = try await client(nil).send(begin.0, begin.1, begin.2, text: "data")
        let url = try #require(created.fields.first(.location))
        let limited = client(AccessLimit(path: Self.path("p"), rights: .view))
        #expect(try await limited.send("PATCH", url, next, text: "more").status == 403)
        let elsewhere = client(AccessLimit(path: Self.path("q"), rights: .edit))
        #expect(try await elsewhere.send("PATCH", url, next, text: "more").status == 404)
        #expect(try await client(nil).send("PATCH", url, next, text: "more").status == 201)
    }
}
