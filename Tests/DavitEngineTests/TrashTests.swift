import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// Which resources the trash keeps.
struct TrashTests {
    @Test func shareWithoutTrashKeepsNothing() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "A")
        #expect(try await share.client.send("DELETE", "/a")["Davit-Trash"] == nil)
        #expect(try share.trash() == [])
        #expect(share.shell("ls -d .davit-trashofthisshare") != 0)
        #expect(try await share.client.send("REPORT", "/", text: TrashReportTests.body).status == 403)
    }

    @Test(arguments: ["/tmp", "/dev/shm"])
    func deletedResourceIsRestoredUnchanged(parent: String) async throws {
        let share = try TestShare.keeping(TemporaryFolder(in: parent))
        try await share.play(
            Scenario(
                "before",
                [
                    step("PUT /a", [("X-OC-MTime", "1000000000")], "content", 201),
                    step("PROPPATCH /a", [], setProperty("p", "one"), 207), lock("/a", depth: "0"),
                ]))
        let before = try await share.client.send("GET", "/a")
        let lock = try #require(
            share.state.locks(covering: Self.path("a"), now: .init(seconds: 0)).first?.token.uri)
        let gone = try await share.client.send("DELETE", "/a", [("If", "(<\(lock)>)")])
        #expect(gone.status == 204)
        #expect(gone["Davit-Trash"] == share.lastTrash)
        #expect(try share.trash() == ["deleted /a 7"])
        #expect(try await share.shown("/a") == "404")
        #expect(!share.state.hasRows(at: Self.path("a")))
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "infinity")])
        #expect(!listing.text.contains("davit-"))
        #expect(try await share.client.send("GET", "/.davit-trashofthisshare/").status == 403)

        let back = try await share.restore(gone["Davit-Trash"])
        #expect(back.status == 201)
        #expect(back["Location"] == "/a")
        let after = try await share.client.send("GET", "/a")
        #expect(after.text == "content")
        for name in ["ETag", "Last-Modified"] { #expect(after[name] == before[name]) }
        #expect(
            try await share.client.send("PROPFIND", "/a", text: askProperty("p")).text.contains(">one<"))
        #expect(share.state.locks(covering: Self.path("a"), now: .init(seconds: 0)).isEmpty)
        #expect(try share.trash() == [])
        #expect(share.trashedNames() == 0)
        #expect(try await share.restore(gone["Davit-Trash"]).status == 404)
    }

    @Test func treeIsRestoredWithPropertiesAndAncestors() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir -p t/d/e; echo f >t/d/e/f; ln -s d t/l; chmod 750 t/d") == 0)
        try await share.play(
            Scenario("before", [step("PROPPATCH /t/d/e/f", [], setProperty("p", "deep"), 207)]))
        _ = try await share.client.send("DELETE", "/t/d/")
        let id = share.lastTrash
        _ = try await share.client.send("DELETE", "/t/")
        #expect(try share.trash() == ["deleted /t/d/", "deleted /t/"])
        #expect(try await share.restore(id).status == 201)
        #expect(try await share.shown("/t/d/e/f") == "f\n")
        #expect(share.shell("[ $(stat -c %a t/d) = 750 ]") == 0)
        let property = try await share.client.send("PROPFIND", "/t/d/e/f", text: askProperty("p"))
        #expect(property.text.contains(">deep<"))
        // The name of the other entry is now in use.
        let other = try await share.restore(share.lastTrash)
        #expect(other["Location"] == "/t%20%281%29")
        #expect(share.shell("[ -L 't (1)/l' ]") == 0)
    }

    static let overwriting: [(line: String, fields: [(String, String)], body: String?)] = [
        ("PUT /b", [], "new"), ("MOVE /a", [("Destination", "/b")], nil),
        ("COPY /a", [("Destination", "/b")], nil),
        ("PATCH /b", ShareHooksTests.append, "new"), ("PUT /b", [("Content-Range", "bytes 0-2/3")], "new"),
    ]

    @Test(arguments: overwriting.indices, [false, true])
    func overwrittenResourceIsKept(row: Int, hasRows: Bool) async throws {
        let (line, fields, body) = Self.overwriting[row]
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare.keeping(TemporaryFolder(in: parent))
            _ = try await share.client.send("PUT", "/a", text: "from a")
            _ = try await share.client.send("PUT", "/b", text: "old")
            if hasRows {
                for (name, value) in [("a", "of a"), ("b", "of b")] {
                    let body = setProperty("p", value)
                    _ = try await share.client.send("PROPPATCH", "/\(name)", text: body)
                }
            }
            let tag = try await share.client.send("GET", "/b")["ETag"]
            let parts = line.split(separator: " ").map(String.init)
            let response = try await share.client.send(
                parts[0], parts[1], fields, body: body.map { Array($0.utf8) })
            #expect(response.status == 204, "\(line)")
            #expect(response["Davit-Trash"] == share.lastTrash, "\(line)")
            #expect(try share.trash() == ["overwritten /b 3"], "\(line)")
            #expect(share.trashedNames() == 1, "\(line)")
            let new = try await share.shown("/b")
            #expect(new != "old")
            #expect(try share.state.intents() == [])

            #expect(try await share.restore(share.lastTrash)["Location"] == "/b%20%281%29", "\(line)")
            let back = try await share.client.send("GET", "/b%20%281%29")
            #expect(back.text == "old", "\(line)")
            #expect(back["ETag"] == tag, "\(line)")
            #expect(try await share.shown("/b") == new)
            if hasRows {
                let old = try await share.client.send("PROPFIND", "/b%20%281%29", text: askProperty("p"))
                #expect(old.text.contains(">of b<"), "\(line)")
                let new = try await share.client.send("PROPFIND", "/b", text: askProperty("p"))
                #expect(new.text.contains(body == nil ? ">of a<" : ">of b<"), "\(line)")
            }
            #expect(share.shell("! ls -A | grep -v trashofthisshare | grep davit-") == 0, "\(line)")
        }
    }

    @Test(arguments: ["MOVE", "COPY"], [false, true])
    func replacedCollectionIsKept(method: String, hasRows: Bool) async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir a b; echo a >a/f; echo b >b/g") == 0)
        if hasRows {
            _ = try await share.client.send("PROPPATCH", "/a/f", text: setProperty("p", "of a"))
            _ = try await share.client.send("PROPPATCH", "/b/g", text: setProperty("p", "of b"))
        }
        let response = try await share.client.send(method, "/a", [("Destination", "/b")])
        #expect(response.status == 204)
        #expect(try share.trash() == ["overwritten /b/"])
        #expect(try await share.shown("/b/f") == "a\n")
        // The original state is restored: the current resource is moved to the trash.
        let back = try await share.restore(share.lastTrash, "&taken=replace")
        #expect(back.status == 204)
        #expect(back["Davit-Trash"] == share.lastTrash)
        #expect(try await share.shown("/b/g") == "b\n")
        #expect(try share.trash() == ["overwritten /b/"])
        #expect(share.trashedNames() == 1)
        if hasRows {
            let property = try await share.client.send("PROPFIND", "/b/g", text: askProperty("p"))
            #expect(property.text.contains(">of b<"))
        }
        #expect(try await share.restore(share.lastTrash, "&taken=refuse").status == 412)
        #expect(try await share.restore(share.lastTrash, "&taken=x").status == 400)
    }

    @Test func emptyContentAndMetadataAreNotKept() async throws {
        let share = try TestShare.keeping()
        try await share.play(
            Scenario(
                "nothing to keep",
                [
                    step("PUT /new", [], "content", 201), lock("/locked", status: 201),
                    step("PUT /locked", [("If", "(<$1>)")], "content", 204),
                    step("UNLOCK /locked", [("Lock-Token", "<$1>")], nil, 204),
                    step("PUT /._new", [], "litter", 201), step("PUT /._new", [], "litter again", 204),
                    step("DELETE /._new", [], nil, 204), step("MOVE /new", [("Destination", "/b")], nil, 201),
                    step("PUT /b", [("If-Match", "\"other\"")], "new", 412),
                    step("DELETE /none", [], nil, 404),
                ]))
        #expect(try share.trash() == [])
        #expect(share.shell("ls -d .davit-trashofthisshare") != 0)
    }

    @Test func repeatedSavesKeepOneVersion() async throws {
        let share = try TestShare.keeping()
        func put(_ text: String, as principal: String) async throws {
            _ = try await share.client.send("PUT", "/a", body: Array(text.utf8), principal: principal)
        }
        for text in ["0", "10", "200", "3000"] { try await put(text, as: "anna") }
        #expect(try share.trash() == ["overwritten /a 1 by anna"])
        try await put("40000", as: "bert")
        try await put("500000", as: "bert")
        #expect(try share.trash().dropFirst() == ["overwritten /a 4 by bert"])
        share.wait(seconds: 301)
        try await put("6", as: "bert")
        #expect(try share.trash().dropFirst(2) == ["overwritten /a 6 by bert"])
        _ = try await share.client.send("DELETE", "/a")
        #expect(try share.trash().last == "deleted /a 1")
    }

    /// The user has confirmed the replacement: the version is kept even if it is recent or empty.
    @Test(arguments: ["NEWER", ""])
    func resourceReplacedByARestoreIsKept(newer: String) async throws {
        let share = try TestShare.keeping()
        for text in ["old", newer] { _ = try await share.client.send("PUT", "/a", text: text) }
        let back = try await share.restore(share.lastTrash, "&taken=replace")
        #expect(back.status == 204)
        #expect(back["Davit-Trash"] == share.lastTrash)
        #expect(try share.trash() == ["overwritten /a \(newer.utf8.count)"])
        #expect(try await share.restore(share.lastTrash, "&taken=replace").status == 204)
        #expect(try await share.text("/a") == newer)
        #expect(try share.trash() == ["overwritten /a 3"])
    }

    /// A file modified in place by another program has the same inode as the version written by the server.
    @Test(arguments: ["echo other >a", "echo more >>a", "touch -d 2001-02-03 a"])
    func versionOfAnotherProgramIsKept(command: String) async throws {
        let share = try TestShare.keeping()
        for text in ["1", "2"] { _ = try await share.client.send("PUT", "/a", text: text) }
        #expect(share.shell(command) == 0)
        let length = try await share.text("/a").utf8.count
        _ = try await share.client.send("PUT", "/a", text: "3")
        #expect(try share.trash() == ["overwritten /a 1", "overwritten /a \(length)"])
    }

    /// rclone, davfs2 and Explorer set the time after each PUT.
    @Test func settingTheTimeAfterPutAddsNoVersion() async throws {
        let share = try TestShare.keeping()
        let date = "Mon, 05 Jan 2015 10:00:00 GMT"
        for text in ["1", "22", "333"] {
            _ = try await share.client.send("PUT", "/a", text: text)
            let body = """
                <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:getlastmodified>\(date)</D:getlastmodified></D:prop>\
                </D:set></D:propertyupdate>
                """
            let set = try await share.client.send("PROPPATCH", "/a", text: body)
            #expect(set.text.contains("200 OK"))
        }
        #expect(try share.trash() == ["overwritten /a 1"])
    }

    /// After the most recent version has left the trash, the next replaced version is kept.
    @Test(arguments: [false, true])
    func versionAfterARemovedOneIsKept(isRestored: Bool) async throws {
        let share = try TestShare.keeping()
        for text in ["1", "22"] { _ = try await share.client.send("PUT", "/a", text: text) }
        if isRestored {
            #expect(try await share.restore(share.lastTrash).status == 201)
        } else {
            #expect(share.share.trashMaintenance.purge { _ in true } == 1)
        }
        _ = try await share.client.send("PUT", "/a", text: "333")
        #expect(try share.trash() == ["overwritten /a 2"])
    }

    /// Only content that replaced the kept version may be discarded, not content that was moved to its name
    /// or created after a deletion.
    @Test(arguments: ["MOVE", "DELETE"])
    func contentMovedOrCreatedSinceTheLastVersionIsKept(how: String) async throws {
        let share = try TestShare.keeping()
        for (name, text) in [("a", "first"), ("b", "other")] {
            _ = try await share.client.send("PUT", "/\(name)", text: text)
        }
        _ = try await share.client.send("PUT", "/a", text: "second")
        if how == "DELETE" { _ = try await share.client.send("DELETE", "/a") }
        _ = try await share.client.send("MOVE", "/b", [("Destination", "/a")])
        _ = try await share.client.send("PUT", "/a", text: "third")
        #expect(try share.trash().last == "overwritten /a 5")
        #expect(try await share.restore(share.lastTrash)["Location"] == "/a%20%281%29")
        #expect(try await share.text("/a%20%281%29") == "other")
    }

    /// RFC 4918 §9.6.1: locked members remain, and the others are moved to the trash; a tree without locks
    /// becomes a single entry.
    @Test func unlockedPartsOfALockedTreeAreMovedToTheTrash() async throws {
        let share = try TestShare.keeping()
        #expect(
            share.shell("mkdir -p t/d/e t/o; echo f >t/d/f; echo g >t/d/e/g; echo h >t/o/h; ln -s o t/l") == 0
        )
        try await share.play(Scenario("lock", [lock("/t/d/f", depth: "0")]))
        let response = try await share.client.send("DELETE", "/t/")
        #expect(response.status == 207)
        #expect(
            try share.trash().sorted() == ["deleted /t/d/e/", "deleted /t/l 0", "deleted /t/o/"].sorted())
        #expect(response["Davit-Trash"]?.split(separator: ", ").count == 3)
        #expect(share.shell("[ \"$(find t | sort | tr '\\n' ' ')\" = 't t/d t/d/f ' ]") == 0)
    }

    @Test func restoreRequiresWritePermission() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d; echo f >d/f") == 0)
        _ = try await share.client.send("DELETE", "/d/f")
        let id = share.lastTrash
        try await share.play(Scenario("lock", [lock("/d")]))
        #expect(try await share.restore(id).status == 423)
        #expect(try share.trash() == ["deleted /d/f 2"])
        // The origin of the form is checked.
        let form = Array("id=\(id ?? "")".utf8)
        #expect(
            try await share.client.send("POST", "/?action=restore", [ownForm[1]], body: form).status == 403)
        #expect(try await share.client.send("POST", "/?action=restore", ownForm, body: []).status == 400)
        #expect(try await share.restore("aaaaaaaaaaaaaaaa").status == 404)
    }

    @Test func purgeRemovesEntriesAndTheirFiles() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d; echo f >d/f; echo g >g") == 0)
        _ = try await share.client.send("PROPPATCH", "/d/f", text: setProperty("p", "one"))
        _ = try await share.client.send("DELETE", "/d")
        let id = try #require(share.lastTrash)
        _ = try await share.client.send("DELETE", "/g")
        let form = Array("id=\(id)&id=\(share.lastTrash ?? "")".utf8)
        #expect(try await share.client.send("POST", "/?action=purge", ownForm, body: form).status == 204)
        #expect(try share.trash() == [])
        #expect(share.trashedNames() == 0)
        #expect(!share.state.hasRows(atOrUnder: .root))
        #expect(try await share.client.send("POST", "/?action=purge", ownForm, body: form).status == 404)
    }

    @Test func oldestEntriesAreEvictedFirst() async throws {
        let share = try TestShare.keeping { $0.trash?.bytes = 10 }
        for name in ["a", "b", "c"] {
            _ = try await share.client.send("PUT", "/\(name)", text: "1234")
            _ = try await share.client.send("DELETE", "/\(name)")
        }
        #expect(try share.trash() == ["deleted /b 4", "deleted /c 4"])
        // The bytes of a collection count only after they have been measured.
        #expect(share.shell("mkdir d; echo 123456 >d/f") == 0)
        _ = try await share.client.send("DELETE", "/d")
        #expect(try share.trash().count == 3)
        share.share.trashMaintenance.run()
        #expect(try share.trash() == ["deleted /d/ 7"])
        #expect(share.trashedNames() == 1)
    }

    @Test func entriesExpireAfterTheConfiguredDays() async throws {
        let share = try TestShare.keeping { $0.trash?.days = 2 }
        _ = try await share.client.send("PUT", "/a", text: "1")
        _ = try await share.client.send("PUT", "/b", text: "2")
        _ = try await share.client.send("DELETE", "/a")
        share.wait(seconds: 86_400)
        _ = try await share.client.send("DELETE", "/b")
        share.wait(seconds: 86_401)
        share.share.trashMaintenance.run()
        #expect(try share.trash() == ["deleted /b 1"])
    }

    /// A temporarily wrong clock must not cause the other entries to be kept forever.
    @Test func entriesFromTheFutureDoNotBlockExpiry() async throws {
        let share = try TestShare.keeping { $0.trash?.days = 2 }
        for name in ["/a", "/b"] { _ = try await share.client.send("PUT", name, text: "1") }
        share.wait(seconds: 400 * 86_400)
        _ = try await share.client.send("DELETE", "/a")
        share.wait(seconds: -400 * 86_400)
        _ = try await share.client.send("DELETE", "/b")
        share.wait(seconds: 3 * 86_400)
        share.share.trashMaintenance.run()
        #expect(try share.trash() == ["deleted /a 1"])
    }

    /// Only entries that can be restored are reported.
    @Test func oversizedEntriesAreNotAnnounced() async throws {
        let share = try TestShare.keeping { $0.trash?.bytes = 3 }
        _ = try await share.client.send("PUT", "/b", text: "1")
        _ = try await share.client.send("DELETE", "/b")
        _ = try await share.client.send("PUT", "/a", text: "12345")
        let overwritten = try await share.client.send("PUT", "/a", text: "1")
        #expect(overwritten["Davit-Trash"] == nil)
        let deleted = try await share.client.send("DELETE", "/a")
        #expect(deleted["Davit-Trash"] == share.lastTrash)
        // No entry has made room for the large file.
        #expect(try share.trash() == ["deleted /b 1", "deleted /a 1"])
    }

    /// An entry is committed before its file is moved; until then, it must not be purged as invalid.
    @Test func pendingEntriesAreNotPurged() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d; echo 1 >d/a") == 0)
        _ = try await share.client.send("DELETE", "/d/a")
        #expect(share.shell("rm .davit-trashofthisshare/*") == 0)
        for claimed in ["d", "d/a"] {
            let path = ResourcePath(unchecked: Array(claimed.utf8))
            let section = try await share.share.pathLocks.acquire([
                PathLockRequest(path: path, mode: .exclusive)
            ])
            #expect(share.share.trashMaintenance.purge { _ in true } == 0)
            #expect(try share.trash().count == 1)
            section.release()
        }
        #expect(share.share.trashMaintenance.purge { _ in true } == 1)
        #expect(try share.trash() == [])
    }

    @Test func hooksAreCalledForTheTrash() async throws {
        let notes = ShareHooksTests.Notes()
        let share = try TestShare.keeping { configuration in
            configuration.hooks.allows = { action in
                notes.add("? \(ShareHooksTests.text(action))")
                return action.principal != "bert"
            }
            configuration.hooks.completed = { notes.add("! \(ShareHooksTests.text($0))") }
        }
        #expect(share.shell("mkdir d; echo f >d/f") == 0)
        _ = try await share.client.send("DELETE", "/d/f", principal: "anna")
        let id = share.lastTrash
        _ = notes.take()
        #expect(try await share.restore(id, as: "bert").status == 403)
        #expect(notes.take() == ["? restore /d/f by bert"])
        #expect(try await share.restore(id, as: "anna").status == 201)
        #expect(notes.take() == ["? restore /d/f by anna", "! restore /d/f by anna"])
        _ = try await share.client.send("DELETE", "/d")
        _ = notes.take()
        let form = Array("id=\(share.lastTrash ?? "")".utf8)
        #expect(try await share.client.send("POST", "/?action=purge", ownForm, body: form).status == 204)
        #expect(notes.take() == ["? purge /d/", "! purge /d/"])
    }

    /// Moving a folder requires write permission for the folder itself; removing the folder does not.
    @Test(arguments: ["DELETE /a", "DELETE /d", "MOVE /d"])
    func resourceIsDeletedIfMovingItToTheTrashIsForbidden(line: String) async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d e; echo a >a; echo f >d/f; echo g >e/g") == 0)
        let isFirst = Atomic(true)
        share.resources.watch { call in
            call == .rename && isFirst.exchange(false, ordering: .relaxed) ? .forbidden : nil
        }
        let parts = line.split(separator: " ").map(String.init)
        let response = try await share.client.send(parts[0], parts[1], [("Destination", "/e")])
        #expect(response.status == 204, "\(line)")
        #expect(response["Davit-Trash"] == nil)
        let wasTried = !isFirst.load(ordering: .relaxed)
        #expect(wasTried)
        #expect(try share.trash().isEmpty)
        #expect(share.trashedNames() == 0)
        #expect(try share.state.intents() == [])
        #expect(share.shell("[ ! -e .\(parts[1]) ]") == 0)
        if parts[0] == "MOVE" { #expect(try await share.shown("/e/f") == "f\n") }
    }

    /// If a rename into the trash is refused because it crosses volumes, the change is performed without the
    /// trash.
    @Test(arguments: ["DELETE /a", "DELETE /d", "MOVE /a", "MOVE /d", "COPY /d"])
    func resourceIsDeletedIfTheTrashIsOnAnotherVolume(line: String) async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d e; echo a >a; echo b >b; echo f >d/f; echo g >e/g") == 0)
        _ = try await share.client.send("PROPPATCH", "/d/f", text: setProperty("p", "one"))
        share.resources.watch { $0 == .rename ? .crossVolume : nil }
        let parts = line.split(separator: " ").map(String.init)
        let destination = parts[1] == "/a" ? "/b" : "/e"
        let response = try await share.client.send(parts[0], parts[1], [("Destination", destination)])
        #expect(response.status == 204, "\(line)")
        // A move that cannot be a rename becomes a copy, which may be kept.
        let isKept = response["Davit-Trash"] != nil
        #expect(try share.trash().isEmpty == !isKept)
        #expect(share.trashedNames() == (isKept ? 1 : 0))
        #expect(parts[0] != "DELETE" || !isKept)
        #expect(try share.state.intents() == [])
        if parts[0] != "DELETE" {
            #expect(try await share.shown(destination == "/b" ? "/b" : "/e/f") != "404")
        }
    }

    /// If the trash folder cannot be created, changes succeed as without a trash.
    @Test func changesSucceedIfTheTrashFolderCannotBeCreated() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("echo x >.davit-trashofthisshare; echo a >a; echo b >b") == 0)
        #expect(try await share.client.send("DELETE", "/a").status == 204)
        #expect(try await share.client.send("PUT", "/b", text: "new").status == 204)
        #expect(try share.trash() == [])
    }

    /// Names excluded by new rules are neither restored nor reported.
    @Test func rulesApplyToRestoredNames() async throws {
        let folder = try TemporaryFolder()
        let store = MemoryStateStore()
        let id: String?
        do {
            let share = try TestShare.keeping(folder, state: store)
            _ = try await share.client.send("PUT", "/.hidden", text: "1")
            _ = try await share.client.send("DELETE", "/.hidden")
            id = share.lastTrash
        }
        let share = try TestShare.keeping(folder, state: store) { $0.rules.allowsHiddenItems = false }
        #expect(try await share.restore(id).status == 403)
        let told = try await share.client.send(
            "REPORT", "/", [("Depth", "infinity")], text: TrashReportTests.body)
        #expect(told.status == 207)
        #expect(!told.text.contains("hidden"))
    }

    /// Restores an entry without an HTTP request.
    @Test func administratorCanRestore() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir d; echo f >d/f") == 0)
        _ = try await share.client.send("DELETE", "/d/f")
        let entry = try #require(try share.state.trash(after: 0, limit: 1).first)
        _ = try await share.client.send("DELETE", "/d")
        #expect(try TrashRestoration(share: share.share).restoreHere(entry) == entry.path)
        #expect(try await share.shown("/d/f") == "f\n")
        #expect(throws: HTTPError.self) { try TrashRestoration(share: share.share).restoreHere(entry) }
        #expect(share.share.trashMaintenance.purge { _ in true } == 1)
        #expect(try share.trash() == [])
    }

    static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
    }
}
