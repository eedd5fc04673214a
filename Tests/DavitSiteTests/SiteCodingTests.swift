import DavitHTTP
import DavitSite
import DavitTesting
import DavitZlib
import Testing

/// Content with the coding gzip: from a precompressed file, or compressed while it is sent.
struct SiteCodingTests {
    static let text = Array((0..<2000).map { "line \($0 * 7919 % 2003)\n" }.joined().utf8)

    static func folder() throws -> WebFolder {
        let folder = try WebFolder()
        for name in ["page.html", "old.css", "photo.jpg", "big.js", "sub/index.html"] {
            folder.write(name, text)
        }
        folder.write("small.txt", Array("small".utf8))
        // The precompressed file differs from what the server would produce.
        let stored = try Gzip.encode(text, level: 9)
        for name in ["page.html.gz", "photo.jpg.gz", "sub/index.html.gz"] { folder.write(name, stored) }
        folder.write("old.css.gz", stored, modified: WebFolder.modified - 1)
        folder.write("alone.html.gz", stored)
        return folder
    }

    enum Form: Sendable { case plain, stored, made }

    static let choices: [(target: String, accept: String?, form: Form)] = [
        ("/page.html", nil, .plain), ("/page.html", "", .plain), ("/page.html", "gzip", .stored),
        ("/page.html", "x-gzip", .stored), ("/page.html", "br, gzip;q=0.1", .stored),
        ("/page.html", "gzip, deflate, br", .stored), ("/page.html", "identity", .plain),
        // RFC 9110 §12.4.2, §12.5.3
        ("/page.html", "gzip;q=0", .plain), ("/page.html", "gzip;q=0.5, identity", .plain),
        ("/page.html", "gzip;q=0.5, identity;q=0.5", .stored),
        ("/page.html", "identity;q=0, gzip;q=0.001", .stored),
        ("/page.html", "*", .plain), ("/page.html", "identity;q=0, *", .stored),
        ("/page.html", "*;q=0", .plain),
        ("/sub/", "gzip", .stored), ("/sub/", nil, .plain),
        // The precompressed file is older than the plain one.
        ("/old.css", "gzip", .made), ("/big.js", "gzip", .made), ("/big.js", "gzip;q=0", .plain),
        ("/big.js", nil, .plain),
        // These files are already compressed, or too short.
        ("/photo.jpg", "gzip", .plain), ("/small.txt", "gzip", .plain),
    ]

    @Test(arguments: choices)
    func codingFollowsAcceptEncoding(target: String, accept: String?, form: Form) async throws {
        let client = try Self.folder().client()
        let fields = accept.map { [("Accept-Encoding", $0)] } ?? []
        let response = try await client.send("GET", target, fields)
        let plain = try await client.send("GET", target)
        #expect(response.status == 200)
        #expect(response["Content-Encoding"] == (form == .plain ? nil : "gzip"))
        #expect(response["Content-Type"] == plain["Content-Type"])
        #expect(response["Vary"] == (target == "/photo.jpg" ? nil : "Accept-Encoding"))
        #expect(response["Last-Modified"] == plain["Last-Modified"])
        let tag = try #require(plain["ETag"])
        switch form {
        case .plain:
            #expect(response.body == plain.body)
            #expect(response["ETag"] == tag)
        case .stored:
            #expect(response.body == (try Gzip.encode(Self.text, level: 9)))
            #expect(response["ETag"]?.hasPrefix(tag.dropLast() + "-gzip-") == true)
        case .made:
            #expect(try Gzip.decode(response.body) == Self.text)
            #expect(response["ETag"] == "W/" + tag)
        }
        // RFC 9110 §9.3.2: HEAD has the same fields as GET.
        let head = try await client.send("HEAD", target, fields)
        #expect(head.fields.encoded == response.fields.encoded)
    }

    /// The entity tag of either representation matches; `$p` is the tag of the plain file, `$g` that of the
    /// precompressed one.
    static let conditions: [(fields: [(String, String)], status: UInt16)] = [
        ([("If-None-Match", "$p")], 304), ([("If-None-Match", "$g")], 304),
        ([("If-None-Match", "W/$p")], 304),
        ([("If-None-Match", "W/$g")], 304), ([("If-None-Match", "\"x\", $g")], 304),
        ([("If-None-Match", "*")], 304),
        ([("If-None-Match", "\"x\"")], 200), ([("If-None-Match", "\"x-gzip-y\"")], 200),
        ([("If-Match", "$p")], 200), ([("If-Match", "$g")], 200), ([("If-Match", "\"x\", $g")], 200),
        ([("If-Match", "*")], 200), ([("If-Match", "\"x\"")], 412), ([("If-Match", "W/$g")], 412),
        ([("If-Match", "\"x-gzip-y\"")], 412),
    ]

