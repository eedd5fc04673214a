import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Forms have the same statuses, locks, conditions and rules as the corresponding WebDAV methods.
struct FormActionTests {
    /// The fields that a browser sends with a form or a script of a page of this server.
    static let form = [
        ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded"),
    ]

    static func form(_ fields: (String, String)...) -> [(String, String)] { form + fields }

    static let scenarios: [Scenario] = [
        Scenario(
            "mkcol: like MKCOL, with the name as entered",
            [
                step("POST /?action=mkcol", form, "name=a+b%2B%C3%BC", 201), shell("test -d 'a b+ü'"),
                step("POST /?action=mkcol", form, "name=a+b%2B%C3%BC", 405),
                step("POST /a%20b%2B%C3%BC/?action=mkcol", form, "name=x", 201),
                step("POST /a%20b%2B%C3%BC?action=mkcol", form, "name=y", 201), shell("ls 'a b+ü' | grep y"),
                step("POST /none/?action=mkcol", form, "name=x", 404),
                step("PUT /f", [], "x", 201), step("POST /f?action=mkcol", form, "name=x", 405),
                // Invalid names.
                step("POST /?action=mkcol", form, "name=", 400), step("POST /?action=mkcol", form, "", 400),
                step("POST /?action=mkcol", form, "name=a%2Fb", 400),
                step("POST /?action=mkcol", form, "name=..", 400),
                step("POST /?action=mkcol", form, "name=a%0Ab", 400),
                step("POST /?action=mkcol", form, "name=%", 400),
                step("POST /?action=mkcol", form, "name=.davit-aaaaaaaaaaaaaaaa", 403),
                step("POST /?action=mkcol", form, "name=" + String(repeating: "x", count: 256), 414),
            ]),
        Scenario(
            "delete: like DELETE of each member; a failure does not stop the others",
            [
                shell("mkdir -p d/e; touch a b c d/e/f; touch '50% é?'"),
                step("POST /?action=delete", form, "member=a", 204),
                step("POST /?action=delete", form, "member=a", 404),
                step(
                    "POST /?action=delete", form, "member=b&member=none&member=d", 207,
                    holds: [
                        "<D:href>/b</D:href><D:status>HTTP/1.1 204",
                        "<D:href>/none</D:href><D:status>HTTP/1.1 404", "<D:href>/d</D:href>",
                    ]),
                step("POST /?action=delete", form, "member=50%2525%2520%25C3%25A9%253F&member=c", 204),
                shell("[ -z \"$(ls)\" ]"),
                // A repeated member is acted on once, however it is encoded.
                shell("touch a b"), step("POST /?action=delete", form, "member=a&member=%2561", 204),
                step("POST /?action=copy", form, "member=b&member=b&to=.", 201),
                shell("[ \"$(ls)\" = \"$(printf 'b\\nb (1)')\" ] && rm b*"),
                step("POST /?action=delete", form, "", 400),
                step("POST /?action=delete", form, "member=", 400),
                step("POST /?action=delete", form, "member=..", 400),
                step("POST /?action=delete", form, "member=a%252Fb", 400),
                step("POST /?action=delete", form, "member=%25", 400),
            ]),
        Scenario(
            "move and copy: into a folder, by path or href; replaces only if requested",
            [
                shell("mkdir -p d/e 'o p'; echo 1 >a; echo 2 >b; echo 3 >d/a"),
                step("POST /?action=move", form, "member=a&to=d", 412),
                step("POST /?action=move", form, "member=a&to=d&replace=yes", 204),
                shell("grep 1 d/a; ! test -e a"),
                step("POST /d/?action=move", form, "member=a&to=..", 201), shell("grep 1 a"),
                step("POST /d/?action=move", form, "member=e&to=%2Fo+p%2F", 201), shell("test -d 'o p/e'"),
                step("POST /?action=copy", form, "member=a&member=b&destination=%2Fo%2520p%2Fe", 207),
                shell("grep 1 'o p/e/a'; grep 2 'o p/e/b'"),
                // A copy in the same folder gets another name.
                step("POST /?action=copy", form, "member=a&to=/", 201), shell("grep 1 'a (1)'"),
                step("POST /?action=copy", form, "member=a&to=.", 201), shell("grep 1 'a (2)'"),
                step("POST /?action=move", form, "member=a&to=/", 403),
                step("POST /?action=move", form, "member=a&to=none", 409),
                step("POST /?action=move", form, "member=none&to=d", 404),
                step("POST /?action=move", form, "member=o%2520p&to=o+p/e", 403),
                step("POST /?action=move", form, "member=a", 400),
                step("POST /?action=move", form, "member=a&to=../..", 400),
                step("POST /?action=move", form, "member=a&destination=relative", 400),
            ]),
        Scenario(
            "rename: like MOVE within the collection",
            [
                shell("echo 1 >a.txt; echo 2 >b; echo 3 >B.txt"),
                step("POST /?action=rename", form, "member=a.txt&name=c+d.txt", 201),
                shell("grep 1 'c d.txt'"),
                step("POST /?action=rename", form, "member=c%2520d.txt&name=b", 412), shell("grep 2 b"),
                step("POST /?action=rename", form, "member=c%2520d.txt&name=b&replace=yes", 204),
                shell("grep 1 b"),
                step("POST /?action=rename", form, "member=b&member=B.txt&name=x", 400),
                step("POST /?action=rename", form, "member=b&name=x/y", 400),
                step("POST /?action=rename", form, "member=none&name=y", 404),
            ]),
        Scenario(
            "locks apply, and their tokens are accepted; RFC 4918 §7",
            [
                step("PUT /a", [], "x", 201), step("MKCOL /d", [], nil, 201), lock("/a"),
                step("POST /?action=delete", form, "member=a", 423),
                step("POST /?action=move", form, "member=a&to=d", 423),
                step("POST /?action=rename", form, "member=a&name=b", 423),
                step("POST /?action=copy", form, "member=a&to=d", 201),
                lock("/d"), step("POST /d/?action=mkcol", form, "name=x", 423),
                step("POST /d/?action=mkcol", form(("If", "(<$2>)")), "name=x", 201),
                step("POST /?action=delete", form(("If", "</a> (<$1>)")), "member=a", 204),
            ]),
        Scenario(
            "preconditions apply to the collection; RFC 9110 §13, RFC 4918 §10.4",
            [
                step("PUT /a", [], "x", 201),
                step("POST /?action=delete", form(("If-None-Match", "*")), "member=a", 412),
                step("POST /?action=delete", form(("If", "(<urn:x:none>)")), "member=a", 412),
                step("POST /?action=delete", form(("If-Match", "*")), "member=a", 204),
            ]),
        Scenario(
            "the three form encodings, and unsupported ones",
            [
                step(
                    "POST /?action=mkcol",
                    [("Sec-Fetch-Site", "none"), ("Content-Type", "multipart/form-data; boundary=x")],
                    "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nd\r\n--x--\r\n", 201),
                step(
                    "POST /?action=mkcol", [("Sec-Fetch-Site", "none"), ("Content-Type", "text/plain")],
                    "name=e", 415),
                step("POST /?action=mkcol", [("Sec-Fetch-Site", "none")], "name=e", 415),
                step(
                    "POST /?action=mkcol",
                    [("Sec-Fetch-Site", "none"), ("Content-Type", "multipart/form-data; boundary=x")],
                    "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nd", 400),
                step("POST /?action=none", form, "name=e", 404), step("POST /?action=", form, "name=e", 404),
                shell("[ \"$(ls)\" = d ]"),
            ]),
    ]

