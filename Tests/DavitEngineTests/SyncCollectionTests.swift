import DavitEngine
import DavitJournal
import DavitStore
import DavitTesting
import Testing

/// sync-collection, from the client's perspective (RFC 6578).
struct SyncCollectionTests {
    static func share(
        _ folder: TemporaryFolder? = nil, _ change: (inout ShareJournal.Options) -> Void = { _ in },
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws -> TestShare {
        var options = ShareJournal.Options()
        options.walksInBackground = false
        change(&options)
        return try TestShare(folder, journal: options, configure)
    }

    @Test func onlyChangesAreReported() async throws {
        let share = try Self.share()
        var client = SyncClient(share.client)
        #expect(share.shell("mkdir -p d/e; echo 1 > d/a; echo 1 > 'd/e/b c'") == 0)
        try await client.sync()
        #expect(client.told.sorted() == ["+/d/", "+/d/a", "+/d/e/", "+/d/e/b%20c"])
        try await client.sync()
        #expect(client.told.isEmpty)
        #expect(try await share.client.send("PUT", "/d/a", text: "22").status == 204)
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        #expect(try await share.client.send("DELETE", "/d/e").status == 204)
        #expect(share.shell("echo 1 > x") == 0)
        try await client.sync()
        #expect(client.told.sorted() == ["+/d/a", "+/f/", "+/x", "-/d/e/"])
        #expect(try await client.copy == client.listing())
    }

    /// Resources moved to the trash are reported as removed, and restored and replaced ones as changed. The
    /// trash itself is not reported.
    @Test func trashOperationsAreReportedAsChanges() async throws {
        let share = try Self.share { _ in
        } _: {
            $0.trash = TrashLimits()
        }
        var client = SyncClient(share.client)
        #expect(share.shell("mkdir -p d/e f; echo 1 > d/a; echo 1 > d/e/b; echo 1 > f/c; echo 1 > g") == 0)
        try await client.sync()
        #expect(try await share.client.send("PUT", "/d/a", text: "22").status == 204)
        #expect(try await share.client.send("DELETE", "/d/e").status == 204)
        #expect(try await share.client.send("DELETE", "/g").status == 204)
        let id = share.lastTrash
        try await client.sync()
        #expect(client.told.sorted() == ["+/d/a", "-/d/e/", "-/g"])
        #expect(try await share.client.send("MOVE", "/f", [("Destination", "/d")]).status == 204)
        #expect(try await share.restore(id).status == 201)
        try await client.sync()
        #expect(client.told.sorted() == ["+/d/", "+/d/c", "+/g", "-/d/a", "-/f/"].sorted())
        #expect(try await client.copy == client.listing())
    }

    /// A token promises that later removals are reported, so a collection has one only after the journal has
    /// read the collection. The journal has not read the target of a link.
    @Test func onlyReadCollectionsHaveAToken() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir -p a/b c/d; ln -s ../c a/l; ln -s b a/m") == 0)
        let body = #"<D:propfind xmlns:D="DAV:"><D:prop><D:sync-token/></D:prop></D:propfind>"#
        for depth in ["1", "infinity"] {
            let answer = try await share.client.send("PROPFIND", "/a/", [("Depth", depth)], text: body)
            var withToken: [String] = []
            for response in answer.text.split(separator: "<D:response>").dropFirst() {
                let response = String(response)
                if SyncClient.text(of: "sync-token", in: response) != nil {
                    withToken.append(SyncClient.text(of: "href", in: response) ?? "")
                }
            }
            #expect(withToken.sorted() == ["/a/", "/a/b/", "/a/m/"])
        }
        // A request for the target of the link returns a token.
        let answer = try await share.client.send("PROPFIND", "/a/l/", [("Depth", "0")], text: body)
        #expect(SyncClient.text(of: "sync-token", in: answer.text) != nil)
    }

