import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// tus 1.0 (https://tus.io/protocols/resumable-upload).
struct TusUploadTests {
    static func metadata(_ pairs: [(String, String)]) -> (String, String) {
        ("Upload-Metadata", pairs.map { "\($0.0) \(base64($0.1))" }.joined(separator: ","))
    }

    static func base64(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var (result, bits, count) = ("", 0, 0)
        for byte in text.utf8 {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 6 {
                count -= 6
                result.append(alphabet[bits >> count & 63])
            }
        }
        if count > 0 { result.append(alphabet[bits << (6 - count) & 63]) }
        while result.count % 4 != 0 { result.append("=") }
        return result
    }

    static func create(
        _ share: TestShare, _ fields: [(String, String)], name: String = "a.txt", body: String = "",
        principal: String? = nil
    ) async throws -> TestResponse {
        try await share.client.send(
            "POST", "/", [TestShare.tus, metadata([("filename", name)])] + fields, body: Array(body.utf8),
            principal: principal)
    }

    static func patch(
        _ share: TestShare, _ upload: String, _ offset: Int, _ text: String, _ fields: [(String, String)] = []
    ) async throws -> TestResponse {
        try await share.client.send(
            "PATCH", upload, [TestShare.tus, TestShare.offsetType, ("Upload-Offset", "\(offset)")] + fields,
            text: text)
    }

    @Test(arguments: ["/tmp", "/dev/shm"])
    func coreProtocolAndCreationAreSupported(parent: String) async throws {
        let share = try TestShare(TemporaryFolder(in: parent))
        let created = try await Self.create(share, [("Upload-Length", "11")])
        #expect(created.status == 201)
        #expect(created["Tus-Resumable"] == "1.0.0")
        #expect(created["Content-Location"] == "/a.txt")
        #expect(created["Upload-Expires"] != nil)
        let upload = try #require(created["Location"])
        let first = try await Self.patch(share, upload, 0, "hello ")
        #expect(first.status == 204)
        #expect(first["Upload-Offset"] == "6")
        let head = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(head.status == 200)
        #expect(head["Upload-Offset"] == "6")
        #expect(head["Upload-Length"] == "11")
        #expect(head["Upload-Metadata"] == "filename \(Self.base64("a.txt"))")
        #expect(head["Cache-Control"] == "no-store")
        #expect(head["Tus-Resumable"] == "1.0.0")
        let wrong = try await Self.patch(share, upload, 5, "world")
        #expect(wrong.status == 409)
        #expect(wrong["Tus-Resumable"] == "1.0.0")
        let last = try await Self.patch(share, upload, 6, "world")
        #expect(last.status == 204)
        #expect(last["Upload-Offset"] == "11")
        let made = try await share.client.send("GET", "/a.txt")
        #expect(made.text == "hello world")
        #expect(last["ETag"] == made["ETag"])
        #expect(share.names() == ["a.txt"])
        // The response to the last request was lost.
        #expect(try await Self.patch(share, upload, 11, "").status == 204)
        #expect(try await Self.patch(share, upload, 11, "x").status == 413)
        let done = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(done["Upload-Offset"] == "11")
    }

    static let refusedCreations: [(fields: [(String, String)], body: String, status: UInt16)] = [
        ([], "", 400), ([("Upload-Length", "x")], "", 400), ([("Upload-Length", "-1")], "", 400),
        ([("Upload-Length", "5"), ("Upload-Defer-Length", "1")], "", 400),
        ([("Upload-Defer-Length", "2")], "", 400), ([("Upload-Length", "5")], "hello", 415),
        ([("Upload-Length", "4"), TestShare.offsetType], "hello", 413),
        ([("Upload-Length", "5"), ("Upload-Checksum", "sha99 aaaa"), TestShare.offsetType], "hello", 400),
        ([("Upload-Length", "2000")], "", 413),
        ([("Upload-Length", "5"), ("Upload-Concat", "final")], "", 400),
        ([("Upload-Concat", "final;/a.txt")], "", 404),
    ]

    @Test(arguments: refusedCreations)
    func invalidCreationsAreRefused(
        _ row: (fields: [(String, String)], body: String, status: UInt16)
    ) async throws {
        let share = try TestShare { $0.maximumFileBytes = 1000 }
        let response = try await Self.create(share, row.fields, body: row.body)
        #expect(response.status == row.status)
        #expect(response["Tus-Resumable"] == "1.0.0")
        #expect(share.names() == [])
    }

    static let names: [(name: String, status: UInt16)] = [
        ("a/b", 400), ("..", 400), (".", 400), ("", 400), (".davit-aaaaaaaaaaaaaaaa", 403), ("ä b.txt", 201),
        ("a\u{0}b", 400),
    ]

    @Test(arguments: names)
    func namesFollowTheRulesOfPut(_ row: (name: String, status: UInt16)) async throws {
        let share = try TestShare()
        #expect(try await Self.create(share, [("Upload-Length", "1")], name: row.name).status == row.status)
    }