    @Test(arguments: scenarios)
    func formsBehaveLikeMethods(scenario: Scenario) async throws { try await TestShare.play(scenario) }

    @Test func hrefsHaveTheMountPrefix() async throws {
        let scenario = Scenario(
            "a mounted share",
            [
                shell("mkdir d; touch a b"),
                step(
                    "POST /my%20files/?action=move", Self.form, "member=a&member=b&to=/d", 207,
                    holds: ["<D:href>/my%20files/d/a</D:href>"]),
            ])
        try await TestShare.play(scenario, mountedAt: "/my files")
    }

    @Test func readOnlyShareRefusesForms() async throws {
        let scenario = Scenario(
            "read-only",
            [
                shell("touch a"), step("POST /?action=delete", Self.form, "member=a", 403),
                shell("test -e a"),
            ])
        try await TestShare.play(scenario) { $0.isReadOnly = true }
    }

    @Test("the members after the current one are not changed", arguments: ["delete", "move", "copy"])
    func formEndsWhenItsClientDisconnects(action: String) async throws {
        let running = Mutex<Task<Void, any Error>?>(nil)
        let share = try TestShare { $0.hooks.completed = { _ in running.withLock { $0?.cancel() } } }
        #expect(share.shell("mkdir d; touch a b c") == 0)
        let isKnown = AsyncLatch()
        let task = Task { @Sendable in
            await isKnown.wait()
            let form = "member=a&member=b&member=c" + (action == "delete" ? "" : "&to=d")
            _ = try await share.client.send("POST", "/?action=\(action)", Self.form, text: form)
        }
        running.withLock { $0 = task }
        isKnown.open()
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(share.shell("[ -e b ] && [ -e c ] && ! [ -e d/b ] && ! [ -e d/c ]") == 0)
        #expect(share.shell(action == "copy" ? "[ -e a ]" : "! [ -e a ]") == 0)
    }

