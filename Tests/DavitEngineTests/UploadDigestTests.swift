import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

#if TLS
/// Verification of the digests sent with content: OC-Checksum, and RFC 9530.
struct UploadDigestTests {
    static let folders = ["/tmp", "/dev/shm"]

    /// Digests of `hello`.
    enum Short {
        static let md5 = "5d41402abc4b2a76b9719d911017c592"
        static let sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
        static let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
        static let sha512 =
            "m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="
    }
    /// Digests of the letter `a`, repeated 200,000 times.
    enum Long {
        static let sha1 = "ec99adda39f462070e2c7ecbc8433e70dc9fb54c"
        static let sha256 = "IofSB/JKlB/ztWwEyKJa1Wtj4wIyB7O7W0rAyYaddL4="
    }

    /// Fields sent with `hello`, the response, and the digest that is stored afterwards.
    static let sent: [(fields: [(String, String)], status: UInt16, condition: String, known: String?)] = [
        ([("OC-Checksum", "SHA1:\(Short.sha1)")], 201, "", "SHA1:\(Short.sha1)"),
        ([("Oc-Checksum", "sha1:\(Short.sha1.uppercased())")], 201, "", "SHA1:\(Short.sha1)"),
        ([("OC-Checksum", "MD5:\(Short.md5)")], 201, "", "MD5:\(Short.md5)"),
        ([("OC-Checksum", "Adler32:62c0215")], 201, "", "ADLER32:062c0215"),
        (
            [("OC-Checksum", "SHA1:\(Short.sha1) MD5:\(Short.md5)")], 201, "",
            "SHA1:\(Short.sha1) MD5:\(Short.md5)"
        ),
        ([("Content-Digest", "md5=:XUFAKrxLKna5cZ2REBfFkg==:")], 201, "", "MD5:\(Short.md5)"),
        ([("Content-Digest", "sha=:qvTGHdzF6KLavt4PO0gs2a6pQ00=:")], 201, "", "SHA1:\(Short.sha1)"),
        ([("Content-Digest", "adler=:BiwCFQ==:")], 201, "", "ADLER32:062c0215"),
        (
            [("Content-Digest", "sha-512=:\(Short.sha512):")], 201, "",
            "SHA512:9b71d224bd62f3785d96d46ad3ea3d73"
        ),
        (
            [("Repr-Digest", "sha-256=:\(Short.sha256):"), ("OC-Checksum", "MD5:\(Short.md5)")], 201, "",
            "SHA256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 MD5:\(Short.md5)"
        ),
        // RFC 9530 §2: unknown algorithms are ignored.
        ([("OC-Checksum", "SHA3-256:00")], 201, "", nil),
        ([("Content-Digest", "crc32c=:AAAAAA==:")], 201, "", nil),
        ([("Content-Digest", "")], 201, "", nil),
        // Wrong digests.
        ([("OC-Checksum", "SHA1:\(Long.sha1)")], 400, "digest-mismatch", nil),
        ([("OC-Checksum", "MD5:00000000000000000000000000000000")], 400, "digest-mismatch", nil),
        ([("OC-Checksum", "ADLER32:1")], 400, "digest-mismatch", nil),
        ([("Content-Digest", "sha-256=:\(Long.sha256):")], 400, "digest-mismatch", nil),
        ([("Repr-Digest", "sha-256=:\(Long.sha256):")], 400, "digest-mismatch", nil),
        ([("Content-Digest", "sha-256=::")], 400, "digest-mismatch", nil),
        // One of several digests is wrong.
        (
            [("Repr-Digest", "sha-256=:\(Short.sha256):"), ("OC-Checksum", "SHA1:\(Long.sha1)")], 400,
            "digest-mismatch", nil
        ),
        (
            [("Repr-Digest", "sha-256=:\(Short.sha256):"), ("Content-Digest", "sha-256=:\(Long.sha256):")],
            400,
            "digest-mismatch", nil
        ),
        // Malformed digests.
        ([("OC-Checksum", "\(Short.sha1)")], 400, "digest-malformed", nil),
        ([("OC-Checksum", "SHA1:zz")], 400, "digest-malformed", nil),
        ([("Content-Digest", "sha-256=abc")], 400, "digest-malformed", nil),
        ([("Repr-Digest", "sha-256")], 400, "digest-malformed", nil),
    ]