    @Test func unsupportedVersionIsRefused() async throws {
        let share = try TestShare()
        for (method, target) in [("POST", "/"), ("HEAD", "/.davit-resumableuploads/x")] {
            let response = try await share.client.send(method, target, [("Tus-Resumable", "0.2.2")])
            #expect(response.status == 412)
            #expect(response["Tus-Version"] == "1.0.0")
        }
        let missing = try await share.client.send("POST", "/none", [TestShare.tus, ("Upload-Length", "1")])
        #expect(missing.status == 409)
    }

    @Test func optionsListTheExtensions() async throws {
        let share = try TestShare { $0.maximumFileBytes = 1 << 30 }
        for target in ["/", "/.davit-resumableuploads/x"] {
            let options = try await share.client.send("OPTIONS", target)
            #expect(options["Tus-Version"] == "1.0.0")
            #expect(options["Tus-Resumable"] == "1.0.0")
            #expect(options["Tus-Max-Size"] == "1073741824")
            #expect(options["Tus-Extension"]?.contains("creation-defer-length") == true)
            #expect(options["Tus-Checksum-Algorithm"]?.contains("adler32") == true)
        }
    }

    /// The extension creation-with-upload, and an empty upload.
    @Test func creationCanIncludeContent() async throws {
        let share = try TestShare()
        let whole = try await Self.create(
            share, [("Upload-Length", "5"), TestShare.offsetType], name: "whole", body: "hello")
        #expect(whole.status == 201)
        #expect(whole["Upload-Offset"] == "5")
        #expect(try await share.text("/whole") == "hello")
        let part = try await Self.create(
            share, [("Upload-Length", "5"), TestShare.offsetType], name: "part", body: "hel")
        #expect(part["Upload-Offset"] == "3")
        #expect(try await Self.patch(share, part["Location"] ?? "", 3, "lo").status == 204)
        #expect(try await share.text("/part") == "hello")
        #expect(try await Self.create(share, [("Upload-Length", "0")], name: "empty").status == 201)
        #expect(try await share.client.send("GET", "/empty").status == 200)
        #expect(share.names() == ["empty", "part", "whole"])
    }