    /// Responses are truncated at different lengths, and changes are made between them.
    @Test(arguments: [1, 2, 3, 7, 1000])
    func truncatedResponsesLeadToTheSameState(limit: Int) async throws {
        let share = try Self.share()
        #expect(
            share.shell(
                "for d in a b c; do mkdir $d; for f in 1 2 3 4; do echo $f > $d/$f; done; done; echo > z")
                == 0)
        var other = SyncClient(share.client)
        try await other.syncAll()
        #expect(share.shell("rm z b/1; echo 22 > a/1") == 0)
        var client = SyncClient(share.client)
        try await client.sync(limit: limit)
        #expect(client.told.count == min(limit, 14))
        #expect(!client.told.contains { $0.hasPrefix("-") })
        #expect(client.isTruncated == (limit < 14))
        #expect(share.shell("rm -r c; echo 22 > a/2; rm a/3; mkdir n; echo > n/1") == 0)
        try await client.syncAll(limit: limit)
        #expect(try await client.copy == client.listing())
        try await other.syncAll(limit: limit)
        #expect(try await other.copy == other.listing())
    }

    @Test func limitZeroReturnsNoMembers() async throws {
        let share = try Self.share()
        #expect(share.shell("echo 1 > a") == 0)
        var client = SyncClient(share.client)
        try await client.sync(limit: 0)
        #expect(client.isTruncated && client.told.isEmpty)
        try await client.sync()
        #expect(client.told == ["+/a"])
        try await client.sync(limit: 0)
        #expect(!client.isTruncated)
    }

    /// An initial synchronization in several responses completes even if few removals are recorded.
    @Test func forgottenRemovalsDoNotStopAnInitialSynchronization() async throws {
        let share = try Self.share(nil) { $0.removalLimit = 4 }
        #expect(share.shell("seq 40 | xargs touch") == 0)
        var old = SyncClient(share.client)
        try await old.sync()
        #expect(share.shell("seq 21 40 | xargs rm") == 0)
        var client = SyncClient(share.client)
        try await client.syncAll(limit: 3)
        #expect(try await client.copy == client.listing())
        let response = try await share.client.send("REPORT", "/", text: SyncClient.body(token: old.token))
        #expect(response.status == 403)
        #expect(response.text.contains("<D:valid-sync-token/>"))
    }

    @Test func levelOneReportsOnlyMembers() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir d; echo 1 > d/a; echo 1 > b; ln -s d l") == 0)
        var client = SyncClient(share.client)
        client.level = "1"
        try await client.sync()
        #expect(Set(client.told) == ["+/b", "+/d/", "+/l/"])
        #expect(share.shell("echo 22 > d/a; echo 1 > c") == 0)
        try await client.sync()
        #expect(client.told == ["+/c"])
        // The same token is valid for both levels (§3.3).
        var deep = SyncClient(share.client)
        deep.token = client.token
        #expect(share.shell("echo 1 > d/n") == 0)
        try await deep.sync()
        #expect(deep.told.contains("+/d/n"))
    }

    /// §3.3: a response does not report the members of a linked collection under the link, which has the
    /// status 403. A request for the link itself reports them.
    @Test func linkedCollectionIsReportedOnce() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir d; echo 1 > d/a; ln -s d l") == 0)
        let response = try await share.client.send("REPORT", "/", text: SyncClient.body(token: ""))
        #expect(
            response.text.contains(
                "<D:href>/l/</D:href><D:status>HTTP/1.1 403 Forbidden</D:status>"
                    + "<D:error><D:sync-traversal-supported/></D:error>"))
        #expect(!response.text.contains("/l/a"))
        var client = SyncClient(share.client, "/l/")
        try await client.sync()
        #expect(client.told == ["+/l/a"])
    }

    @Test func requestedPropertiesAreReturned() async throws {
        let share = try Self.share()
        #expect(try await share.client.send("PUT", "/a", text: "x").status == 201)
        #expect(try await share.client.send("PROPPATCH", "/a", text: setProperty("p", "one")).status == 207)
        let response = try await share.client.send(
            "REPORT", "/",
            text: SyncClient.body(
                token: "", prop: "<D:getcontentlength/><x:p xmlns:x=\"urn:x\"/><D:nothing/><D:displayname/>"))
        for text in [
            "<D:getcontentlength>1<", ">one</", "<D:nothing/></D:prop><D:status>HTTP/1.1 404",
            "<D:displayname>a<",
        ] {
            #expect(response.text.contains(text), "\(response.text)")
        }
        #expect(!response.text.contains("<D:href>/</D:href>"))
    }

    static let refusals:
        [(target: String, fields: [(String, String)], body: String, status: UInt16, holds: String)] = [
            ("/", [("Depth", "1")], SyncClient.body(token: ""), 400, ""),
            ("/", [("Depth", "infinity")], SyncClient.body(token: ""), 400, ""),
            ("/", [("Depth", "x")], SyncClient.body(token: ""), 400, ""),
            ("/a", [], SyncClient.body(token: ""), 403, "<D:supported-report/>"),
            ("/none", [], SyncClient.body(token: ""), 404, ""),
            ("/", [], SyncClient.body(token: "urn:other"), 403, "<D:valid-sync-token/>"),
            ("/", [], SyncClient.body(token: "data:,davit-sync-00-1"), 403, "<D:valid-sync-token/>"),
            ("/", [], SyncClient.body(token: "", level: "2"), 400, ""),
            ("/", [], SyncClient.body(token: "", level: ""), 400, ""),
            ("/", [], "", 400, ""),
            ("/", [], "<D:sync-collection xmlns:D=\"DAV:\"", 400, ""),
            ("/", [], "<D:sync-collection xmlns:D=\"DAV:\"/>", 400, ""),
            (
                "/", [],
                "<D:sync-collection xmlns:D=\"DAV:\"><D:sync-token/><D:sync-level>1</D:sync-level></D:sync-collection>",
                400, ""
            ),
            (
                "/", [], "<D:sync-collection xmlns:D=\"DAV:\"><D:sync-token/><D:prop/></D:sync-collection>",
                400, ""
            ),
            (
                "/", [],
                "<D:sync-collection xmlns:D=\"DAV:\"><D:sync-level>1</D:sync-level><D:prop/></D:sync-collection>",
                400, ""
            ),
            ("/", [], SyncClient.body(token: "").replacing("<D:prop>", with: "<D:limit/><D:prop>"), 400, ""),
            (
                "/", [],
                SyncClient.body(token: "").replacing(
                    "<D:prop>", with: "<D:limit><D:nresults>-1</D:nresults></D:limit><D:prop>"), 400, ""
            ),
            (
                "/", [],
                SyncClient.body(token: "").replacing(
                    "<D:prop>", with: "<D:limit><D:nresults>x</D:nresults></D:limit><D:prop>"), 400, ""
            ),
            (
                "/", [], SyncClient.body(token: "").replacing("<D:prop>", with: "<D:sync-token/><D:prop>"),
                400, ""
            ),
            ("/", [], "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", 403, "<D:no-external-entities/>"),
            ("/", [], "<D:other xmlns:D=\"DAV:\"/>", 403, "<D:supported-report/>"),
            ("/", [("If", "(<urn:x>)")], SyncClient.body(token: ""), 412, ""),
        ]

    @Test(arguments: refusals.indices)
    func invalidRequestsAreRefused(index: Int) async throws {
        let row = Self.refusals[index]
        let share = try Self.share()
        #expect(share.shell("echo 1 > a") == 0)
        let response = try await share.client.send("REPORT", row.target, row.fields, text: row.body)
        #expect(response.status == row.status, "\(row): \(response.text)")
        #expect(row.holds.isEmpty || response.text.contains(row.holds), "\(row): \(response.text)")
    }

    static let odd: [String] = [
        SyncClient.body(token: "").replacing("<D:prop>", with: "<x:y xmlns:x=\"urn:x\"/><D:prop>"),
        SyncClient.body(token: " \n ").replacing(">infinite<", with: "> infinite\n<"),
        SyncClient.body(token: "").replacing(
            "<D:prop>", with: "<D:limit><D:nresults>99999999999999999999</D:nresults></D:limit><D:prop>"),
        SyncClient.body(token: "", prop: ""),
    ]

    @Test(arguments: odd)
    func unusualRequestsAreAccepted(body: String) async throws {
        let share = try Self.share()
        #expect(share.shell("echo 1 > a") == 0)
        let response = try await share.client.send("REPORT", "/", [("Depth", "0")], text: body)
        #expect(response.status == 207, "\(response.text)")
        #expect(response.text.contains("<D:href>/a</D:href>"))
    }

    @Test func syncWithoutAJournalIsNotSupported() async throws {
        let share = try TestShare()
        let response = try await share.client.send("REPORT", "/", text: SyncClient.body(token: ""))
        #expect(response.status == 403)
        #expect(response.text.contains("<D:supported-report/>"))
        let body =
            "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:sync-token/><D:supported-report-set/></D:prop></D:propfind>"
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "0")], text: body)
        #expect(!listing.text.contains("sync-collection"))
        #expect(listing.text.contains("<D:prop><D:sync-token/></D:prop><D:status>HTTP/1.1 404"))
    }

    /// §4, and RFC 3253 §3.1.5: collections have the property `sync-token` and list the report.
    @Test func syncTokenIsNotInAllprop() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir d; echo 1 > d/a") == 0)
        #expect(try await !share.client.send("PROPFIND", "/", [("Depth", "1")]).text.contains("sync-token"))
        #expect(share.journal?.isAwake == false)
        let names = try await share.client.send(
            "PROPFIND", "/", [("Depth", "0")], text: "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>"
        )
        #expect(names.text.contains("<D:sync-token/>") && names.text.contains("<D:supported-report-set/>"))
        #expect(share.journal?.isAwake == false)
        let body =
            "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:sync-token/><D:supported-report-set/></D:prop></D:propfind>"
        let listing = try await share.client.send("PROPFIND", "/d", [("Depth", "1")], text: body)
        #expect(listing.text.contains("<D:report><D:sync-collection/></D:report>"))
        // Files have no token.
        #expect(listing.text.contains("<D:prop><D:sync-token/></D:prop><D:status>HTTP/1.1 404"))
        var client = SyncClient(share.client, "/d/")
        client.token = try #require(SyncClient.text(of: "sync-token", in: listing.text))
        try await client.sync()
        #expect(client.told.isEmpty)
        #expect(share.shell("rm d/a; echo 1 > d/b") == 0)
        try await client.sync()
        #expect(client.told.sorted() == ["+/d/b", "-/d/a"])
    }

    /// §5: a token in `If` matches while nothing below its collection has changed.
    @Test func syncTokenIsAStateToken() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir -p d/e c; echo 1 > d/e/a") == 0)
        var client = SyncClient(share.client, "/d/")
        try await client.sync()
        let condition = [("If", "</d/> (<\(client.token)>)")]
        #expect(try await share.client.send("PUT", "/c/x", condition, text: "x").status == 201)
        #expect(try await share.client.send("PUT", "/c/x", condition, text: "y").status == 204)
        #expect(try await share.client.send("PUT", "/d/e/b", condition, text: "x").status == 201)
        #expect(try await share.client.send("PUT", "/c/x", condition, text: "z").status == 412)
        #expect(try await share.client.send("GET", "/c/x").text == "y")
        let other = [("If", "</d/> (Not <\(client.token)>)")]
        #expect(try await share.client.send("PUT", "/c/x", other, text: "z").status == 204)
        // The token does not apply to a file in the collection.
        let content = [("If", "</d/e/a> (<\(client.token)>)")]
        #expect(try await share.client.send("PUT", "/c/x", content, text: "w").status == 412)
    }

    /// The server refuses a request rather than send an incomplete response.
    @Test func slowComparisonIsRefusedAndCanBeRetried() async throws {
        let share = try Self.share(nil, { $0.step = 0 }, { $0.syncTimeout = .zero })
        #expect(share.shell("for d in $(seq 60); do mkdir $d; (cd $d && seq 100 | xargs touch); done") == 0)
        var client = SyncClient(share.client)
        var refusals = 0
        while true {
            let response = try await share.client.send("REPORT", "/", text: SyncClient.body(token: ""))
            guard response.status == 503 else { break }
            #expect(response["Retry-After"] == "5")
            refusals += 1
        }
        #expect(refusals >= 60)
        try await client.sync()
        #expect(client.told.count == 6_060)
    }

    /// A resource that is temporarily unreadable is not reported as removed.
    @Test func unreadableResourceIsNotReportedAsRemoved() async throws {
        let share = try Self.share()
        #expect(share.shell("mkdir d; echo 1 > d/a") == 0)
        var client = SyncClient(share.client)
        try await client.sync()
        share.journal?.forgetEvents()
        share.resources.watch { call in
            if case .members = call { return .failed(reason: "the disk") }
            return nil
        }
        let response = try await share.client.send("REPORT", "/", text: SyncClient.body(token: client.token))
        #expect(response.status == 500)
        share.resources.watch { _ in nil }
        try await client.sync()
        #expect(client.told.isEmpty)
    }

    /// A combined test: after random changes by the server and by other programs, with old tokens and
    /// responses of any length, the client's copy must equal the result of PROPFIND.
    @Test(arguments: [UInt64(11), 12, 13, 14])
    func copyOfAClientMatchesTheShare(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let share = try Self.share(TemporaryFolder(in: seed % 2 == 0 ? "/tmp" : "/dev/shm")) {
            if seed == 14 { $0.watchLimit = 2 }
        }
        var clients = [SyncClient(share.client)]
        for step in 0..<80 {
            for _ in 0..<Int.random(in: 1...3, using: &generator) { try await Self.change(share, &generator) }
            if Int.random(in: 0..<30, using: &generator) == 0 { share.journal?.forgetEvents() }
            var client = clients[Int.random(in: 0..<clients.count, using: &generator)]
            try await client.syncAll(limit: [nil, 1, 2, 5].randomElement(using: &generator)!)
            let listing = try await client.listing()
            try #require(client.copy == listing, "seed \(seed), step \(step)")
            if clients.count < 12 {
                clients.append(client)
            } else {
                clients[Int.random(in: 0..<12, using: &generator)] = client
            }
        }
    }

    private static func change(_ share: TestShare, _ generator: inout SeededGenerator) async throws {
        let names = ["a", "b", "c", "a/b", "a/c", "b/a", "a/b/c", "b/a/c"]
        let (x, y) = (names.randomElement(using: &generator)!, names.randomElement(using: &generator)!)
        let content = "\(UInt64.random(in: 0...9999, using: &generator))"
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...1: _ = try await share.client.send("PUT", "/" + x, text: content)
        case 2: _ = try await share.client.send("MKCOL", "/" + x)
        case 3: _ = try await share.client.send("DELETE", "/" + x)
        case 4: _ = try await share.client.send("MOVE", "/" + x, [("Destination", "/" + y)])
        case 5: _ = try await share.client.send("COPY", "/" + x, [("Destination", "/" + y)])
        case 6: _ = share.shell("echo \(content) > \(x)")
        case 7: _ = share.shell("rm -rf \(x)")
        case 8: _ = share.shell("mkdir -p \(x); echo 1 > \(x)/n")
        default: _ = share.shell("mv -T \(x) \(y)")
        }
    }
}