    @Test(arguments: conditions, [nil, "gzip"])
    func tagsOfBothRepresentationsMatch(
        _ row: (fields: [(String, String)], status: UInt16), accept: String?
    ) async throws {
        let client = try Self.folder().client()
        let tags = try await Self.tags(client)
        let fields = Self.filled(row.fields, tags) + (accept.map { [("Accept-Encoding", $0)] } ?? [])
        let response = try await client.send("GET", "/page.html", fields)
        #expect(response.status == row.status)
        if row.status == 412 { return }
        // RFC 9110 §15.4.5: a 304 response has the caching fields of a 200 response.
        #expect(response["ETag"] == (accept == nil ? tags.plain : tags.stored))
        #expect(response["Vary"] == "Accept-Encoding")
        #expect(response["Cache-Control"] == "no-cache")
    }

    static let date = "Sun, 13 Sep 2020 12:26:40 GMT"

    static let ranges: [(fields: [(String, String)], accept: String?, status: UInt16, form: Form)] = [
        // A range refers to the plain file, unless the entity tag identifies the compressed bytes.
        ([], nil, 206, .plain), ([], "gzip", 206, .plain), ([("If-Range", "$p")], "gzip", 206, .plain),
        ([("If-Range", "$p")], nil, 206, .plain), ([("If-Range", "$g")], "gzip", 206, .stored),
        ([("If-Match", "$g")], "gzip", 206, .stored), ([("If-Match", "$p")], "gzip", 206, .plain),
        // Bytes of different representations are never combined.
        ([("If-Range", "$g")], nil, 200, .plain), ([("If-Range", "$p-")], "gzip", 200, .stored),
        // Both representations have the same date.
        ([("If-Range", date)], "gzip", 200, .stored), ([("If-Range", date)], nil, 206, .plain),
        ([("If-Range", date)], "gzip;q=0", 206, .plain),
        ([("If-Range", "\"x-gzip-y\"")], "gzip", 200, .stored), ([("If-Match", "$g")], nil, 412, .plain),
        ([("If-Match", "\"x-gzip-y\"")], "gzip", 412, .plain),
    ]

    /// RFC 9110 §13.1.5, §14.2
    @Test(arguments: ranges)
    func rangesStayWithinOneRepresentation(
        fields: [(String, String)], accept: String?, status: UInt16, form: Form
    ) async throws {
        let client = try Self.folder().client()
        let tags = try await Self.tags(client)
        let all =
            Self.filled(fields, tags) + [("Range", "bytes=2-11")]
            + (accept.map { [("Accept-Encoding", $0)] } ?? [])
        let response = try await client.send("GET", "/page.html", all)
        #expect(response.status == status)
        if status == 412 { return }
        let bytes = form == .plain ? Self.text : try Gzip.encode(Self.text, level: 9)
        #expect(response.body == (status == 206 ? Array(bytes[2..<12]) : bytes))
        #expect(response["ETag"] == (form == .plain ? tags.plain : tags.stored))
        #expect(response["Content-Encoding"] == (form == .plain ? nil : "gzip"))
        #expect(response["Content-Range"] == (status == 206 ? "bytes 2-11/\(bytes.count)" : nil))
    }