    /// The extension creation-defer-length.
    @Test func lengthCanBeDeferred() async throws {
        let share = try TestShare()
        let created = try await Self.create(share, [("Upload-Defer-Length", "1")])
        let upload = try #require(created["Location"])
        #expect(try await Self.patch(share, upload, 0, "hello").status == 204)
        let head = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(head["Upload-Defer-Length"] == "1")
        #expect(head["Upload-Length"] == nil)
        #expect(try await Self.patch(share, upload, 5, "!", [("Upload-Length", "7")]).status == 204)
        #expect(try await Self.patch(share, upload, 6, "!", [("Upload-Length", "8")]).status == 400)
        #expect(try await Self.patch(share, upload, 6, "!").status == 204)
        #expect(try await share.text("/a.txt") == "hello!!")
        // Chunked content, for an upload without a length.
        let open = try #require(try await Self.create(share, [("Upload-Defer-Length", "1")])["Location"])
        let fields = [TestShare.tus, TestShare.offsetType, ("Upload-Offset", "0")]
        let chunked = try await share.client.send(
            "PATCH", open, fields, body: SentBody(bytes(5), isChunked: true))
        #expect(chunked["Upload-Offset"] == "5")
        #expect(try await share.offset(of: open) == 5)
        #expect(
            try await share.client.send("PUT", "/a%20(1).txt", [("If-None-Match", "*")], text: "").status
                == 201)
        let last = try await share.client.send(
            "PATCH", open,
            [TestShare.tus, TestShare.offsetType, ("Upload-Offset", "5"), ("Upload-Length", "10")],
            body: SentBody(bytes(5), isChunked: true))
        #expect(last["Upload-Offset"] == "10")
        #expect(last["Content-Location"] == "/a%20%282%29.txt")
    }

    /// If the name is in use, a number is appended, unless the client specifies otherwise.
    @Test func takenNamesAreNumbered() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a.txt", text: "old").status == 201)
        func send(_ fields: [(String, String)]) async throws -> TestResponse {
            try await Self.create(
                share, [("Upload-Length", "3"), TestShare.offsetType] + fields, body: "new")
        }
        let other = try await send([])
        #expect(other.status == 201)
        #expect(other["Content-Location"] == "/a%20%281%29.txt")
        #expect(try await share.text("/a.txt") == "old")
        #expect(try await send([("If-None-Match", "*")]).status == 412)
        #expect(try await send([("Overwrite", "T")]).status == 201)
        #expect(try await share.text("/a.txt") == "new")
        #expect(try await send([("Overwrite", "x")]).status == 400)
    }

    @Test func modificationTimesAreKept() async throws {
        let share = try TestShare()
        for (name, key, value) in [
            ("seconds", "mtime", "1500000000"), ("milliseconds", "lastModified", "1500000000123"),
        ] {
            let created = try await share.client.send(
                "POST", "/",
                [
                    TestShare.tus, TestShare.offsetType, ("Upload-Length", "1"),
                    Self.metadata([("filename", name), (key, value)]),
                ], text: "x")
            #expect(created.status == 201)
            let found = try await share.client.send("GET", "/\(name)")
            #expect(found["Last-Modified"] == "Fri, 14 Jul 2017 02:40:00 GMT")
        }
    }

    #if TLS
    /// The extension checksum.
    @Test func chunkWithAWrongChecksumIsDiscarded() async throws {
        let share = try TestShare()
        let upload = try #require(try await Self.create(share, [("Upload-Length", "10")])["Location"])
        let sha1 = ("Upload-Checksum", "sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=")
        #expect(try await Self.patch(share, upload, 0, "hello", [sha1]).status == 204)
        #expect(try await Self.patch(share, upload, 5, "jello", [sha1]).status == 460)
        #expect(try await share.offset(of: upload) == 5)
        #expect(
            try await Self.patch(share, upload, 5, "hello", [("Upload-Checksum", "sha1 x")]).status == 400)
        let md5 = ("Upload-Checksum", "md5 XUFAKrxLKna5cZ2REBfFkg==")
        #expect(try await Self.patch(share, upload, 5, "hello", [md5]).status == 204)
        #expect(try await share.text("/a.txt") == "hellohello")
    }
    #endif

    /// The extension termination, with and without a method override.
    @Test func uploadsCanBeTerminated() async throws {
        let share = try TestShare()
        for fields in [[], [("X-HTTP-Method-Override", "DELETE")]] as [[(String, String)]] {
            let upload = try #require(try await Self.create(share, [("Upload-Length", "10")])["Location"])
            #expect(try await Self.patch(share, upload, 0, "hello").status == 204)
            let method = fields.isEmpty ? "DELETE" : "POST"
            let ended = try await share.client.send(method, upload, [TestShare.tus] + fields)
            #expect(ended.status == 204)
            #expect(try await share.client.send("HEAD", upload, [TestShare.tus]).status == 404)
            #expect(share.names() == [])
        }
    }

    /// The extension concatenation.
    @Test func partsAreConcatenated() async throws {
        let share = try TestShare()
        var parts: [String] = []
        for text in ["one ", "two ", "three"] {
            let created = try await Self.create(
                share, [("Upload-Length", "\(text.utf8.count)"), ("Upload-Concat", "partial")])
            #expect(created.status == 201)
            let part = try #require(created["Location"])
            parts.append(part)
            #expect(try await share.client.send("GET", "/a.txt").status == 404)
        }
        let final = ("Upload-Concat", "final;" + parts.joined(separator: " "))
        // A part is still incomplete.
        #expect(try await Self.create(share, [final]).status == 400)
        for (part, text) in zip(parts, ["one ", "two ", "three"]) {
            #expect(try await Self.patch(share, part, 0, text).status == 204)
            let head = try await share.client.send("HEAD", part, [TestShare.tus])
            #expect(head["Upload-Concat"] == "partial")
            #expect(head["Upload-Offset"] == "\(text.utf8.count)")
        }
        #expect(try await Self.create(share, [final], principal: "bert").status == 404)
        let made = try await Self.create(share, [final])
        #expect(made.status == 201)
        #expect(try await share.text("/a.txt") == "one two three")
        let head = try await share.client.send("HEAD", made["Location"] ?? "", [TestShare.tus])
        #expect(head["Upload-Concat"] == final.1)
        #expect(head["Upload-Offset"] == "13")
        #expect(try await Self.patch(share, made["Location"] ?? "", 13, "x").status == 403)
        #expect(share.names() == ["a.txt"])
    }

    /// A part becomes a member of its collection, so the locks on the collection protect it, and those above with depth 0
    /// do not.
    @Test func locksOnTheCollectionProtectItFromParts() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir -p locked above/sub") == 0)
        let body = lockBody(scope: "exclusive")
        for collection in ["/locked", "/above"] {
            #expect(
                try await share.client.send("LOCK", collection, [("Depth", "0")], text: body).status == 200)
        }
        func create(in collection: String, _ fields: [(String, String)]) async throws -> UInt16 {
            try await share.client.send(
                "POST", collection,
                [TestShare.tus, Self.metadata([("filename", "a")]), ("Upload-Length", "1")] + fields
            ).status
        }
        for fields in [[], [("Upload-Concat", "partial")]] {
            #expect(try await create(in: "/locked/", fields) == 423)
            #expect(try await create(in: "/above/sub/", fields) == 201)
        }
    }

    /// An upload that was created with tus can be continued with the protocol of the IETF draft.
    @Test func draftClientCanFinishATusUpload() async throws {
        let share = try TestShare()
        let upload = try #require(try await Self.create(share, [("Upload-Length", "10")])["Location"])
        #expect(try await Self.patch(share, upload, 0, "hello").status == 204)
        #expect(try await share.offset(of: upload) == 5)
        #expect(try await share.append("world", to: upload, at: 5, isLast: true).status == 201)
        #expect(try await share.text("/a.txt") == "helloworld")
    }
}
