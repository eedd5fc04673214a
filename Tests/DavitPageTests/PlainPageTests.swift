import DavitEngine
import DavitHTTP
import DavitListing
import DavitPage
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// The plain HTML page: a listing with forms, questions and results.
struct PlainPageTests {
    // MARK: The listing

    @Test func folderIsListedInTheRequestedOrder() async throws {
        let page = try TestPage()
        for (name, text) in [("a10", "12345"), ("a2", "1"), ("B", "123")] {
            _ = try await page.client.send(
                "PUT", "/\(name)", [("X-OC-Mtime", "\(text.utf8.count)")], text: text)
        }
        _ = try await page.client.send("MKCOL", "/z")
        for (query, order) in [
            ("", ["z/", "a2", "a10", "B"]), ("?order=desc", ["z/", "B", "a10", "a2"]),
            ("?sort=size", ["z/", "a2", "B", "a10"]), ("?sort=size&order=desc", ["z/", "a10", "B", "a2"]),
            ("?sort=date", ["z/", "a2", "B", "a10"]),
            ("?sort=none&order=up&after=x", ["z/", "a2", "a10", "B"]),
            ("?find=A", ["a2", "a10"]), ("?find=z", ["z/"]), ("?find=%3Cx", []),
        ] {
            let text = try await page.get("/" + query).text
            let found = text.split(separator: "<th scope=\"row\"").dropFirst().map { row in
                row.split(separator: "href=\"./")[1].prefix { $0 != "\"" }
            }
            #expect(found.map(String.init) == order, "\(query)")
        }
    }

    /// A share does not redirect to the URL with the trailing slash, because WebDAV clients request folders without it. So
    /// links must work for both URLs, also below a prefix.
    @Test func linksWorkWithAndWithoutTheSlash() async throws {
        let page = try TestPage()
        _ = try await page.client.send("MKCOL", "/a%23b")
        _ = try await page.client.send("PUT", "/a%23b/c", text: "c")
        #expect(try await page.get("/a%23b/").text.contains("href=\"./c\""))
        #expect(try await page.get("/a%23b").text.contains("href=\"./a%23b/c\""))
        let application = page.client.application
        let mounted = TestClient(Router { $0.mount("/x/my files", application) })
        let html = [("Accept", "text/html")]
        let without = try await mounted.send("GET", "/x/my%20files", html).text
        #expect(without.contains("href=\"./my%20files/a%23b/\""))
        #expect(try await mounted.send("GET", "/x/my%20files/", html).text.contains("href=\"./a%23b/\""))
    }

    @Test func largeFolderHasSeveralPages() async throws {
        let page = try TestPage()
        for number in 0..<1100 { try page.folder.makeFile("f\(number)") }
        var text = try await page.get("/").text
        #expect(text.contains("1–500 of 1100"))
        #expect(!text.contains("rel=\"prev\""))
        var names: [String] = []
        while true {
            names += text.split(separator: "<th scope=\"row\"").dropFirst().map { row in
                String(row.split(separator: "<bdi>")[1].prefix { $0 != "<" })
            }
            guard let next = text.firstMatch(of: #/rel="next" href="\.\/([^"]*)"/#) else { break }
            text = try await page.get("/" + next.output.1.replacing("&amp;", with: "&")).text
        }
        #expect(names == (0..<1100).map { "f\($0)" })
        #expect(text.contains("1001–1100 of 1100"))
        let previous = try #require(text.firstMatch(of: #/rel="prev" href="\.\/([^"]*)"/#))
        text = try await page.get("/" + previous.output.1.replacing("&amp;", with: "&")).text
        #expect(text.contains("501–1000 of 1100"))
    }

    // The head is sent before the folder is read, however large it is.
    @Test func headIsSentBeforeTheFolderIsRead() async throws {
        let page = try TestPage()
        for number in 0..<1000 { try page.folder.makeFile("f\(number)") }
        let body = try await page.firstPiece("/")
        #expect(body.contains("<table>") && !body.contains("f999"))
        #expect(!body.contains("</html>"))
    }

    @Test func unreadableTargetsHaveAnErrorStatus() async throws {
        let page = try TestPage()
        #expect(try await page.get("/none/").status == 404)
        #expect(try await page.get("/?about=none").status == 404)
        #expect(try await page.get("/?about=..").status == 404)
    }

    /// A browser gets a page with a link, and other programs get plain text.
    @Test func missingTargetHasAPage() async throws {
        let page = try TestPage()
        for (target, back) in [
            ("/none", "./none/../"), ("/no/%3Cb%3E/", "./../"), ("/.davit-browserpagefiles/x", nil),
        ] {
            let response = try await page.get(target)
            #expect(response.status == 404)
            #expect(response.text.contains("There is nothing at this address"), "\(target)")
            if let back {
                #expect(
                    response.text.contains("<a class=\"simple-back\" href=\"\(back)\""), "\(response.text)")
            }
            #expect(!response.text.contains("<b>") && !response.text.contains("<script"))
            let plain = try await page.client.send("GET", target, [("Accept", "*/*")])
            #expect(plain.status == 404)
            #expect(plain["Content-Type"] == "text/plain; charset=utf-8")
        }
        let head = try await page.client.send("HEAD", "/none", [("Accept", "text/html")])
        #expect(head["Content-Type"] == "text/html; charset=utf-8")
    }

