import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Names that a share does not serve: not found for reads and removals, refused for creations, with every
/// method, as source and destination, and at any position of a path.
struct ShareRulesTests {
    enum Rule: CaseIterable, Sendable {
        case hidden, extensions, macMetadata

        var rules: ShareRules {
            var rules = ShareRules()
            switch self {
            case .hidden: rules.allowsHiddenItems = false
            case .extensions: rules.allowedExtensions = [".JPG", "txt"]
            case .macMetadata: rules.macMetadata = .refuse
            }
            return rules
        }

        /// Commands that create files directly in the folder.
        var setUp: String {
            let common = "mkdir -p src.d; echo x >src.jpg; echo x >src.d/in.jpg"
            return switch self {
            case .hidden:
                common
                    + "; mkdir -p .d d/.e; echo x | tee .f .d/a.jpg d/.e/b.jpg >d/ok.jpg; ln -s .f l; ln -s .d m"
            case .extensions:
                common
                    + "; mkdir d.exe; echo x | tee a.exe a a.jpg.exe d.exe/c.exe >d.exe/ok.jpg; ln -s a.exe l.jpg"
            case .macMetadata:
                common
                    + "; mkdir -p .Trashes/501 d; echo x | tee ._a .DS_Store d/._b .Trashes/501/a.jpg >d/ok.jpg"
                    + "; ln -s ._a l"
            }
        }

        /// Names of existing files.
        var taken: [String] {
            switch self {
            case .hidden: ["/.f", "/.d", "/.d/", "/.d/a.jpg", "/d/.e/b.jpg", "/l", "/m/a.jpg"]
            case .extensions: ["/a.exe", "/a", "/a.jpg.exe", "/d.exe/c.exe", "/l.jpg"]
            case .macMetadata: ["/._a", "/.DS_Store", "/d/._b", "/.Trashes/", "/.Trashes/501/a.jpg", "/l"]
            }
        }

        /// Names of nonexistent files.
        var free: [String] {
            switch self {
            case .hidden: ["/.new", "/.d/new.jpg", "/d/.e/new.jpg", "/d/.new", "/m/new.jpg", "/.davit-x"]
            case .extensions: ["/new.exe", "/new", "/d.exe/new.jpgx", "/.jpg", "/jpg", "/d.exe/new."]
            case .macMetadata:
                ["/._new", "/d/._new.jpg", "/d/.DS_Store", "/.Trashes/new", "/d/.TemporaryItems"]
            }
        }

        var served: [String] {
            switch self {
            case .hidden, .macMetadata: ["/d/ok.jpg", "/src.d/in.jpg"]
            case .extensions: ["/d.exe/ok.jpg", "/d.exe/", "/src.jpg"]
            }
        }
    }

    typealias Request = (line: String, fields: [(String, String)], body: String?, status: UInt16)

    /// Requests that would read, change or remove the resource with a name.
    static func onTaken(_ name: String) -> [Request] {
        [
            ("GET \(name)", [], nil, 404), ("HEAD \(name)", [], nil, 404),
            ("PROPFIND \(name)", [("Depth", "0")], nil, 404),
            ("PROPFIND \(name)", [("Depth", "1")], nil, 404),
            ("PATCH \(name)", ShareHooksTests.append, "x", 404),
            ("POST \(name)?add-member", [("Slug", "in.jpg")], "x", 404),
            ("PROPPATCH \(name)", [], setProperty("p", "1"), 404), ("DELETE \(name)", [], nil, 404),
            ("COPY \(name)", [("Destination", "/out.jpg")], nil, 404),
            ("MOVE \(name)", [("Destination", "/out.jpg")], nil, 404),
            ("UNLOCK \(name)", [("Lock-Token", "<urn:uuid:0>")], nil, 409),
        ]
    }

    /// Requests that would create or replace a file with a name.
    static func onName(_ name: String) -> [Request] {
        let content = name.hasSuffix("/") ? String(name.dropLast()) : name
        return [
            ("PUT \(content)", [], "x", 403),
            ("PUT \(content)", [], String(repeating: "x", count: 200_000), 403),
            ("PUT \(content)", [("Expect", "100-continue")], "x", 403),
            ("PUT \(content)", [("Content-Range", "bytes 0-0/1")], "x", 403),
            ("LOCK \(content)", [], lockBody(scope: "exclusive"), 403),
            ("COPY /src.jpg", [("Destination", content)], nil, 403),
            ("COPY /src.jpg", [("Destination", content), ("Overwrite", "F")], nil, 403),
            ("MOVE /src.jpg", [("Destination", content)], nil, 403),
        ]
    }

