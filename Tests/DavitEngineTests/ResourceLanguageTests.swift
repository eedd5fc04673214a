import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitSQLite
import DavitServer
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// `getcontentlanguage` and the `Content-Language` of PUT and GET (RFC 4918 §15.3).
struct ResourceLanguageTests {
    static let ask = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:getcontentlanguage/></D:prop></D:propfind>"
    static let path = ResourcePath.root.appending(Array("a".utf8)) ?? .root

    static func set(_ value: String) -> String {
        """
        <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:getcontentlanguage>\(value)</D:getcontentlanguage></D:prop>\
        </D:set></D:propertyupdate>
        """
    }

    /// Returns the language reported by GET, HEAD and PROPFIND, which must be equal.
    static func language(_ client: TestClient<WebDAVHandler>, _ target: String) async throws -> String? {
        let get = try await client.send("GET", target)
        #expect(get.status == 200)
        let head = try await client.send("HEAD", target)
        #expect(head["Content-Language"] == get["Content-Language"])
        let found = try await client.send("PROPFIND", target, [("Depth", "0")], text: ask).text
        if let language = get["Content-Language"] {
            #expect(found.contains(">\(language)</"), "\(found)")
        } else {
            #expect(found.contains("HTTP/1.1 404"), "\(found)")
        }
        return get["Content-Language"]
    }

    /// Runs `body` with shares on disk and in memory, each with and without a trash.
    static func play(_ body: (TestShare) async throws -> Void) async throws {
        for parent in ["/tmp", "/dev/shm"] {
            try await body(TestShare(TemporaryFolder(in: parent)))
            try await body(TestShare(TemporaryFolder(in: parent)) { $0.trash = TrashLimits() })
        }
    }

    static let de = [("Content-Language", "de")]

    @Test func lastPutSetsTheLanguage() async throws {
        try await Self.play { share async throws in
            let client = share.client
            func put(_ fields: [(String, String)], _ status: UInt16) async throws -> String? {
                #expect(try await client.send("PUT", "/a", fields, text: "\(fields)").status == status)
                return try await Self.language(client, "/a")
            }
            #expect(try await put([("Content-Language", " mi ,, en")], 201) == "mi, en")
            #expect(try await put(Self.de, 204) == "de")
            #expect(try await put([], 204) == nil)
            // Set a language on a resource without stored rows, then on one with a dead property.
            #expect(try await put(Self.de, 204) == "de")
            #expect(try await put([("Content-Language", " , ")], 204) == nil)
            #expect(try await client.send("PROPPATCH", "/a", text: setProperty("p", "1")).status == 207)
            #expect(try await put([], 204) == nil)
            #expect(try await put(Self.de, 204) == "de")
            #expect(try await put(Self.de, 204) == "de")
            #expect(try await put([("Content-Language", "fr")], 204) == "fr")
            #expect(try await put([], 204) == nil)
            let kept = try await client.send("PROPFIND", "/a", [("Depth", "0")], text: askProperty("p")).text
            #expect(kept.contains(">1<"))
            #expect(try share.state.intents().isEmpty)
        }
    }

