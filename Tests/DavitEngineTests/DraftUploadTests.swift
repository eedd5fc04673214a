import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Resumable uploads according to draft-ietf-httpbis-resumable-upload.
struct DraftUploadTests {
    @Test(arguments: ["/tmp", "/dev/shm"])
    func uploadInPiecesCreatesTheFile(parent: String) async throws {
        let share = try TestShare(TemporaryFolder(in: parent))
        let begun = try await share.client.send(
            "PUT", "/a.txt", [("Upload-Complete", "?0"), ("Upload-Length", "11")], text: "hel")
        #expect(begun.status == 201)
        #expect(begun["Upload-Offset"] == "3")
        #expect(begun["Upload-Complete"] == "?0")
        #expect(begun["Upload-Limit"] == "max-age=604800")
        let upload = try #require(begun["Location"])
        #expect(upload.hasPrefix("/.davit-resumableuploads/"))
        // Neither the target nor the upload is visible.
        #expect(try await share.client.send("GET", "/a.txt").status == 404)
        #expect(!(try await share.client.send("PROPFIND", "/", [("Depth", "1")]).text.contains(".davit-")))

        let second = try await share.append("lo wo", to: upload, at: 3)
        #expect(second.status == 204)
        #expect(second["Upload-Offset"] == "8")
        #expect(second["Upload-Complete"] == "?0")
        let head = try await share.client.send("HEAD", upload)
        #expect(head.status == 204)
        #expect(head["Upload-Offset"] == "8")
        #expect(head["Upload-Length"] == "11")
        #expect(head["Upload-Complete"] == "?0")
        #expect(head["Cache-Control"] == "no-store")

        let last = try await share.append("rld", to: upload, at: 8, isLast: true)
        #expect(last.status == 201)
        #expect(last["Upload-Complete"] == "?1")
        #expect(last["Content-Location"] == "/a.txt")
        let made = try await share.client.send("GET", "/a.txt")
        #expect(made.text == "hello world")
        #expect(made["ETag"] == last["ETag"])
        #expect(share.names() == ["a.txt"])
    }

    @Test(arguments: [3, 4, 5, 6, 7, 8, nil] as [Int?])
    func responsesUseTheFieldsOfTheDraftVersion(version: Int?) async throws {
        let share = try TestShare()
        let own = version.map { [("Upload-Draft-Interop-Version", "\($0)")] } ?? []
        func complete(_ isComplete: Bool) -> (String, String) {
            version == 3
                ? ("Upload-Incomplete", isComplete ? "?0" : "?1")
                : ("Upload-Complete", isComplete ? "?1" : "?0")
        }
        func says(_ response: TestResponse, _ isComplete: Bool) -> Bool {
            let (name, value) = complete(isComplete)
            return response[name] == value
                && response["Upload-Draft-Interop-Version"] == version.map { "\($0)" }
        }
        let begun = try await share.client.send("PUT", "/a", own + [complete(false)], text: "one ")
        #expect(begun.status == 201)
        #expect(says(begun, false))
        let upload = try #require(begun["Location"])
        let type = version ?? 8 < 6 ? [] : [TestShare.partial]
        let next = try await share.client.send(
            "PATCH", upload, own + type + [("Upload-Offset", "4"), complete(false)], text: "two ")
        #expect(next.status == (version ?? 8 < 6 ? 201 : 204))
        #expect(says(next, false))
        #expect(says(try await share.client.send("HEAD", upload, own), false))
        let last = try await share.client.send(
            "PATCH", upload, own + type + [("Upload-Offset", "8"), complete(true)], text: "three")
        #expect(last.status == 201)
        #expect(says(last, true))
        #expect(try await share.text("/a") == "one two three")
        #expect(says(try await share.client.send("HEAD", upload, own), true))
    }