    @Test func namesAreEscaped() async throws {
        let page = try TestPage()
        let name = "<script>\"'&"
        _ = try await page.client.send("PUT", "/%3Cscript%3E%22%27%26", text: "x")
        for target in ["/", "/?find=script", "/?about=%253Cscript%253E%2522%2527%2526"] {
            let text = try await page.get(target).text
            #expect(text.contains("&lt;script&gt;&quot;&#39;&amp;"), "\(target)")
            #expect(!text.contains(name), "\(target)")
        }
        let find = try await page.get("/?find=%22%3E%3Cscript%3E").text
        #expect(!find.contains("\"><script>"))
    }

    @Test func readOnlyShareHasNoForms() async throws {
        let page = try TestPage { $0.isReadOnly = true }
        try page.folder.makeFile("f")
        for target in ["/", "/?about=f"] {
            let text = try await page.get(target).text
            #expect(!text.contains("method=\"post\"") && !text.contains("checkbox"), "\(target)")
        }
        #expect(try await page.get("/").text.contains("role=\"search\""))
    }

    // No text from a URL is shown, only numbers and the page's own texts.
    @Test func resultIsShownFromACodeAndANumber() async throws {
        let page = try TestPage()
        for (query, text) in [
            ("done=upload&count=1", "1 file uploaded."),
            ("done=upload&count=2", "2 files uploaded."),
            ("done=mkcol", "Folder created."), ("done=delete&count=x", "1 item deleted."),
        ] {
            #expect(try await page.get("/?\(query)").text.contains("role=\"status\">\(text)"), "\(query)")
        }
        #expect(try await !page.get("/?done=Call+0900&count=1").text.contains("role=\"status\""))
    }

    // MARK: Settings and page data

    @Test func settingsAreShownAsText() async throws {
        var settings = PageSettings()
        settings.title = "Our <files>"
        settings.header = "Welcome & hello"
        settings.prologue = "One\nTwo\n\nThree"
        settings.epilogue = "Bye"
        settings.footer = "Foot"
        let page = try TestPage(settings)
        _ = try await page.client.send("MKCOL", "/d")
        let root = try await page.get("/").text
        #expect(root.contains("<title>Our &lt;files&gt;</title>"))
        #expect(root.contains("<h1>Welcome &amp; hello</h1>"))
        #expect(root.contains("<p>One<br>Two</p>\n<p>Three</p>"))
        #expect(root.contains("<p>Bye</p>\n<p>Foot</p>"))
        #expect(root.contains("<bdi>Our &lt;files&gt;</bdi></a></li>"))
        let folder = try await page.get("/d/").text
        #expect(folder.contains("<title>d – Our &lt;files&gt;</title>"))
        #expect(folder.contains("<p>Foot</p>") && !folder.contains("<p>Bye") && !folder.contains("<p>One"))
    }