    @Test func languageIsADeadProperty() async throws {
        try await Self.play { share async throws in
            let client = share.client
            #expect(try await client.send("PUT", "/a", Self.de, text: "1").status == 201)
            // §15.3: the property is not protected.
            #expect(
                try await client.send("PROPPATCH", "/a", text: Self.set("fr, en")).text.contains("200 OK"))
            #expect(try await Self.language(client, "/a") == "fr, en")
            #expect(try await client.send("COPY", "/a", [("Destination", "/b")]).status == 201)
            #expect(try await client.send("MOVE", "/a", [("Destination", "/c")]).status == 201)
            #expect(try await Self.language(client, "/b") == "fr, en")
            #expect(try await Self.language(client, "/c") == "fr, en")
            #expect(try await client.send("COPY", "/b", [("Destination", "/c")]).status == 204)
            #expect(try await Self.language(client, "/c") == "fr, en")
            // A partial update changes the content but not the language.
            let part = [("Content-Range", "bytes 0-0/*"), ("Content-Language", "it")]
            #expect(try await client.send("PUT", "/c", part, text: "2").status == 204)
            #expect(try await Self.language(client, "/c") == "fr, en")
            let remove = Self.set("").replacing("D:set>", with: "D:remove>")
            #expect(try await client.send("PROPPATCH", "/b", text: remove).text.contains("200 OK"))
            #expect(try await Self.language(client, "/b") == nil)
            #expect(try await client.send("DELETE", "/c").status == 204)
            #expect(try await client.send("PUT", "/c", text: "3").status == 201)
            #expect(try await Self.language(client, "/c") == nil)
            // Collections have no language.
            #expect(try await client.send("MKCOL", "/d").status == 201)
            #expect(try await client.send("PROPPATCH", "/d", text: Self.set("fr")).text.contains("200 OK"))
            #expect(try await client.send("GET", "/d")["Content-Language"] == nil)
        }
    }

    @Test func addedMembersHaveTheRequestedLanguage() async throws {
        let share = try TestShare()
        let made = try await share.client.send(
            "POST", "/?add-member", [("Content-Language", "de"), ("Slug", "a")], text: "1")
        #expect(made.status == 201)
        #expect(try await Self.language(share.client, try #require(made["Location"])) == "de")
    }

    static let malformed = ["not a tag", "en;q=1", "toolonglanguage", String(repeating: "aa-bb,", count: 60)]

    @Test(arguments: malformed)
    func malformedFieldIsRefused(value: String) async throws {
        let share = try TestShare()
        let response = try await share.client.send("PUT", "/a", [("Content-Language", value)], text: "1")
        #expect(response.status == 400)
        #expect(try await share.client.send("HEAD", "/a").status == 404)
    }

    /// RFC 9110 §15.3.7, §15.4.5: the field is sent with the representation.
    @Test func responsesWithContentHaveTheLanguage() async throws {
        let share = try TestShare()
        let client = share.client
        let tag = try #require(try await client.send("PUT", "/a", Self.de, text: "12345")["ETag"])
        let rows: [(fields: [(String, String)], status: UInt16, has: Bool)] = [
            ([], 200, true), ([("Range", "bytes=1-2")], 206, true), ([("Range", "bytes=0-0,2-2")], 206, true),
            ([("Range", "bytes=1-2"), ("If-Range", tag)], 206, false),
            ([("Range", "bytes=1-2"), ("If-Range", "\"other\"")], 200, true),
            ([("Range", "bytes=9-")], 416, false), ([("If-None-Match", tag)], 304, false),
            ([("If-Match", "\"other\"")], 412, false),
        ]
        for row in rows {
            for method in ["GET", "HEAD"] where method == "GET" || row.status == 200 || row.status == 304 {
                let response = try await client.send(method, "/a", row.fields)
                #expect(response.status == row.status, "\(row.fields)")
                #expect(response["Content-Language"] == (row.has ? "de" : nil), "\(row.fields)")
            }
        }
        let preferred = try await client.send(
            "PUT", "/a", [("Content-Language", "fr"), ("Prefer", "return=representation")], text: "1")
        #expect(preferred.status == 200 && preferred["Content-Language"] == "fr")
    }

    /// A file without a language is sent without switching to another thread, even if other files in the
    /// share have a language.
    @Test func filesWithoutALanguageNeedNoOtherThread() async throws {
        let share = try TestShare()
        let client = share.client
        #expect(try await client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await client.send("PUT", "/b", Self.de, text: "1").status == 201)
        #expect(try await client.send("PUT", "/c", text: "1").status == 201)
        #expect(try await client.send("PROPPATCH", "/c", text: setProperty("p", "1")).status == 207)
        for target in ["/a", "/c"] {
            #expect(try await client.send("GET", target).status == 200)
            let before = share.hopCount
            #expect(try await client.send("GET", target).status == 200)
            #expect(share.hopCount == before, "\(target)")
        }
    }

    /// Counts the commits of one PUT: none without rows; one if the resource has no rows yet, or keeps its
    /// language; two if the language of a resource with rows changes.
    @Test func languageNeedsFewCommits() async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        func commits(_ fields: [(String, String)]) async throws -> Int {
            let before = store.commitsLeft.load(ordering: .relaxed)
            #expect(try await share.client.send("PUT", "/a", fields, text: "1").status / 100 == 2)
            return before - store.commitsLeft.load(ordering: .relaxed)
        }
        #expect(try await commits([]) == 0)
        #expect(try await commits(Self.de) == 1)
        // The language is unchanged; its row is bound to the new content.
        #expect(try await commits(Self.de) == 1)
        #expect(try await commits([]) == 2)
        #expect(try await commits([]) == 0)
    }

    // MARK: Crashes

    /// After a crash before or after the new content is published, the stored content has the language it was
    /// sent with, even if the resource has other rows.
    @Test(arguments: [true, false], ["fr", ""])
    func crashKeepsTheLanguageOfEachContent(isInPlace: Bool, new: String) async throws {
        let folder = try TemporaryFolder()
        let stateFolder = try TemporaryFolder()
        do {
            let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
            #expect(try await share.client.send("PUT", "/a", Self.de, text: "old").status == 201)
            #expect(try await share.client.send("PROPPATCH", "/a", text: setProperty("p", "1")).status == 207)
            let old = try #require(
                try share.resources.lookup(Self.path, last: .notFollowed, wait: .allowed).info)
            let staged = try share.resources.stageContent(for: Self.path, expectedLength: 0)
            let info = try staged.seal(replacing: old, modified: nil)
            try share.state.commit([
                .bind(Self.path, current: old.identity, pending: info.identity),
                .putIntent(
                    RenameIntent(
                        id: share.state.nextIntentID(), source: Self.path, destination: Self.path,
                        moved: info.identity, replaced: nil, isCopy: false, contentLanguage: new)),
            ])
            if isInPlace { try staged.publish(isReplacing: true) }
        }
        let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
        #expect(try share.state.intents().isEmpty)
        let language = try await Self.language(share.client, "/a")
        #expect(language == (isInPlace ? (new.isEmpty ? nil : new) : "de"))
        let kept = try await share.client.send("PROPFIND", "/a", [("Depth", "0")], text: askProperty("p"))
            .text
        #expect(kept.contains(">1<"))
    }

    /// A failed PUT changes neither the content nor the language, and can be repeated.
    @Test(arguments: [true, false])
    func failedPutKeepsContentAndLanguage(hasRows: Bool) async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        let client = share.client
        #expect(try await client.send("PUT", "/a", hasRows ? Self.de : [], text: "old").status == 201)
        let french = [("Content-Language", "fr")]
        store.commitsLeft.store(0, ordering: .relaxed)
        #expect(try await client.send("PUT", "/a", french, text: "new").status == 507)
        store.commitsLeft.store(.max, ordering: .relaxed)
        #expect(try await Self.language(client, "/a") == (hasRows ? "de" : nil))
        #expect(try await client.send("GET", "/a").text == "old")
        #expect(try await client.send("PUT", "/a", french, text: "new").status == 204)
        #expect(try await Self.language(client, "/a") == "fr")
        #expect(try share.state.intents().isEmpty)
    }

    /// The second commit fails for lack of space; the next commit includes its changes.
    @Test func languageIsStoredWithTheNextCommitAfterAFailure() async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        let client = share.client
        #expect(try await client.send("PUT", "/a", Self.de, text: "old").status == 201)
        store.commitsLeft.store(1, ordering: .relaxed)
        #expect(try await client.send("PUT", "/a", [("Content-Language", "fr")], text: "new").status == 204)
        store.commitsLeft.store(.max, ordering: .relaxed)
        #expect(try await client.send("PROPPATCH", "/a", text: setProperty("p", "1")).status == 207)
        #expect(try await Self.language(client, "/a") == "fr")
        #expect(try share.state.intents().isEmpty)
    }

    /// The index in memory after a restart matches the stored languages.
    @Test func languageSurvivesARestart() async throws {
        let folder = try TemporaryFolder()
        let stateFolder = try TemporaryFolder()
        do {
            let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
            #expect(try await share.client.send("PUT", "/a", Self.de, text: "1").status == 201)
            #expect(try await share.client.send("PUT", "/b", text: "1").status == 201)
        }
        let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
        #expect(try await Self.language(share.client, "/a") == "de")
        #expect(try await Self.language(share.client, "/b") == nil)
        #expect(share.state.hasContentLanguage(at: Self.path))
        #expect(try await share.client.send("PUT", "/a", text: "2").status == 204)
        #expect(!share.state.hasContentLanguage(at: Self.path))
    }
}
