import DavitEngine
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Undo, confirmations, trash, locks and archives of the plain page.
struct PlainTrashTests {
    private static func keeping(isReadOnly: Bool = false) throws -> TestPage {
        try TestPage {
            $0.trash = TrashLimits()
            $0.isReadOnly = isReadOnly
        }
    }

    /// Returns the IDs on a page of the trash, in order.
    private static func ids(_ text: String) -> [String] {
        text.matches(of: #/name="id" value="([a-z0-9]+)"/#).map { String($0.output.1) }
    }

    private static func names(_ text: String) -> [String] {
        text.split(separator: "<th scope=\"row\"").dropFirst().map { row in
            String(row.split(separator: "<bdi>")[1].prefix { $0 != "<" })
        }
    }

    @Test func deletedDescendantsAreListedNewestFirst() async throws {
        let page = try Self.keeping()
        _ = try await page.client.send("MKCOL", "/d")
        for name in ["/d/a", "/d/b%20%3Ci%3E", "/c"] {
            _ = try await page.client.send("PUT", name, text: "x")
            _ = try await page.client.send("DELETE", name)
        }
        #expect(Self.names(try await page.get("/?trash").text) == ["c", "b &lt;i&gt;", "a"])
        #expect(Self.names(try await page.get("/d/?trash").text) == ["b &lt;i&gt;", "a"])
        #expect(try await page.get("/d?trash").text.contains("action=\"./d/?action=restore\""))
        #expect(try await page.get("/").text.contains("href=\"./?trash\""))
        #expect(try await page.get("/?trash").text.contains("<title>Trash – Files</title>"))
        #expect(try await page.get("/d/?trash").text.contains("<title>Trash – d – Files</title>"))
        // The scripts replace this page too.
        #expect(try await page.get("/?trash").text.contains("id=\"davit\""))
    }

    /// With such a character, a name that ends in `gpj.exe` looks like an image.
    @Test func bidirectionalControlsInNamesAreReplaced() async throws {
        let page = try Self.keeping()
        _ = try await page.client.send("MKCOL", "/%E2%80%AEd")
        for name in ["/%E2%80%AEd/x", "/a%E2%80%AEgpj.exe"] {
            _ = try await page.client.send("PUT", name, text: "x")
            _ = try await page.client.send("DELETE", name)
        }
        let text = try await page.get("/?trash").text
        #expect(Self.names(text) == ["a\u{FFFD}gpj.exe", "x"])
        #expect(text.contains("<small><bdi>/\u{FFFD}d</bdi></small>"))
        #expect(!text.contains("\u{202E}"))
    }

    @Test func olderEntriesAreOnFurtherPages() async throws {
        let page = try Self.keeping()
        for number in 0..<205 {
            try page.folder.makeFile("f\(number)")
            _ = try await page.client.send("DELETE", "/f\(number)")
        }
        let newest = try await page.get("/?trash").text
        #expect(Self.names(newest) == (5..<205).reversed().map { "f\($0)" })
        let next = try #require(newest.firstMatch(of: #/rel="next" href="\.\/([^"]*)"/#)).output.1
        let older = try await page.get("/" + next.replacing("&amp;", with: "&")).text
        #expect(Self.names(older) == ["f4", "f3", "f2", "f1", "f0"])
        #expect(!older.contains("rel=\"next\"") && older.contains("href=\"./?trash\">Newest"))
        #expect(Self.names(try await page.get("/?trash&before=x").text).count == 200)
        #expect(try await page.get("/?trash&before=-1").text.contains("The trash contains no items"))
    }

    @Test func entriesAreRestoredOrPurged() async throws {
        let page = try Self.keeping()
        for name in ["a", "b"] {
            try page.folder.makeFile(name)
            _ = try await page.client.send("DELETE", "/\(name)")
        }
        let ids = Self.ids(try await page.get("/?trash").text)
        #expect(ids.count == 2)
        let back = try await page.post("/?action=restore", "id=\(ids[1])")
        #expect(back.status == 303 && back["Location"] == "/?done=restore&count=1")
        #expect(try await page.client.send("GET", "/a").status == 200)
        // Nothing is purged without confirmation.
        #expect(try await page.post("/?action=purge", "id=\(ids[0])").status == 400)
        #expect(Self.ids(try await page.get("/?trash").text) == [ids[0]])
        let gone = try await page.post("/?action=purge", "id=\(ids[0])&confirmed=yes")
        #expect(gone["Location"] == "/?done=purge&count=1")
        #expect(try await page.get("/?trash").text.contains("The trash contains no items from this folder."))
        #expect(try await page.post("/?action=restore", "id=\(ids[0])").text.contains("no longer exists"))
    }

    // MARK: Undo

    private static let undo = "<button>Undo</button>"

    @Test func undoRestoresTheDeletedMembers() async throws {
        let page = try Self.keeping()
        for name in ["a <i>", "b", "c"] { try page.folder.makeFile(name) }
        let done = try await page.post("/?action=delete", "member=a%2520%253Ci%253E&member=b&confirmed=yes")
        #expect(done.status == 303)
        let location = try #require(done["Location"])
        #expect(location.wholeMatch(of: #/\/\?done=delete&count=2&kept=[a-z2-7]{16},[a-z2-7]{16}/#) != nil)
        // Reloading the page shows the result again.
        for _ in 0..<2 {
            let text = try await page.get(location).text
            #expect(text.contains("2 items deleted."))
            #expect(text.contains("<ul><li><bdi>a &lt;i&gt;</bdi></li><li><bdi>b</bdi></li></ul>"))
            #expect(text.contains("action=\"./?action=restore\"") && text.contains(Self.undo))
            #expect(Self.names(text) == ["c"])
        }
        let form = try await Self.hidden("id", page.get(location).text).map { "id=\($0)" }
        #expect(form.count == 2)
        let back = try await page.post("/?action=restore", form.joined(separator: "&"))
        #expect(back["Location"] == "/?done=restore&count=2")
        #expect(Self.names(try await page.get("/").text) == ["a &lt;i&gt;", "b", "c"])
        // The old URL no longer offers Undo, and submitting the form again is harmless.
        #expect(try await !page.get(location).text.contains(Self.undo))
        let again = try await page.post("/?action=restore", form.joined(separator: "&"))
        #expect(again.status == 404 && again.text.contains("no longer exists"))
        #expect(Self.names(try await page.get("/").text) == ["a &lt;i&gt;", "b", "c"])
    }

    private static func hidden(_ name: String, _ text: String) -> [String] {
        text.matches(of: #/type="hidden" name="([a-z]+)" value="([^"]*)"/#).filter { $0.output.1 == name }
            .map { String($0.output.2) }
    }

    /// The URL contains only IDs. IDs of entries that were not in the folder are ignored, as are all IDs if
    /// the URL does not report deletions.
    @Test func otherIDsInTheURLAreIgnored() async throws {
        let page = try Self.keeping()
        _ = try await page.client.send("MKCOL", "/d")
        for name in ["/a", "/d/b"] {
            _ = try await page.client.send("PUT", name, text: "x")
            _ = try await page.client.send("DELETE", name)
        }
        let ids = Self.ids(try await page.get("/?trash").text)
        let (inner, outer) = (ids[0], ids[1])
        func kept(_ target: String) async throws -> [String] {
            let text = try await page.get(target).text
            #expect(!text.contains("script>alert"))
            return Self.hidden("id", text)
        }
        let start = "?done=delete&count=1&kept="
        #expect(try await kept("/d/\(start)\(outer),\(inner)") == [inner])
        #expect(try await kept("/\(start)\(outer),\(outer),aaaaaaaaaaaaaaaa,,x") == [outer])
        #expect(try await kept("/\(start)%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E") == [])
        #expect(try await kept("/?done=move&count=1&kept=\(outer)") == [])
        #expect(try await kept("/?kept=\(outer)") == [])
        let many = String(repeating: "aaaaaaaaaaaaaaaa,", count: 400) + outer
        #expect(try await kept("/\(start)\(many)") == [])
    }

    @Test func undoRequiresATrashAndWritePermission() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let done = try await page.post("/?action=delete", "member=a&confirmed=yes")
        #expect(done["Location"] == "/?done=delete&count=1")
        #expect(try await !page.get("/?done=delete&count=1&kept=aaaaaaaaaaaaaaaa").text.contains(Self.undo))
    }

    /// After more than 100 deletions, the URL contains no IDs, and the page links to the trash instead.
    @Test func resultOfManyDeletionsListsNoEntries() async throws {
        for (count, isListed) in [(100, true), (101, false)] {
            let page = try Self.keeping()
            for number in 0..<count { try page.folder.makeFile("f\(number)") }
            let members = (0..<count).map { "member=f\($0)" }.joined(separator: "&")
            let done = try await page.post("/?action=delete", members + "&confirmed=yes")
            let location = try #require(done["Location"])
            #expect(location.hasPrefix("/?done=delete&count=\(count)"))
            #expect(Self.hidden("id", try await page.get(location).text).count == (isListed ? count : 0))
            #expect(try await page.get("/").text.contains("href=\"./?trash\""))
        }
    }

    /// A partial failure still offers Undo for the deleted members.
    @Test func partialFailureOffersUndo() async throws {
        let page = try Self.keeping()
        for name in ["a", "b"] { try page.folder.makeFile(name) }
        let body = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
            </D:lockinfo>
            """
        #expect(try await page.client.send("LOCK", "/b", text: body).status == 200)
        let answer = try await page.post("/?action=delete", "member=a&member=b&confirmed=yes")
        #expect(answer.status == 409 || answer.status == 423)
        #expect(answer.text.contains(Self.undo) && Self.hidden("id", answer.text).count == 1)
        let id = try #require(Self.hidden("id", answer.text).first)
        #expect(try await page.post("/?action=restore", "id=\(id)").status == 303)
        #expect(Self.names(try await page.get("/").text) == ["a", "b"])
    }

    /// After more than 500 deletions, a partial failure links to the trash instead.
    @Test func partialFailureOfManyDeletionsLinksToTheTrash() async throws {
        for (count, isUndoable) in [(500, true), (501, false)] {
            let page = try Self.keeping()
            for number in 0..<count { try page.folder.makeFile("f\(number)") }
            let members = (0..<count).map { "member=f\($0)" }.joined(separator: "&")
            let answer = try await page.post("/?action=delete", members + "&member=none&confirmed=yes")
            #expect(answer.status == 404)
            #expect(Self.hidden("id", answer.text).count == (isUndoable ? count : 0))
            #expect(answer.text.contains("href=\"./?trash\"") == !isUndoable)
        }
    }

    // MARK: Questions

    @Test func confirmationStatesWhetherTheTrashIsUsed() async throws {
        for (page, text) in [
            (try Self.keeping(), "moved to the trash"), (try TestPage(), "This cannot be undone."),
        ] {
            try page.folder.makeFile("a")
            #expect(try await page.post("/?action=delete", "member=a").text.contains(text))
        }
    }

    /// Invalid and outdated forms get a page with an error message.
    static let refused: [(action: String, form: String, status: UInt16, text: String)] = [
        ("restore", "", 400, "is incomplete"), ("restore", "id=", 404, "no longer exists"),
        ("restore", "id=aaaaaaaaaaaaaaaa", 404, "no longer exists"),
        ("restore", "id=%ID&taken=refuse", 412, "An item with this name already exists."),
        ("restore", "id=%ID&taken=x", 400, "is incomplete"),
        ("purge", "id=%ID", 400, "is incomplete"),
        ("purge", "confirmed=yes", 400, "is incomplete"),
        ("purge", "id=aaaaaaaaaaaaaaaa&confirmed=yes", 404, "no longer exists"),
        ("unlock", "member=a&token=urn%3Ax", 400, "is incomplete"),
        ("unlock", "member=a&confirmed=yes", 400, "is incomplete"),
        ("unlock", "member=a&token=urn%3Ax&confirmed=yes", 409, "no longer exists"),
        ("archive", "", 400, "is incomplete"), ("archive", "member=..", 400, "is incomplete"),
    ]

    @Test func refusalsAreShownOnAPage() async throws {
        let page = try Self.keeping()
        try page.folder.makeFile("a")
        _ = try await page.client.send("DELETE", "/a")
        let id = try #require(Self.ids(try await page.get("/?trash").text).first)
        try page.folder.makeFile("a")
        for row in Self.refused {
            let form = row.form.replacing("%ID", with: id)
            let answer = try await page.post("/?action=\(row.action)", form)
            #expect(answer.status == row.status, "\(row)")
            #expect(answer["Content-Type"]?.hasPrefix("text/html") == true, "\(row)")
            #expect(answer.text.contains("role=\"alert\"") && answer.text.contains(row.text), "\(row)")
            #expect(!answer.text.contains("id=\"davit\""), "\(row)")
        }
        #expect(Self.ids(try await page.get("/?trash").text) == [id])
    }

    @Test func listingIsShownWithoutATrash() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let text = try await page.get("/?trash").text
        #expect(Self.names(text) == ["a"] && !text.contains("?trash\""))
        let readOnly = try Self.keeping(isReadOnly: true)
        #expect(try await !readOnly.get("/?trash").text.contains("method=\"post\""))
    }

    @Test func lockIsBrokenAfterAWarning() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let body = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
            </D:lockinfo>
            """
        let lock = try await page.client.send("LOCK", "/a", body: Array(body.utf8), principal: "anna")
        let token = try #require(lock["Lock-Token"]).dropFirst().dropLast()
        let about = try await page.get("/?about=a").text
        #expect(about.contains("name=\"token\" value=\"\(token)\""))
        #expect(about.contains("This item is locked by anna."))
        let form = "member=a&token=\(token)"
        #expect(try await page.post("/?action=unlock", form).status == 400)
        #expect(try await page.post("/?action=delete", "member=a&confirmed=yes").status == 423)
        let done = try await page.post("/?action=unlock", form + "&confirmed=yes")
        #expect(done["Location"] == "/?done=unlock&count=1")
        #expect(try await !page.get("/?about=a").text.contains("name=\"token\""))
        #expect(try await page.post("/?action=delete", "member=a&confirmed=yes").status == 303)
    }

    @Test func addressForOtherProgramsIsShown() async throws {
        let page = try TestPage()
        let text = try await page.get("/").text
        #expect(text.contains("<summary>Connect</summary>"))
        #expect(text.firstMatch(of: #/<bdi>http:\/\/[^<]*\/<\/bdi>/#) != nil)
    }
}