    @Test func dataCannotEndItsElement() async throws {
        var settings = PageSettings()
        settings.title = "</script><!-- <script>"
        let page = try TestPage(settings) {
            $0.rules.allowedExtensions = ["txt", "jpg"]
            $0.maximumFileBytes = 5
        }
        let text = try await page.get("/").text
        let data = try #require(
            text.split(separator: "id=\"davit\">").last?.split(separator: "</script>").first)
        #expect(!data.contains("<") && data.hasPrefix("{") && data.hasSuffix("}"))
        #expect(data.contains(#""title":"\u003c/script\u003e\u003c!-- \u003cscript\u003e""#))
        #expect(data.contains(#""canWrite":true,"user":null,"#))
        var features = [#""locks""#, #""search""#, #""uploads""#]
        #if Archive
        features.append(#""archive""#)
        #endif
        #if QRCode
        features.append(#""qr""#)
        #endif
        #expect(
            data.contains("\"features\":[\(features.joined(separator: ","))],\"maximumFileBytes\":5"))
        #expect(data.contains(#""allowedExtensions":["jpg","txt"],"allowsHiddenItems":true"#))
        #expect(data.contains(#""language":"en""#))
        #expect(data.contains(#""root":"/","path":"/""#))
    }

    @Test func scriptsAreAllowedByNonce() async throws {
        let page = try TestPage()
        let first = try await page.get("/")
        let policy = try #require(first["Content-Security-Policy"])
        let nonce = try #require(policy.firstMatch(of: #/script-src 'nonce-([a-z0-9]+)'/#)).output.1
        #expect(policy.hasPrefix("default-src 'none';") && policy.contains("form-action 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(
            first.text.contains(
                "nonce=\"\(nonce)\" src=\"/.davit-browserpagefiles/\(PageFiles.shared.version)/main.js\""))
        #expect(try await page.get("/")["Content-Security-Policy"] != policy)
        #expect(!first.text.contains(" style=") && !first.text.contains("onclick"))
        #expect(first["Cache-Control"] == "no-store" && first["X-Content-Type-Options"] == "nosniff")
    }

    @Test func everyReferencedFileExists() async throws {
        let page = try TestPage()
        let text = try await page.get("/").text
        let files = text.matches(of: #/(?:href|src)="(\/\.davit-browserpagefiles\/[^"]*)"/#).map {
            String($0.output.1)
        }
        #expect(files.count >= 4)
        for file in files { #expect(try await page.get(file).status == 200, "\(file)") }
    }

    /// The page links its style sheets even without scripts.
    @Test func everyPageHasItsStyles() async throws {
        let page = try TestPage()
        try page.folder.makeFile("f")
        let asked = try await page.post("/?action=delete", "member=f")
        let pages = [
            try await page.get("/"), try await page.get("/?about=f"), asked,
            try await page.post("/?action=delete", ""),
        ]
        for (number, answer) in pages.enumerated() {
            let text = answer.text
            for name in ["page.css", "plain.css"] {
                let file = "\(PageFiles.shared.version)/\(name)"
                #expect(
                    text.contains("<link rel=\"stylesheet\" href=\"/.davit-browserpagefiles/\(file)\">"),
                    "page \(number), \(name)")
            }
        }
    }

    /// The script that requests the listing is loaded first and does not wait for the end of the document,
    /// which takes a second for a large folder.
    @Test func listingIsRequestedFirst() async throws {
        let text = try await TestPage().get("/").text
        let head = try #require(text.split(separator: "</head>").first)
        let preloaded = head.matches(of: #/modulepreload"[^>]* href="[^"]*/([a-z.-]+)">/#).map {
            String($0.output.1)
        }
        #expect(preloaded.first == "folder.js")
        let items = try #require(preloaded.firstIndex(of: "items.js"))
        for name in ["dav.js", "entry.js", "scan.js"] {
            #expect(try #require(preloaded.firstIndex(of: name)) < items, "\(name)")
        }
        #expect(Set(preloaded).count == preloaded.count)
        // strings.js waits for a response, and so do all modules that import it.
        #expect(!PageModules.imported(by: "folder.js").contains("strings.js"))
        #expect(
            text.contains(
                #/<body>\n<script type="module" async nonce="[a-z0-9]+" src="[^"]*/main.js"><\/script>/#))
    }

    @Test func importsAreFound() {
        let script = """
            // import a from "./comment.js"
            import { a, b } from "./a.js"
            import "../up.js"
            import {
              c
            } from './deep/c.js';
            export { d } from "./d.js"
            import x from "https://else.example/x.js"
            const later = () => import("./later.js")
            const text = "from './text.js'"
            """
        #expect(
            PageModules.imports(of: script, at: "sub/main.js") == [
                "sub/a.js", "up.js", "sub/deep/c.js", "sub/d.js",
            ])
    }

