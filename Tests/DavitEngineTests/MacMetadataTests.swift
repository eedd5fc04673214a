import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// macOS metadata files, under each policy.
struct MacMetadataTests {
    static let names = [
        "._a", "._.DS_Store", ".DS_Store", ".Trashes", ".Spotlight-V100", ".TemporaryItems",
        ".DocumentRevisions-V100",
        ".fseventsd", ".apdisk",
    ]
    static let ordinary = [
        "._", ".", "..", ".ds_store", ".DS_Store.bak", "a._b", ".Trash", ".x", "Thumbs.db", "desktop.ini",
        "~$a.docx",
        ".~lock.a#", "a.sb-1234", "DS_Store",
    ]

    @Test("names of metadata files", arguments: names)
    func metadataNamesAreRecognized(name: String) { #expect(MacMetadataName.matches(Array(name.utf8))) }

    @Test("names of other files", arguments: ordinary)
    func otherNamesAreNotMetadata(name: String) { #expect(!MacMetadataName.matches(Array(name.utf8))) }

    private func play(
        _ name: String, _ policies: [MacMetadataPolicy], _ steps: [Scenario.Step]
    ) async throws {
        for policy in policies {
            try await TestShare.play(Scenario("\(name), \(policy)", steps)) { $0.rules.macMetadata = policy }
        }
    }

    @Test("the requests with which Finder copies a file succeed") func finderCanCopyAFile() async throws {
        try await play(
            "copy", [.keep, .hide, .aside],
            [
                step("MKCOL /d", [], nil, 201), step("PROPFIND /d/._a", [("Depth", "0")], nil, 404),
                step("PUT /d/a", [], "", 201),
                step("LOCK /d/a", [("Depth", "0")], lockBody(scope: "exclusive"), 200),
                step("PUT /d/a", [("If", "(<$1>)")], "content", 204),
                step("UNLOCK /d/a", [("Lock-Token", "<$1>")], nil, 204),
                step("PUT /d/._a", [], "", 201),
                step("LOCK /d/._a", [("Depth", "0")], lockBody(scope: "exclusive"), 200),
                step("PUT /d/._a", [], "stolen", 423), step("DELETE /d/._a", [], nil, 423),
                step("PUT /d/._a", [("If", "(<$2>)")], "companion", 204),
                step("PROPFIND /d/._a", [("Depth", "0")], nil, 207, holds: ["<D:href>/d/._a</D:href>"]),
                step(
                    "PROPPATCH /d/._a", [("If", "(<$2>)")], setProperty("p", "kept"), 207, holds: ["200 OK"]),
                step("UNLOCK /d/._a", [("Lock-Token", "<$2>")], nil, 204),
                step("LOCK /d/.DS_Store", [("Depth", "0")], lockBody(scope: "exclusive"), 201),
                step("PUT /d/.DS_Store", [("If", "(<$3>)")], "view", 204),
                step("UNLOCK /d/.DS_Store", [("Lock-Token", "<$3>")], nil, 204),
                step("GET /d/._a", [], nil, 200, holds: ["companion"]),
                step("GET /d/._a", [("If-None-Match", "$e")], nil, 304),
                step("HEAD /d/.DS_Store", [], nil, 200),
                // The file is renamed, and then its AppleDouble file.
                step("MOVE /d/a", [("Destination", "/d/b")], nil, 201),
                step("MOVE /d/._a", [("Destination", "/d/._b")], nil, 201),
                step("PROPFIND /d/._b", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("MOVE /d", [("Destination", "/e")], nil, 201),
                step("GET /d/._b", [], nil, 404), step("GET /e/._b", [], nil, 200, holds: ["companion"]),
                step("GET /e/.DS_Store", [], nil, 200, holds: ["view"]),
                step("PROPFIND /e/._b", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("COPY /e", [("Destination", "/f")], nil, 201),
                step("GET /f/._b", [], nil, 200, holds: ["companion"]),
                step("PROPFIND /f/._b", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("COPY /f/._b", [("Destination", "/f/._c")], nil, 201),
                step("COPY /f/._b", [("Destination", "/f/.DS_Store")], nil, 204),
                step("GET /f/.DS_Store", [], nil, 200, holds: ["companion"]),
                step("DELETE /f/._c", [], nil, 204), step("GET /f/._c", [], nil, 404),
                step("DELETE /e/", [], nil, 204), step("GET /e/._b", [], nil, 404),
                // A folder with the same name does not inherit the AppleDouble file.
                step("MKCOL /e", [], nil, 201), step("GET /e/._b", [], nil, 404),
            ])
    }

    @Test("AppleDouble files can be partially updated and created with properties")
    func appleDoubleFilesCanBeUpdatedInPart()
        async throws
    {
        try await play(
            "parts", [.keep, .hide, .aside],
            [
                step("MKCOL /d", [], nil, 201), step("PATCH /d/._a", ShareHooksTests.append, "x", 404),
                step("PUT /d/._a", [("Content-Range", "bytes 0-2/6")], "one", 201),
                step("PUT /d/._a", [("Content-Range", "bytes 3-5/6"), ("If-Match", "$e")], "two", 204),
                step("PROPPATCH /d/._a", [], setProperty("p", "kept"), 207),
                lock("/d/._a", depth: "0"), step("PATCH /d/._a", ShareHooksTests.append, "!", 423),
                step("PATCH /d/._a", ShareHooksTests.append + [("If", "(<$1>)")], "!", 204),
                step("GET /d/._a", [], nil, 200, holds: ["onetwo!"]),
                step("PROPFIND /d/._a", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("MKCOL /d/._f", [ExtendedMkColTests.xml], ExtendedMkColTests.body("<x:p>of</x:p>"), 201),
                step("PROPFIND /d/._f", [("Depth", "0")], askProperty("p"), 207, holds: [">of<"]),
                step("POST /d/?add-member", [("Slug", "._a")], "member", 201),
                step("GET /d/_a", [], nil, 200, holds: ["member"]),
                shell("! find . -name '.davit-*' | grep -q ."),
            ])
    }

    @Test("metadata files are not listed, but can be requested by name") func metadataFilesAreNotListed()
        async throws
    {
        for policy in [MacMetadataPolicy.hide, .aside, .keep] {
            let share = try TestShare { $0.rules.macMetadata = policy }
            #expect(share.shell("mkdir .Trashes .TemporaryItems; touch b .hidden") == 0)
            for name in ["._b", ".DS_Store"] {
                #expect(try await share.client.send("PUT", "/" + name, text: "x").status == 201)
                #expect(try await share.client.send("GET", "/" + name).status == 200)
            }
            #expect(try await share.client.send("PROPFIND", "/.Trashes/", [("Depth", "1")]).status == 207)
            for depth in ["1", "infinity"] {
                let text = try await share.client.send("PROPFIND", "/", [("Depth", depth)]).text
                for name in ["._b", ".DS_Store", ".Trashes", ".TemporaryItems"] {
                    #expect(text.contains("/\(name)") == (policy == .keep), "\(policy): \(text)")
                }
                #expect(text.contains("/b</D:href>") && text.contains("/.hidden</D:href>"))
            }
        }
    }

    @Test("metadata files in the sidecar store are not in the folder") func sidecarsAreStoredSeparately()
        async throws
    {
        try await play(
            "aside", [.aside],
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/._a", [], "x", 201),
                step("PUT /d/.DS_Store", [], "x", 201),
                shell("test -z \"$(ls -A d)\" && test -e $aside/d/._a && test -e $aside/d/.DS_Store"),
                // Files in the system's temporary folders can be documents.
                step("MKCOL /.TemporaryItems", [], nil, 201),
                step("PUT /.TemporaryItems/doc", [], "doc", 201),
                step("MOVE /.TemporaryItems/doc", [("Destination", "/doc")], nil, 201),
                shell("test -e doc && test -d .TemporaryItems"),
                step("PUT /none/._a", [], "x", 409), step("PUT /doc/._a", [], "x", 409),
                step("MKCOL /d/._folder", [], nil, 201), step("PUT /d/._folder/x", [], "x", 201),
                step("PUT /d/._none/x", [], "x", 409), step("MKCOL /d/._a", [], nil, 405),
                step("PROPFIND /d/._folder", [("Depth", "1")], nil, 207, holds: ["/d/._folder/x"]),
                step("DELETE /d/._folder", [], nil, 204),
                step("MKCOL /d/e", [], nil, 201), step("PUT /d/e/._deep", [], "x", 201),
                step("DELETE /d", [], nil, 204), shell("! test -e $aside/d"),
            ])
    }

    @Test("a move between the folder and the sidecar store copies the file")
    func moveBetweenFolderAndSidecarStoreCopies() async throws {
        try await play(
            "crossing", [.aside],
            [
                step("PUT /a", [], "one", 201), step("PROPPATCH /a", [], setProperty("p", "kept"), 207),
                step("MOVE /a", [("Destination", "/._b")], nil, 201), step("GET /a", [], nil, 404),
                shell("test -z \"$(ls -A)\" && test -e $aside/._b"),
                step("PROPFIND /._b", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("PUT /c", [], "two", 201), step("MOVE /._b", [("Destination", "/c")], nil, 204),
                step("GET /c", [], nil, 200, holds: ["one"]), step("GET /._b", [], nil, 404),
                step("PROPFIND /c", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("COPY /c", [("Destination", "/.DS_Store")], nil, 201),
                step("PUT /d", [], "three", 201), step("COPY /d", [("Destination", "/.DS_Store")], nil, 204),
                step("GET /.DS_Store", [], nil, 200, holds: ["three"]),
                step("MKCOL /folder", [], nil, 201),
                step("MOVE /folder", [("Destination", "/._folder")], nil, 403),
                step("PROPFIND /folder", [("Depth", "0")], nil, 207),
                shell("! ls -A . $aside | grep -q '^.davit-'"),
            ])
    }

    @Test("AppleDouble files move with a folder, and those of a replaced folder are removed")
    func sidecarsMoveWithTheirFolder()
        async throws
    {
        for method in ["MOVE", "COPY"] {
            try await play(
                method, [.keep, .hide, .aside],
                [
                    step("MKCOL /new", [], nil, 201), step("PUT /new/._n", [], "n", 201),
                    step("MKCOL /old", [], nil, 201), step("PUT /old/._o", [], "o", 201),
                    step("PROPPATCH /new/._n", [], setProperty("p", "kept"), 207),
                    step("\(method) /new", [("Destination", "/old")], nil, 204),
                    step("GET /old/._n", [], nil, 200, holds: ["n"]), step("GET /old/._o", [], nil, 404),
                    step("PROPFIND /old/._n", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                    step("GET /new/._n", [], nil, method == "MOVE" ? 404 : 200),
                    step("MKCOL /bare", [], nil, 201),
                    step("\(method) /bare", [("Destination", "/old")], nil, 204),
                    step("GET /old/._n", [], nil, 404),
                ])
        }
    }

    @Test("existing metadata files are served and stay in the folder") func existingMetadataFilesAreServed()
        async throws
    {
        try await play(
            "earlier", [.aside],
            [
                shell("mkdir d; echo old | tee ._a >d/._b"), step("GET /._a", [], nil, 200, holds: ["old"]),
                step("PROPFIND /", [("Depth", "infinity")], nil, 207, lacks: ["._a", "._b"]),
                step("PUT /._a", [], "new", 204), step("GET /._a", [], nil, 200, holds: ["new"]),
                shell("grep -q new ._a"), step("MOVE /._a", [("Destination", "/d/._b")], nil, 204),
                step("GET /d/._b", [], nil, 200, holds: ["new"]), step("DELETE /d/._b", [], nil, 204),
                shell("test -z \"$(ls -A d)\""),
            ])
    }

    @Test("RFC 4918 §9.6.1: a lock on an unlisted file preserves its folder")
    func lockedMetadataFilePreservesItsFolder() async throws {
        try await play(
            "locked", [.keep, .hide, .aside],
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/._a", [], "x", 201),
                step("PUT /d/._b", [], "x", 201),
                lock("/d/._a"), step("DELETE /d/", [], nil, 207, holds: ["/d/._a", "HTTP/1.1 423"]),
                step("GET /d/._a", [], nil, 200), step("GET /d/._b", [], nil, 404),
                step("UNLOCK /d/._a", [("Lock-Token", "<$1>")], nil, 204), step("DELETE /d/", [], nil, 204),
                step("GET /d/._a", [], nil, 404),
            ])
    }

    @Test("locked and open files do not expire; expired files leave nothing behind")
    func expiredSidecarsAreRemoved()
        async throws
    {
        let share = try TestShare { $0.rules.macMetadata = .aside }
        let path = try #require(ResourcePath(segments: [Array("._a".utf8)]))
        #expect(try await share.client.send("PUT", "/._a", text: "x").status == 201)
        #expect(try await share.client.send("PROPPATCH", "/._a", text: setProperty("p", "1")).status == 207)
        let locked = try await share.client.send("LOCK", "/._a", text: lockBody(scope: "shared"))
        let token = try #require(locked["Lock-Token"])
        #expect(!share.share.locks.removeUnlocked(path) { true })
        #expect(try await share.client.send("UNLOCK", "/._a", [("Lock-Token", token)]).status == 204)
        let outcome = share.share.pathLocks.withPathLockIfFree([PathLockRequest(path: path, mode: .shared)]) {
            share.share.locks.removeUnlocked(path) { true }
        }
        #expect(outcome == false)
        #expect(!share.share.locks.removeUnlocked(path) { false })
        #expect(share.state.hasRows(at: path))
        #expect(share.share.locks.removeUnlocked(path) { true })
        #expect(!share.state.hasRows(at: path))
    }

    @Test("a folder with only metadata files can be deleted") func folderWithOnlyMetadataFilesCanBeDeleted()
        async throws
    {
        try await play(
            "only", [.keep, .hide, .aside, .refuse],
            [
                shell(
                    "mkdir -p d/.TemporaryItems/501; echo x | tee d/._a d/.DS_Store >d/.TemporaryItems/501/x"),
                step("DELETE /d/", [], nil, 204), shell("! test -e d"),
            ])
    }

    @Test(
        "requests for missing metadata files need no other thread", arguments: ["/tmp", "/dev/shm"],
        MacMetadataPolicy.allCases)
    func missingNamesAreAnsweredInline(parent: String, policy: MacMetadataPolicy) async throws {
        let share = try TestShare(TemporaryFolder(in: parent)) { $0.rules.macMetadata = policy }
        #expect(share.shell("mkdir d") == 0)
        for name in ["/d/._a", "/.DS_Store", "/.hidden", "/Contents/none", "/d/none"] {
            for method in ["PROPFIND", "HEAD", "GET"] {
                var hops = Int.max
                // The first lookup may read the folder, and the kernel may return EAGAIN if other names
                // change at the same time.
                for _ in 0..<1_000 where hops != 0 {
                    let before = share.hopCount
                    #expect(try await share.client.send(method, name, [("Depth", "0")]).status == 404)
                    hops = share.hopCount - before
                }
                #expect(hops == 0, "\(method) \(name)")
            }
        }
    }
}