    // MARK: Allowed origins

    typealias Site = (host: String, fields: [(String, String)], publicNames: [String], isTaken: Bool)

    static let sites: [Site] = [
        // Nothing proves that the form is from a page of this server.
        ("a.example", [], [], false), ("a.example", [("Referer", "http://a.example/")], [], false),
        ("a.example", [("Sec-Fetch-Site", "same-origin")], [], true),
        ("a.example", [("Sec-Fetch-Site", "none")], [], true),
        ("a.example", [("Sec-Fetch-Site", "same-site")], [], false),
        ("a.example", [("Sec-Fetch-Site", "cross-site")], [], false),
        ("a.example", [("Sec-Fetch-Site", "SAME-ORIGIN")], [], false),
        // Sec-Fetch-Site takes precedence over Origin.
        ("a.example", [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://a.example")], [], false),
        ("a.example", [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")], [], true),
        // Browsers that send only Origin.
        ("a.example", [("Origin", "http://a.example")], [], true),
        ("a.example", [("Origin", "https://a.example")], [], true),
        ("a.example:8080", [("Origin", "http://a.example:8080")], [], true),
        ("a.example:8080", [("Origin", "http://a.example:8081")], [], false),
        ("[::1]:8080", [("Origin", "http://[::1]:8080")], [], true),
        ("a.example", [("Origin", "null")], [], false),
        ("a.example", [("Origin", "http://evil.example")], [], false),
        ("a.example", [("Origin", "http://a.example.evil.example")], [], false),
        ("a.example", [("Origin", "http://a.example"), ("Origin", "http://a.example")], [], false),
        // Behind a proxy that changes Host; the public name is configured.
        ("10.0.0.1", [("Origin", "https://files.example")], ["files.example"], true),
        ("10.0.0.1", [("Origin", "https://files.example:8443")], ["files.example"], false),
        ("10.0.0.1", [("Origin", "https://files.example:8443")], ["files.example:8443"], true),
        ("10.0.0.1", [("Origin", "https://files.example")], ["files.example:8443"], false),
        ("10.0.0.1", [("Origin", "https://files.example")], [], false),
        // X-Forwarded-Host of an untrusted proxy is ignored.
        (
            "10.0.0.1", [("Origin", "https://files.example"), ("X-Forwarded-Host", "files.example")], [],
            false
        ),
    ]

    @Test(arguments: sites)
    func crossOriginFormsAreRefused(site: Site) async throws {
        let share = try TestShare { $0.publicAuthorities = site.publicNames }
        var client = share.client
        client.host = site.host
        let fields = site.fields + [("Content-Type", "application/x-www-form-urlencoded")]
        let response = try await client.send("POST", "/?action=mkcol", fields, text: "name=d")
        #expect(response.status == (site.isTaken ? 201 : 403))
        #expect(share.shell("test -d d") == (site.isTaken ? 0 : 256))
    }

    // MARK: Rules and hooks

    typealias Ruled = (target: String, body: String, status: UInt16)

    static let ruled: [Ruled] = [
        ("/?action=mkcol", "name=.new", 403), ("/?action=mkcol", "name=folder.exe", 201),
        ("/.hidden/?action=mkcol", "name=x", 404), ("/?action=delete", "member=.f", 404),
        ("/?action=delete", "member=a.exe", 404), ("/.hidden/?action=delete", "member=a.txt", 404),
        ("/?action=rename", "member=a.txt&name=a.exe", 403),
        ("/?action=rename", "member=a.txt&name=.a.txt", 403),
        ("/?action=rename", "member=a.exe&name=c.txt", 404),
        ("/?action=rename", "member=a.txt&name=c.txt", 201),
        ("/?action=move", "member=a.txt&to=.hidden", 403), ("/?action=move", "member=.f&to=d", 404),
        ("/?action=copy", "member=a.txt&to=/d/.inner", 403), ("/?action=copy", "member=a.txt&to=d", 201),
        ("/?action=copy", "member=a.exe&to=d", 404),
    ]

    @Test("hidden names are refused in sources, destinations and every path segment", arguments: ruled)
    func rulesApplyToForms(row: Ruled) async throws {
        let share = try TestShare {
            $0.rules.allowsHiddenItems = false
            $0.rules.allowedExtensions = ["txt"]
        }
        #expect(share.shell("mkdir -p .hidden d/.inner; touch a.txt a.exe .f .hidden/a.txt") == 0)
        #expect(
            try await share.client.send("POST", row.target, Self.form, text: row.body).status == row.status)
    }

    typealias Hooked = (target: String, body: String, status: UInt16, actions: [String])

    static let hooked: [Hooked] = [
        ("/?action=mkcol", "name=new", 201, ["createCollection /new/"]),
        ("/?action=delete", "member=a&member=d", 204, ["delete /a", "delete /d/"]),
        ("/?action=move", "member=a&to=d", 201, ["move /a /d/a"]),
        ("/?action=copy", "member=a&to=d", 201, ["copy /a /d/a"]),
        ("/?action=rename", "member=a&name=c", 201, ["move /a /c"]),
        ("/?action=rename", "member=a&name=b&replace=yes", 204, ["move /a /b over"]),
    ]

    @Test("both hooks are called once for each member", arguments: hooked)
    func hooksDecideOnForms(row: Hooked) async throws {
        for isAllowed in [true, false] {
            let notes = ShareHooksTests.Notes()
            let share = try TestShare {
                $0.hooks.allows = { action in
                    notes.add("asked " + ShareHooksTests.text(action))
                    return isAllowed
                }
                $0.hooks.completed = { notes.add("told " + ShareHooksTests.text($0)) }
            }
            #expect(share.shell("mkdir d; touch a b") == 0)
            let response = try await share.client.send(
                "POST", row.target, Self.form, body: Array(row.body.utf8), principal: "anna")
            let refused: UInt16 = row.actions.count > 1 ? 207 : 403
            #expect(response.status == (isAllowed ? row.status : refused))
            let expected = row.actions.flatMap { action in
                (isAllowed ? ["asked", "told"] : ["asked"]).map { "\($0) \(action) by anna" }
            }
            #expect(notes.take() == expected)
            if !isAllowed { #expect(share.shell("[ \"$(ls -R | tr '\\n' ' ')\" = '.: a b d  ./d: ' ]") == 0) }
        }
    }
}