    /// Requests that would create or replace a collection with a name.
    static func onCollectionName(_ name: String) -> [Request] {
        [
            ("MKCOL \(name)", [], nil, 403),
            ("MKCOL \(name)", [ExtendedMkColTests.xml], ExtendedMkColTests.body("<x:p/>"), 403),
            ("COPY /src.d", [("Destination", name)], nil, 403),
            ("COPY /src.d", [("Destination", name), ("Depth", "0")], nil, 403),
            ("MOVE /src.d", [("Destination", name)], nil, 403),
        ]
    }

    @Test("excluded names are inaccessible", arguments: Rule.allCases, ["/tmp", "/dev/shm"])
    func excludedNamesCannotBeReadOrChanged(rule: Rule, parent: String) async throws {
        let share = try TestShare(TemporaryFolder(in: parent)) { $0.rules = rule.rules }
        let notes = try TemporaryFolder()
        let list = "{ find . -printf '%p %l\\n' | sort; find . -type f | sort | xargs md5sum; }"
        #expect(share.shell("\(rule.setUp); \(list) >\(notes.path)/before") == 0)
        var requests = rule.taken.flatMap { Self.onTaken($0) + Self.onName($0) }
        requests += rule.free.flatMap(Self.onName)
        if rule == .extensions { requests.append(("POST /?add-member", [("Slug", "new.exe")], "x", 403)) }
        // Collections may have any extension.
        if rule != .extensions { requests += (rule.taken + rule.free).flatMap(Self.onCollectionName) }
        for (line, fields, body, status) in requests {
            let words = line.split(separator: " ").map(String.init)
            let response = try await share.client.send(
                words[0], words[1], fields, body: body.map { Array($0.utf8) })
            #expect(response.status == status, "\(line) \(fields): \(response.text)")
        }
        #expect(share.shell("\(list) | cmp - \(notes.path)/before") == 0)
        #expect(share.shell("find . -name '.davit-*' | grep -q .") != 0)
        for name in rule.served {
            #expect(try await share.client.send("PROPFIND", name, [("Depth", "0")]).status == 207)
        }
    }

    @Test("excluded names are not listed", arguments: Rule.allCases, ["1", "infinity"])
    func listingsOmitExcludedNames(rule: Rule, depth: String) async throws {
        let share = try TestShare { $0.rules = rule.rules }
        #expect(share.shell(rule.setUp) == 0)
        for folder in ["/", rule == .extensions ? "/d.exe/" : "/d/"] {
            let text = try await share.client.send("PROPFIND", folder, [("Depth", depth)]).text
            for name in rule.taken {
                #expect(!text.contains("<D:href>\(name)</D:href>"), "\(folder)")
                #expect(!text.contains("<D:href>\(name)/</D:href>"), "\(folder)")
            }
            #expect(text.contains("ok.jpg</D:href>") == (folder != "/" || depth == "infinity"))
        }
    }