    /// No page lets a name reorder or hide the text around it: a program must not look like an image.
    @Test func namesCannotReorderText() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a\u{202E}gpj.exe")
        try page.folder.makeFile("\u{5D0}\u{5D1}.txt")
        try page.folder.makeFile("\u{2067}b\u{200F}")
        try page.folder.makeFile("\u{61C}c")
        try page.folder.makeFile("d\u{200B}\u{AD}\u{FEFF}e\u{200D}f")
        let html = try await page.get("/").text
        #expect(html.contains("./a%E2%80%AEgpj.exe\""))
        var rows: [UInt8] = []
        let listing = ListingPage(segments: [], endsInSlash: true)
        let names = [
            "a\u{202E}gpj.exe", "\u{5D0}\u{5D1}.txt", "\u{2067}b\u{200F}", "\u{61C}c",
            "d\u{200B}\u{AD}\u{FEFF}e\u{200D}f",
        ]
        for name in names {
            let entry = ListingEntry(
                name: Array(name.utf8), isCollection: false, length: 1, modified: Timestamp(seconds: 0))
            listing.append(entry, to: &rows)
        }
        for text in [html, String(decoding: rows, as: UTF8.self)] {
            #expect(text.contains("<bdi>a\u{FFFD}gpj.exe</bdi>"))
            #expect(text.contains("<bdi>\u{5D0}\u{5D1}.txt</bdi>"))
            #expect(text.contains("<bdi>\u{FFFD}b\u{FFFD}</bdi>"))
            #expect(text.contains("<bdi>\u{FFFD}c</bdi>"))
            // Invisible characters could make two names look the same. The joiner is part of some emoji.
            #expect(text.contains("<bdi>d\u{FFFD}\u{FFFD}\u{FFFD}e\u{200D}f</bdi>"))
            let turning = text.unicodeScalars.filter {
                0x202A...0x202E ~= $0.value || 0x2066...0x2069 ~= $0.value
            }
            #expect(turning.isEmpty)
        }
    }

    // MARK: Forms

    @Test func formRedirectsToTheFolder() async throws {
        let page = try TestPage()
        let made = try await page.post("/?action=mkcol", "name=d+e")
        #expect(made.status == 303)
        #expect(made["Location"] == "/?done=mkcol&count=1")
        let inner = try await page.post("/d%20e?action=mkcol", "name=f")
        #expect(inner["Location"] == "/d%20e/?done=mkcol&count=1")
        let mounted = TestClient(Router { [client = page.client] in $0.mount("/x", client.application) })
        let fields = [
            ("Accept", "text/html"), ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        let outer = try await mounted.send("POST", "/x/?action=mkcol", fields, text: "name=g")
        #expect(outer["Location"] == "/x/?done=mkcol&count=1")
    }

    @Test func deletionRequiresConfirmation() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a <b>")
        let question = try await page.post("/?action=delete", "member=a%2520%253Cb%253E")
        #expect(question.status == 200)
        #expect(question.text.contains("name=\"member\" value=\"a%20%3Cb%3E\""))
        #expect(question.text.contains("<bdi>a &lt;b&gt;</bdi>"))
        #expect(question.text.contains("name=\"confirmed\" value=\"yes\""))
        #expect(try await page.client.send("GET", "/a%20%3Cb%3E").status == 200)
        let done = try await page.post("/?action=delete", "member=a%2520%253Cb%253E&confirmed=yes")
        #expect(done.status == 303)
        #expect(try await page.client.send("GET", "/a%20%3Cb%3E").status == 404)
    }

    /// A question and a result list 500 members and count the others; the question contains all of them. A large page is sent
    /// as a stream, which holds a slot.
    @Test func membersOfFormsAreListedUpToALimit() async throws {
        for (count, rest) in [(500, 0), (501, 1), (5_000, 4_500)] {
            let page = try TestPage()
            let form = (0..<count).map { "member=f\($0)" }.joined(separator: "&")
            let (more, isListed) = ("and \(rest) more item\(rest == 1 ? "" : "s")", rest > 0)
            let question = try await page.post("/?action=delete", form)
            #expect(question.status == 200)
            #expect(
                question.text.ranges(of: "type=\"checkbox\" checked name=\"member\"").count == count - rest)
            #expect(question.text.ranges(of: "type=\"hidden\" name=\"member\"").count == rest)
            #expect(question.text.contains("value=\"f\(count - 1)\""))
            #expect(question.text.contains(more) == isListed)
            let result = try await page.post("/?action=delete", form + "&confirmed=yes")
            #expect(result.status == 404)
            #expect(result.text.ranges(of: "<dt>").count == count - rest)
            #expect(result.text.contains(more) == isListed)
            #expect(result.text.utf8.count < 65_536)
        }
        for (count, isStream) in [(10, false), (500, true)] {
            let form = (0..<count).map { "member=\(String(repeating: "f", count: 100))\($0)" }
            let body = Array(form.joined(separator: "&").utf8)
            let fields = [
                ("Accept", "text/html"), ("Sec-Fetch-Site", "same-origin"),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ]
            let page = try TestPage()
            let response = try await page.client.begin(
                "POST", "/?action=delete", fields, body: FormBody(body))
            if case .stream = response.body { #expect(isStream) } else { #expect(!isStream) }
        }
    }

    /// 500 members fit on one page; one more requires a second page.
    @Test func pageMembersAreLimited() async throws {
        let page = try TestPage()
        for number in 0..<500 { try page.folder.makeFile("f\(number)") }
        #expect(try await !page.get("/").text.contains("rel=\"next\""))
        try page.folder.makeFile("f500")
        let text = try await page.get("/").text
        #expect(text.contains("rel=\"next\""))
        #expect(text.contains(">f499<") && !text.contains(">f500<"))
    }

    /// The rows of a page are rendered while it is sent.
    @Test func rowsAreRenderedInPieces() async throws {
        let page = try TestPage()
        for number in 0..<300 { try page.folder.makeFile("f\(number)" + String(repeating: "n", count: 200)) }
        guard case .stream(let stream) = try await page.client.begin("GET", "/").body else {
            Issue.record("not a stream")
            return
        }
        let buffer = IOBuffer(capacity: 1 << 20)
        var pieces: [Int] = []
        var text = ""
        repeat {
            buffer.removeAll()
            try await stream.next(into: buffer)
            pieces.append(buffer.count)
            unsafe buffer.withBytes { unsafe text += String(decoding: $0, as: UTF8.self) }
        } while buffer.count > 0
        #expect(pieces.count > 4)
        #expect(pieces.allSatisfy { $0 < 120_000 })
        #expect(text.ranges(of: "<th scope=\"row\"").count == 300)
        #expect(text.hasSuffix("</html>\n") && text.contains("300 items"))
    }

    @Test func destinationIsChosenOnAPage() async throws {
        let page = try TestPage()
        for name in ["/d", "/d/e", "/d/f"] { _ = try await page.client.send("MKCOL", name) }
        try page.folder.makeFile("d/x")
        let question = try await page.post("/d/?action=move", "member=x&member=f")
        #expect(question.status == 200)
        #expect(question.text.contains("<option value=\"/d/e\">/d/e</option>"))
        #expect(question.text.contains("<option value=\"/\">/</option>"))
        #expect(!question.text.contains("<option value=\"/d/f\""))
        #expect(try await page.post("/d/?action=move", "member=x&to=&destination=/").status == 303)
        #expect(try await page.client.send("GET", "/x").status == 200)
    }

    typealias Failure = (target: String, form: String, status: UInt16, text: String)

    static let failures: [Failure] = [
        ("/?action=mkcol", "name=a", 405, "An item with this name already exists."),
        ("/?action=mkcol", "name=", 400, "The form is incomplete."),
        ("/?action=delete", "confirmed=yes", 400, "The form is incomplete."),
        ("/?action=delete", "", 400, "The form is incomplete."),
        ("/?action=delete", "member=none&confirmed=yes", 404, "The item no longer exists."),
        ("/?action=delete", "member=a&member=none&confirmed=yes", 404, "The action failed for some items"),
        ("/?action=move", "member=a&to=none", 409, "The destination folder does not exist."),
        ("/?action=rename", "member=a&name=b", 412, "An item with this name already exists."),
    ]

    @Test(arguments: failures)
    func failuresAreDescribed(row: Failure) async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        try page.folder.makeFile("b")
        let response = try await page.post(row.target, row.form)
        #expect(response.status == row.status)
        #expect(response.text.contains(row.text), "\(response.text)")
        #expect(response.text.contains("role=\"alert\"") && response.text.contains("href=\"./\""))
        #expect(!response.text.contains("<script"))
        #expect(response["Content-Security-Policy"]?.contains("script-src") == false)
    }

    @Test func lockHolderIsShown() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let body = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
            </D:lockinfo>
            """
        _ = try await page.client.send("LOCK", "/a", body: Array(body.utf8), principal: "anna")
        #expect(try await page.get("/?about=a").text.contains("Locked by anna until 2027-01-15T08:30:00Z"))
        #expect(
            try await page.post("/?action=delete", "member=a&confirmed=yes").text.contains("is locked"))
    }
}