    /// §4.2: a client that sends a supported draft version receives the upload URL in an interim response.
    @Test(arguments: [("8", 1), ("3", 1), ("99", 0), ("", 0)])
    func completePutGetsAnInterimResponse(version: String, count: Int) async throws {
        let share = try TestShare()
        let content = bytes(100_000)
        let name = version == "3" ? ("Upload-Incomplete", "?0") : ("Upload-Complete", "?1")
        let body = GatedBody(content, then: [], declared: 100_000)
        let response = try await share.client.send(
            "PUT", "/a", [name, ("Upload-Draft-Interop-Version", version)], body: body)
        #expect(response.status == 201)
        #expect(try await share.client.send("GET", "/a").body == content)
        let interims = body.interims.withLock { $0 }
        #expect(interims.map(\.status) == Array(repeating: 104, count: count))
        guard let interim = interims.first else { return }
        #expect(interim.fields.first(named: "Upload-Draft-Interop-Version") == version)
        #expect(interim.fields.first(named: "Upload-Limit") == "max-age=604800")
        let upload = try #require(interim.fields.first(.location))
        #expect(try await share.offset(of: upload) == 100_000)
        #expect(share.names() == ["a"])
    }

    @Test(arguments: ["/tmp", "/dev/shm"])
    func bytesBeforeADisconnectAreKept(parent: String) async throws {
        let share = try TestShare(TemporaryFolder(in: parent))
        let content = bytes(3_000_000, of: "x")
        let body = GatedBody(content, then: nil, declared: 5_000_000)
        await #expect(throws: HTTPError.self) {
            try await share.client.send(
                "PUT", "/a", [("Upload-Complete", "?1"), ("Upload-Draft-Interop-Version", "8")], body: body)
        }
        let upload = try #require(body.interims.withLock { $0.first?.fields.first(.location) })
        #expect(try await share.offset(of: upload) == 3_000_000)
        let rest = try await share.client.send(
            "PATCH", upload,
            [TestShare.partial, ("Upload-Offset", "3000000"), ("Upload-Complete", "?1")],
            body: bytes(2_000_000, of: "y"))
        #expect(rest.status == 201)
        #expect(try await share.client.send("GET", "/a").body == content + bytes(2_000_000, of: "y"))
        #expect(share.names() == ["a"])
    }

    // MARK: Refused requests

    static let lengths: [(fields: [(String, String)], body: String, status: UInt16)] = [
        // §4.1.3: lengths that are specified twice must be equal.
        ([("Upload-Complete", "?1"), ("Upload-Length", "6")], "hello", 400),
        ([("Upload-Complete", "?1"), ("Upload-Length", "5")], "hello", 201),
        ([("Upload-Complete", "?0"), ("Upload-Length", "4")], "hello", 400),
        ([("Upload-Complete", "?0"), ("Upload-Length", "5")], "hello", 201),
        // §4.1: invalid values are ignored, so this is an ordinary PUT.
        ([("Upload-Complete", "1")], "hello", 201),
        ([("Upload-Complete", "?0;x=1")], "hello", 201),
    ]

    @Test(arguments: lengths)
    func declaredLengthsMustAgree(_ row: (fields: [(String, String)], body: String, status: UInt16))
        async throws
    {
        let share = try TestShare()
        let response = try await share.client.send("PUT", "/a", row.fields, text: row.body)
        #expect(response.status == row.status)
        if row.status == 400 {
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(response.text.contains("http-problem-types#inconsistent-upload-length"))
            #expect(share.names() == [])
        }
    }

    @Test func appendMustMatchTheStoredOffset() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a", [("Upload-Length", "10")])
        #expect(try await share.append("hello", to: upload, at: 0).status == 204)
        let wrong = try await share.append("x", to: upload, at: 4)
        #expect(wrong.status == 409)
        #expect(wrong["Upload-Offset"] == "5")
        #expect(wrong["Content-Type"] == "application/problem+json")
        #expect(wrong.text.contains("http-problem-types#mismatching-upload-offset"))
        #expect(wrong.text.contains(#""expected-offset":5,"provided-offset":4"#))
        // Send more than the remaining length, less than the remaining length, and a different total length.
        for (text, isLast, fields) in [
            ("sixsix", false, []), ("four", true, []), ("five!", false, [("Upload-Length", "11")]),
        ] as [(String, Bool, [(String, String)])] {
            let refused = try await share.append(text, to: upload, at: 5, isLast: isLast, fields)
            #expect(refused.status == 400)
            #expect(refused.text.contains("inconsistent-upload-length"))
        }
        let fields = [("Upload-Offset", "5"), ("Upload-Complete", "?0")]
        #expect(try await share.client.send("PATCH", upload, fields, text: "x").status == 415)
        #expect(
            try await share.client.send("PATCH", upload, [TestShare.partial, fields[0]], text: "x").status
                == 400)
        #expect(
            try await share.client.send("PATCH", upload, [TestShare.partial, fields[1]], text: "x").status
                == 400)
        #expect(try await share.offset(of: upload) == 5)
        #expect(try await share.append("world", to: upload, at: 5, isLast: true).status == 201)
        // §4.4.2: the upload is complete.
        let more = try await share.append("more", to: upload, at: 10, isLast: true)
        #expect(more.status == 400)
        #expect(more.text.contains("inconsistent-upload-length"))
        let again = try await share.append("", to: upload, at: 10, isLast: true)
        #expect(again.status == 410)
        #expect(again.text.contains("completed-upload"))
        #expect(try await share.text("/a") == "helloworld")
    }

    /// The chunked content exceeds the length of the upload.
    @Test func chunkedContentCannotExceedTheUploadLength() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a", [("Upload-Length", "10")])
        let body = SentBody(bytes(11), isChunked: true)
        let fields = [TestShare.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?0")]
        let refused = try await share.client.send("PATCH", upload, fields, body: body)
        #expect(refused.status == 400)
        #expect(try await share.offset(of: upload) == 0)
    }

    /// Requests that PUT would refuse for their target are refused before content is sent.
    static let targets: [(target: String, fields: [(String, String)], status: UInt16)] = [
        ("/folder", [], 405), ("/folder/", [], 405), ("/", [], 405), ("/none/a", [], 409), ("/a/", [], 409),
        ("/.davit-aaaaaaaaaaaaaaaa", [], 403), ("/old", [("If-None-Match", "*")], 412),
        ("/new", [("If-Match", "*")], 412), ("/old", [("If-Match", "\"x\"")], 412), ("/locked", [], 423),
        ("/new", [("Upload-Length", "1001")], 413), ("/new", [("If", "(<urn:x>)")], 412),
        ("/new.exe", [], 403), ("/new", [], 201), ("/old", [], 201),
    ]

    @Test(arguments: targets)
    func targetIsCheckedOnCreation(
        _ row: (target: String, fields: [(String, String)], status: UInt16)
    ) async throws {
        let share = try TestShare { configuration in
            configuration.maximumFileBytes = 1000
            configuration.rules.allowedExtensions = ["", "txt"]
        }
        #expect(try await share.client.send("MKCOL", "/folder").status == 201)
        #expect(try await share.client.send("PUT", "/old", text: "old").status == 201)
        #expect(
            try await share.client.send("LOCK", "/locked", text: lockBody(scope: "exclusive")).status == 201)
        let before = share.names()
        let response = try await share.client.send(
            "PUT", row.target, [("Upload-Complete", "?0")] + row.fields, body: [])
        #expect(response.status == row.status)
        if row.status == 413 { #expect(response["Upload-Limit"] == "max-age=604800, max-size=1000") }
        if row.status != 201 { #expect(share.names() == before) }
    }

    @Test func uploadLargerThanTheFreeSpaceIsRefused() async throws {
        let share = try TestShare(keepsFree: .max / 2)
        let refused = try await share.client.send(
            "PUT", "/a", [("Upload-Complete", "?0"), ("Upload-Length", "1000000")], body: [])
        #expect(refused.status == 507)
        #expect(share.names() == [])
    }

    /// The target may change before the upload is complete.
    @Test func targetIsCheckedAgainOnCompletion() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a", [("If-None-Match", "*")])
        #expect(try await share.append("hello", to: upload, at: 0).status == 204)
        #expect(try await share.client.send("PUT", "/a", text: "other").status == 201)
        let refused = try await share.append("", to: upload, at: 5, isLast: true)
        #expect(refused.status == 412)
        #expect(refused["Upload-Complete"] == "?1")
        #expect(try await share.text("/a") == "other")
        // The upload is kept and can be completed after the cause is removed.
        #expect(try await share.client.send("DELETE", "/a").status == 204)
        #expect(try await share.append("", to: upload, at: 5, isLast: true).status == 201)
        #expect(try await share.text("/a") == "hello")
    }

    @Test func lockCreatedDuringAnUploadIsRespected() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a", text: "old").status == 201)
        let upload = try await share.createUpload("/a")
        let lock = try await share.client.send("LOCK", "/a", text: lockBody(scope: "exclusive"))
        let token = try #require(lock["Lock-Token"])
        #expect(try await share.append("new", to: upload, at: 0, isLast: true).status == 423)
        let done = try await share.append("", to: upload, at: 3, isLast: true, [("If", "(\(token))")])
        #expect(done.status == 204)
        #expect(try await share.text("/a") == "new")
    }

    /// The owner is the account that created the upload.
    @Test func otherAccountsCannotSeeTheUpload() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a", principal: "anna")
        for principal in ["bert", nil] {
            #expect(try await share.offset(of: upload, principal: principal) == nil)
            #expect(try await share.append("x", to: upload, at: 0, principal: principal).status == 404)
            #expect(try await share.client.send("DELETE", upload, principal: principal).status == 404)
        }
        #expect(try await share.offset(of: upload, principal: "anna") == 0)
        #expect(try await share.client.send("DELETE", upload, principal: "anna").status == 204)
        #expect(try await share.offset(of: upload, principal: "anna") == nil)
        #expect(share.names() == [])
    }

    @Test func uploadURLAllowsOnlyUploadMethods() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a")
        let options = try await share.client.send("OPTIONS", upload)
        #expect(options["Allow"] == "OPTIONS, HEAD, PATCH, DELETE")
        #expect(options["Accept-Patch"]?.contains("application/partial-upload") == true)
        for method in ["GET", "PUT", "MKCOL", "PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "POST"] {
            let response = try await share.client.send(method, upload, [("Destination", "/b")], body: [])
            #expect(response.status == 405)
            #expect(response["Allow"] == "OPTIONS, HEAD, PATCH, DELETE")
        }
        #expect(try await share.client.send("HEAD", "/.davit-resumableuploads").status == 404)
        #expect(try await share.client.send("HEAD", "/.davit-resumableuploads/none").status == 404)
    }

    @Test func resumableAddMemberUsesAFreeName() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a.txt", text: "old").status == 201)
        let begun = try await share.client.send(
            "POST", "/?add-member", [("Upload-Complete", "?0"), ("Slug", "a.txt")], text: "new")
        #expect(begun.status == 201)
        let upload = try #require(begun["Location"])
        // Another client creates a resource with the next name.
        #expect(try await share.client.send("PUT", "/a%20(1).txt", text: "old").status == 201)
        let done = try await share.append("er", to: upload, at: 3, isLast: true)
        #expect(done.status == 201)
        #expect(done["Content-Location"] == "/a%20%282%29.txt")
        #expect(try await share.text("/a%20(2).txt") == "newer")
        #expect(share.names() == ["a (1).txt", "a (2).txt", "a.txt"])
    }
}