    @Test(
        "MOVE keeps the excluded members of a collection; COPY omits them", arguments: Rule.allCases)
    func movesKeepExcludedMembersAndCopiesOmitThem(rule: Rule) async throws {
        let (tree, inside) =
            switch rule {
            case .hidden: ("d", ".e/b.jpg")
            case .extensions: ("d.exe", "c.exe")
            case .macMetadata: ("d", "._b")
            }
        try await TestShare.play(
            Scenario(
                "\(rule)",
                [
                    shell(rule.setUp), step("COPY /\(tree)", [("Destination", "/copy")], nil, 201),
                    shell("test -e copy/ok.jpg && ! test -e copy/\(inside)"),
                    step("MOVE /\(tree)", [("Destination", "/moved.x")], nil, 201),
                    shell("test -e moved.x/ok.jpg && test -e moved.x/\(inside)"),
                    step("COPY /copy", [("Destination", "/moved.x")], nil, 204),
                    shell("test -e moved.x/ok.jpg && ! test -e moved.x/\(inside)"),
                    shell(
                        "mkdir -p moved.x/\(inside) && rmdir moved.x/\(inside) && echo x >moved.x/\(inside)"),
                    // If a member is locked, DELETE removes the members one by one.
                    step("PUT /moved.x/locked.jpg", [], "x", 201), lock("/moved.x/locked.jpg"),
                    step("DELETE /moved.x/", [], nil, 207, lacks: [inside]),
                    step("UNLOCK /moved.x/locked.jpg", [("Lock-Token", "<$1>")], nil, 204),
                    shell(
                        "mkdir -p moved.x/\(inside) && rmdir moved.x/\(inside) && echo x >moved.x/\(inside)"),
                    step("DELETE /moved.x/", [], nil, 204), shell("! test -e moved.x"),
                ])
        ) { $0.rules = rule.rules }
    }

    @Test("a move across volumes, which is a copy, preserves excluded files", arguments: Rule.allCases)
    func movesAcrossVolumesKeepExcludedMembers(rule: Rule) async throws {
        let share = try TestShare { $0.rules = rule.rules }
        share.resources.watch { $0 == .rename ? .crossVolume : nil }
        let (tree, inside) =
            rule == .extensions ? ("d.exe", "c.exe") : ("d", rule == .hidden ? ".e/b.jpg" : "._b")
        #expect(share.shell(rule.setUp) == 0)
        #expect(try await share.client.send("MOVE", "/\(tree)", [("Destination", "/moved")]).status == 201)
        #expect(share.shell("test -e moved/ok.jpg && test -e moved/\(inside) && ! test -e \(tree)") == 0)
    }

    @Test("allowed extensions are not case-sensitive")
    func allowedExtensionsIgnoreCase() async throws {
        try await TestShare.play(
            Scenario(
                "extensions",
                [
                    step("PUT /A.JPG", [], "x", 201), step("GET /A.JPG", [], nil, 200),
                    step("PUT /b.x.tXt", [], "x", 201), step("MKCOL /folder.exe", [], nil, 201),
                    step("LOCK /folder.exe", [], lockBody(scope: "shared"), 200),
                    step("MOVE /A.JPG", [("Destination", "/A.exe")], nil, 403),
                    step("MOVE /A.JPG", [("Destination", "/A")], nil, 403),
                    step("MOVE /A.JPG", [("Destination", "/a.txt")], nil, 201),
                    step("COPY /a.txt", [("Destination", "/a.exe")], nil, 403),
                    step("MKCOL /sub", [], nil, 201),
                    step("MOVE /sub", [("Destination", "/sub.exe")], nil, 201),
                    step("COPY /sub.exe", [("Destination", "/sub.jpg.exe")], nil, 201),
                    // A file that replaces a collection needs an allowed extension.
                    step("COPY /a.txt", [("Destination", "/sub.exe")], nil, 403),
                    step("MOVE /a.txt", [("Destination", "/sub.exe")], nil, 403),
                    step("GET /a.txt", [], nil, 200, holds: ["x"]),
                ])
        ) { $0.rules.allowedExtensions = ["jpg", "TXT"] }
    }

    @Test("an empty extension allows names without one; an empty list allows no names")
    func namesWithoutAnExtension() async throws {
        try await TestShare.play(
            Scenario(
                "",
                [
                    step("PUT /README", [], "x", 201), step("PUT /.x", [], "x", 201),
                    step("PUT /a.b", [], "x", 403),
                ])
        ) { $0.rules.allowedExtensions = [""] }
        try await TestShare.play(
            Scenario("", [step("PUT /a", [], "x", 403), step("MKCOL /a", [], nil, 201)])
        ) { $0.rules.allowedExtensions = [] }
    }

    @Test("RFC 9110 §13.2.1: the name is refused before conditions are evaluated")
    func namesAreCheckedBeforePreconditions() async throws {
        try await TestShare.play(
            Scenario("", [step("PUT /a.exe", [("If-Match", "*")], "x", 403)])
        ) { $0.rules.allowedExtensions = ["jpg"] }
    }
}