    /// Content that is compressed while it is sent has no ranges, but the same date as the plain file.
    @Test func dateDoesNotIdentifyACompressedRepresentation() async throws {
        let client = try Self.folder().client()
        let fields = [("Range", "bytes=2-11"), ("If-Range", Self.date)]
        let response = try await client.send("GET", "/big.js", fields + [("Accept-Encoding", "gzip")])
        #expect(response.status == 200)
        #expect(response["Content-Encoding"] == "gzip")
        #expect(try await client.send("GET", "/big.js", fields).status == 206)
        #expect(
            try await client.send("GET", "/photo.jpg", fields + [("Accept-Encoding", "gzip")]).status == 206)
    }

    @Test func severalRangesOfCompressedBytesReturnTheWhole() async throws {
        let client = try Self.folder().client()
        let tags = try await Self.tags(client)
        let fields = [("Accept-Encoding", "gzip"), ("If-Range", tags.stored)]
        let response = try await client.send("GET", "/page.html", fields + [("Range", "bytes=0-0,-1")])
        #expect(response.status == 200)
        #expect(response["Content-Encoding"] == "gzip")
        let beyond = try await client.send("GET", "/page.html", fields + [("Range", "bytes=9999-")])
        #expect(beyond.status == 416)
        #expect(beyond["Content-Encoding"] == nil)
    }

    @Test func recompressedFileHasANewTag() async throws {
        let folder = try Self.folder()
        let client = try folder.client()
        let before = try await Self.tags(client)
        folder.write("page.html.gz", try Gzip.encode(Self.text, level: 1), modified: WebFolder.modified + 5)
        let after = try await Self.tags(client)
        #expect(before.plain == after.plain)
        #expect(before.stored != after.stored)
        // The content is unchanged, so a cached copy is still valid.
        let fields = [("Accept-Encoding", "gzip"), ("If-None-Match", before.stored)]
        #expect(try await client.send("GET", "/page.html", fields).status == 304)
        // The precompressed bytes have changed.
        let range = [("Accept-Encoding", "gzip"), ("If-Range", before.stored), ("Range", "bytes=5-")]
        #expect(try await client.send("GET", "/page.html", range).status == 200)
    }

    @Test func weakTagsOfCompressedContentMatch() async throws {
        let client = try Self.folder().client()
        let accept = ("Accept-Encoding", "gzip")
        let tag = try #require(try await client.send("GET", "/big.js", [accept])["ETag"])
        let response = try await client.send("GET", "/big.js", [accept, ("If-None-Match", tag)])
        #expect(response.status == 304)
        #expect(response["ETag"] == tag)
        #expect(response["Vary"] == "Accept-Encoding")
    }

    @Test func storedAndGeneratedCompressionCanBeDisabled() async throws {
        let folder = try Self.folder()
        let accept = [("Accept-Encoding", "gzip")]
        let stored = try folder.client { $0.compresses = false }
        #expect(try await stored.send("GET", "/page.html", accept)["Content-Encoding"] == "gzip")
        #expect(try await stored.send("GET", "/big.js", accept)["Content-Encoding"] == nil)
        let made = try folder.client { $0.usesPrecompressed = false }
        let response = try await made.send("GET", "/page.html", accept)
        #expect(response["ETag"]?.hasPrefix("W/") == true)
        let neither = try folder.client {
            $0.compresses = false
            $0.usesPrecompressed = false
        }
        let plain = try await neither.send("GET", "/page.html", accept)
        #expect(plain["Content-Encoding"] == nil)
        #expect(plain["Vary"] == nil)
    }

    @Test func compressedFilesCanBeRequested() async throws {
        let client = try Self.folder().client()
        let response = try await client.send("GET", "/page.html.gz", [("Accept-Encoding", "gzip")])
        #expect(response["Content-Type"] == "application/gzip")
        #expect(response["Content-Encoding"] == nil)
        #expect(try await client.send("GET", "/alone.html", [("Accept-Encoding", "gzip")]).status == 404)
    }

    /// The file is longer than the read buffer.
    @Test func longFilesAreCompressedInPieces() async throws {
        let folder = try WebFolder()
        let long = Array((0..<60_000).map { "line \($0)\n" }.joined().utf8)
        folder.write("long.txt", long)
        let response = try await folder.client().send("GET", "/long.txt", [("Accept-Encoding", "gzip")])
        #expect(response["Content-Encoding"] == "gzip")
        #expect(try Gzip.decode(response.body) == long)
    }

    private static func tags(
        _ client: TestClient<SiteHandler>
    ) async throws -> (plain: String, stored: String) {
        let plain = try await client.send("GET", "/page.html")
        let stored = try await client.send("GET", "/page.html", [("Accept-Encoding", "gzip")])
        return (try #require(plain["ETag"]), try #require(stored["ETag"]))
    }

    private static func filled(
        _ fields: [(String, String)], _ tags: (plain: String, stored: String)
    ) -> [(String, String)] {
        fields.map { name, value in
            (name, value.replacing("$p", with: tags.plain).replacing("$g", with: tags.stored))
        }
    }
}