    private static let ask = """
        <D:propfind xmlns:D="DAV:" xmlns:o="http://owncloud.org/ns"><D:prop><o:checksums/></D:prop></D:propfind>
        """

    private func checksums(_ share: TestShare, _ target: String) async throws -> String? {
        let text = try await share.client.send("PROPFIND", target, [("Depth", "0")], text: Self.ask).text
        return text.firstMatch(of: /checksum>([^<]+)<\/N:checksum>/).map { String($0.1) }
    }

    @Test(arguments: sent, folders)
    func digestsAreVerified(
        row: (fields: [(String, String)], status: UInt16, condition: String, known: String?), folder: String
    ) async throws {
        for isChunked in [false, true] {
            let share = try TestShare(TemporaryFolder(in: folder))
            let body = SentBody(Array("hello".utf8), isChunked: isChunked, pieceLength: 2)
            let response = try await share.client.send("PUT", "/a", row.fields, body: body)
            #expect(response.status == row.status)
            #expect(response.text.contains(row.condition))
            #expect(try await share.client.send("GET", "/a").status == (row.status == 201 ? 200 : 404))
            let known = try await checksums(share, "/a")
            #expect(row.known.map { known?.hasPrefix($0) == true } ?? (known == nil), "\(known ?? "none")")
        }
    }

    /// Content, entity tag, properties and locks are unchanged, whichever byte was corrupted.
    @Test(arguments: [0, 1, 65_535, 65_536, 131_072, 199_999], folders)
    func corruptedByteIsDetectedAndNothingChanges(position: Int, folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        let field = ("Content-Digest", "sha-256=:\(Long.sha256):")
        let right = try await share.client.send("PUT", "/a", [field], body: SentBody(bytes(200_000)))
        #expect(right.status == 201)
        try await share.play(
            Scenario("before", [step("PROPPATCH /a", [], setProperty("p", "kept"), 207), lock("/a")]))
        let tokens = share.state.locks(covering: try path("a"), now: Timestamp(seconds: 0)).map(\.token.uri)
        let before = try await share.client.send("PROPFIND", "/a", [("Depth", "0")]).text
        var flipped = bytes(200_000)
        flipped[position] ^= 1
        for isChunked in [false, true] {
            let wrong = try await share.client.send(
                "PUT", "/a", [field, ("If", "(<\(tokens[0])>)")],
                body: SentBody(flipped, isChunked: isChunked))
            #expect(wrong.status == 400 && wrong.text.contains("digest-mismatch"))
        }
        let after = try await share.client.send("GET", "/a")
        #expect(after.body == bytes(200_000) && after["ETag"] == right["ETag"])
        #expect(try await share.client.send("PROPFIND", "/a", [("Depth", "0")]).text == before)
        #expect(before.contains(">kept</") && tokens.count == 1)
        #expect(try await checksums(share, "/a")?.hasPrefix("SHA256:2287d207") == true)
        #expect(share.shell("test \"$(ls -A)\" = a") == 0)
    }

    /// RFC 9530 §2, §3: `Content-Digest` applies to the part of a partial update, after which no digest of
    /// the previous content remains. For an added member, it applies to the complete content.
    @Test func digestsOfPartsAndAddedMembersAreVerified() async throws {
        let right = ("Content-Digest", "sha-256=:\(Short.sha256):")
        let wrong = ("Content-Digest", "sha-256=:\(Long.sha256):")
        let whole = ("Repr-Digest", "sha-256=:\(Long.sha256):")
        let append = ShareHooksTests.append
        let ask = { (path: String, isKnown: Bool) in
            step(
                "PROPFIND \(path)", [("Depth", "0")], Self.ask, 207,
                holds: isKnown ? ["SHA256:"] : ["HTTP/1.1 404"],
                lacks: isKnown ? [] : ["SHA256:"])
        }
        try await TestShare.play(
            Scenario(
                "digests",
                [
                    step("PUT /a", [right], "hello", 201), ask("/a", true),
                    step("PATCH /a", append + [wrong], "hello", 400, holds: ["digest-mismatch"]),
                    step("PUT /a", [("Content-Range", "bytes 5-9/10"), wrong], "hello", 400),
                    ask("/a", true),
                    step("PATCH /a", append + [right, whole], "hello", 204), ask("/a", false),
                    step("PUT /a", [("Content-Range", "bytes 0-4/10"), right], "hello", 204),
                    ask("/a", false), step("GET /a", [], nil, 200, holds: ["hellohello"]),
                    step("POST /?add-member", [("Slug", "a"), wrong], "hello", 400),
                    step("POST /?add-member", [("Slug", "a"), right], "hello", 201), ask("/a%20(1)", true),
                    // The new time changes the entity tag, and the bytes have not been read since then.
                    step(
                        "PROPPATCH /a%20(1)", [], PropertyTimeTests.set("<D:lastmodified>5</D:lastmodified>"),
                        207
                    ),
                    ask("/a%20(1)", false), shell("[ $(ls -A | wc -l) = 2 ]"),
                ]))
    }

    private func path(_ name: String) throws -> ResourcePath {
        try #require(ResourcePath.root.appending(Array(name.utf8)))
    }

    /// Both if the volume keeps the digest with the file, and if it is in a row.
    @Test(arguments: folders, [false, true])
    func digestIsDroppedWhenTheContentChanges(folder: String, isInRow: Bool) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        share.resources.keepsNoDigests.store(isInRow, ordering: .relaxed)
        let field = ("OC-Checksum", "SHA1:\(Short.sha1)")
        let known = "SHA1:\(Short.sha1)"
        func put(_ fields: [(String, String)] = [field]) async throws {
            #expect(try await share.client.send("PUT", "/a", fields, text: "hello").status < 300)
        }
        try await put()
        #expect(try await checksums(share, "/a") == known)
        #expect(share.state.hasProperties(below: .root) == isInRow)
        // Without a digest in the request, the digest of the new bytes is unknown.
        try await put([])
        #expect(try await checksums(share, "/a") == nil)
        try await put()
        // Another program changes the content, also without changing its length.
        #expect(share.shell("printf j | dd of=a conv=notrunc") == 0)
        #expect(try await checksums(share, "/a") == nil)
        try await put()
        #expect(share.shell("mv a b; cp b a; rm b") == 0)
        #expect(try await checksums(share, "/a") == nil)
        try await put()
        // Digests move with the resource, but a copy, which has another entity tag, has none.
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/b")]).status == 201)
        #expect(try await checksums(share, "/b") == known)
        #expect(try await share.client.send("COPY", "/b", [("Destination", "/a")]).status == 201)
        #expect(try await checksums(share, "/a") == nil)
        #expect(try await checksums(share, "/b") == known)
        #expect(try await share.client.send("DELETE", "/b").status == 204)
        try await share.play(Scenario("a new one", [step("PUT /b", [], "hello", 201)]))
        #expect(try await checksums(share, "/b") == nil)
    }

    /// A row that was written when the volume could not keep digests does not outlive a digest in the file, nor the other way
    /// round.
    @Test(arguments: folders)
    func digestsOfOneVersionReplaceThoseOfAnother(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        for (isInRow, text) in [(true, "hello"), (false, "Hello"), (true, "hello"), (false, "hello")] {
            share.resources.keepsNoDigests.store(isInRow, ordering: .relaxed)
            let digest = text == "hello" ? "SHA1:\(Short.sha1)" : "ADLER32:058c01f5"
            #expect(
                try await share.client.send("PUT", "/a", [("OC-Checksum", digest)], text: text).status < 300)
            #expect(try await checksums(share, "/a") == digest)
        }
    }

    /// Members of one listing are in different folders, some are links, and their digests are in both places.
    @Test(arguments: folders)
    func listingAndSearchReturnDigests(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        #expect(share.shell("mkdir -p d/e; ln -s ../d/e/b d/link") == 0)
        let field = ("OC-Checksum", "SHA1:\(Short.sha1)")
        for (name, isInRow) in [("/a", false), ("/d/e/b", false), ("/d/c", true), ("/d/e/f", true)] {
            share.resources.keepsNoDigests.store(isInRow, ordering: .relaxed)
            #expect(try await share.client.send("PUT", name, [field], text: "hello").status == 201)
        }
        #expect(try await share.client.send("PUT", "/d/none", text: "hello").status == 201)
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "infinity")], text: Self.ask)
        #expect(listing.text.matches(of: /SHA1:aaf4c61d/).count == 5)
        let query = """
            <D:searchrequest xmlns:D="DAV:" xmlns:o="http://owncloud.org/ns"><D:basicsearch><D:select><D:prop><o:checksums/>\
            </D:prop></D:select><D:from><D:scope><D:href>/</D:href><D:depth>infinity</D:depth></D:scope></D:from>\
            <D:where><D:is-defined><D:prop><o:checksums/></D:prop></D:is-defined></D:where></D:basicsearch></D:searchrequest>
            """
        let found = try await share.client.send("SEARCH", "/", text: query)
        #expect(found.status == 207)
        #expect(found.text.matches(of: /<D:response>/).count == 5)
        #expect(found.text.matches(of: /SHA1:aaf4c61d/).count == 5)
    }

    /// Storing digests does not affect the other properties and the locks of the resource.
    @Test func storingADigestKeepsPropertiesAndLocks() async throws {
        let sha1 = ("OC-Checksum", "SHA1:\(Short.sha1)")
        try await TestShare.play(
            Scenario(
                "digests and other rows",
                [
                    step("PUT /a", [], "old", 201), step("PROPPATCH /a", [], setProperty("p", "kept"), 207),
                    lock("/a"),
                    step("PUT /a", [sha1, ("If", "(<$1>)"), ("X-OC-CTime", "1000000000")], "hello", 204),
                    step("PUT /a", [sha1], "hello", 423),
                    step(
                        "PROPFIND /a", [("Depth", "0")], nil, 207,
                        holds: [">kept</", "$1", ">2001-09-09T01:46:40Z<"]),
                    step("PUT /a", [("OC-Checksum", "MD5:\(Short.sha1)"), ("If", "(<$1>)")], "x", 400),
                    step("PROPFIND /a", [("Depth", "0")], Self.ask, 207, holds: [Short.sha1]),
                    step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204), step("PUT /a", [], "new", 204),
                    step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">kept</"]),
                ]))
    }

    /// The property is returned if requested by name, but it is protected.
    @Test func digestsAreAProtectedProperty() async throws {
        let name = "<o:checksums xmlns:o=\"http://owncloud.org/ns\">"
        try await TestShare.play(
            Scenario(
                "checksums",
                [
                    step("PUT /a", [("OC-Checksum", "SHA1:\(Short.sha1)")], "hello", 201),
                    step("PUT /b", [], "hello", 201),
                    step(
                        "PROPPATCH /a", [],
                        "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop>\(name)x</o:checksums></D:prop></D:set></D:propertyupdate>",
                        207, holds: ["403 Forbidden", "cannot-modify-protected-property"], lacks: ["200 OK"]),
                    step("PROPFIND /a", [("Depth", "0")], nil, 207, lacks: ["checksum", Short.sha1]),
                    step(
                        "PROPFIND /a", [("Depth", "0")],
                        "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>", 207, holds: ["checksums"],
                        lacks: [Short.sha1]),
                    step(
                        "PROPFIND /b", [("Depth", "0")],
                        "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>", 207, lacks: ["checksums"]),
                    step(
                        "PROPFIND /", [("Depth", "1")], Self.ask, 207,
                        holds: [
                            "<N:checksums xmlns:N=\"http://owncloud.org/ns\"><N:checksum>SHA1:\(Short.sha1)</N:checksum></N:checksums>",
                            "404 Not Found",
                        ]),
                ]))
    }

    /// The state database has no space for the digest.
    @Test func contentIsStoredEvenIfItsDigestCannotBe() async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        share.resources.keepsNoDigests.store(true, ordering: .relaxed)
        store.commitsLeft.store(0, ordering: .sequentiallyConsistent)
        let field = ("OC-Checksum", "SHA1:\(Short.sha1)")
        #expect(try await share.client.send("PUT", "/a", [field], text: "hello").status == 201)
        #expect(try await checksums(share, "/a") == nil)
        #expect(try await share.client.send("PUT", "/a", [field], text: "Hello").status == 400)
        #expect(try await share.client.send("GET", "/a").text == "hello")
    }

    // MARK: Requested digests

    static let wantedDigests: [(fields: [(String, String)], repr: String?, content: String?)] = [
        ([("Want-Repr-Digest", "sha-256=1")], "sha-256=:\(Short.sha256):", nil),
        ([("Want-Content-Digest", "sha-256=1")], nil, "sha-256=:\(Short.sha256):"),
        (
            [("Want-Content-Digest", "sha-512=1"), ("Want-Repr-Digest", "sha-256=1")],
            "sha-256=:\(Short.sha256):",
            "sha-512=:\(Short.sha512):"
        ),
        ([("Want-Repr-Digest", "sha-256=2, sha-512=5")], "sha-512=:\(Short.sha512):", nil),
        ([("Want-Repr-Digest", "crc32c=10, sha=1")], "sha=:qvTGHdzF6KLavt4PO0gs2a6pQ00=:", nil),
        ([("Want-Repr-Digest", "md5=1")], "md5=:XUFAKrxLKna5cZ2REBfFkg==:", nil),
        ([("Want-Repr-Digest", "adler=1")], "adler=:BiwCFQ==:", nil),
        // §4: not wanted, unknown, malformed, not requested.
        ([("Want-Repr-Digest", "sha-256=0")], nil, nil), ([("Want-Repr-Digest", "crc32c=1")], nil, nil),
        ([("Want-Repr-Digest", "sha-256=")], nil, nil), ([], nil, nil),
        // §2: the digest of the representation is sent with each part; digests of parts are not computed.
        (
            [
                ("Want-Repr-Digest", "sha-256=1"), ("Want-Content-Digest", "sha-256=1"),
                ("Range", "bytes=1-2"),
            ],
            "sha-256=:\(Short.sha256):", nil
        ),
        ([("Want-Repr-Digest", "sha-256=1"), ("If-None-Match", "*")], nil, nil),
        ([("Want-Repr-Digest", "sha-256=1"), ("Range", "bytes=9-")], nil, nil),
    ]

    @Test(arguments: wantedDigests, folders)
    func requestedDigestsAreReturned(
        row: (fields: [(String, String)], repr: String?, content: String?), folder: String
    )
        async throws
    {
        let share = try TestShare(TemporaryFolder(in: folder))
        #expect(share.shell("printf hello >a") == 0)
        // RFC 9110 §14.2: ranges apply only to GET.
        let hasRange = row.fields.contains { $0.0 == "Range" }
        for method in hasRange ? ["GET"] : ["GET", "HEAD"] {
            let response = try await share.client.send(method, "/a", row.fields)
            #expect(response["Repr-Digest"] == row.repr)
            #expect(response["Content-Digest"] == row.content)
        }
    }

    /// Stored digests are returned for content of any length; others are computed only for content up to a
    /// limit.
    @Test(arguments: folders)
    func longContentHasOnlyStoredDigests(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder)) { $0.digestLimitBytes = 199_999 }
        _ = try await share.client.send(
            "PUT", "/a", [("Content-Digest", "sha-256=:\(Long.sha256):")], body: SentBody(bytes(200_000)))
        _ = try await share.client.send("PUT", "/b", body: SentBody(bytes(200_000)))
        _ = try await share.client.send("PUT", "/c", body: SentBody(bytes(199_999)))
        func digest(_ target: String, _ wish: String) async throws -> String? {
            try await share.client.send("GET", target, [("Want-Repr-Digest", wish)])["Repr-Digest"]
        }
        #expect(try await digest("/a", "sha-256=1") == "sha-256=:\(Long.sha256):")
        // A stored digest is returned even if the client prefers another.
        #expect(try await digest("/a", "sha-256=1, sha-512=9") == "sha-256=:\(Long.sha256):")
        #expect(try await digest("/a", "sha-512=9") == nil)
        #expect(try await digest("/b", "sha-256=1") == nil)
        #expect(try await digest("/c", "sha-256=1") != nil)
    }

    @Test func collectionHasNoDigest() async throws {
        let share = try TestShare()
        let response = try await share.client.send("GET", "/", [("Want-Repr-Digest", "sha-256=1")])
        #expect(response.status == 200 && response["Repr-Digest"] == nil)
    }
}
#endif
