import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Uploads that are interrupted or refused, or that expire, before they are complete.
struct UploadFailureTests {
    // MARK: tus clients that request the offset after all bytes are sent

    /// tus does not signal completion separately, so a client whose last response was lost assumes success if
    /// the offset equals the length.
    @Test func offsetRequestCompletesAFullUpload() async throws {
        let share = try TestShare()
        let upload = try #require(
            try await TusUploadTests.create(share, [("Upload-Length", "5"), ("Overwrite", "T")])["Location"])
        // The last byte arrives, but the completion is refused.
        let lock = try await share.client.send("LOCK", "/a.txt", text: lockBody(scope: "exclusive"))
        let token = try #require(lock["Lock-Token"])
        #expect(try await TusUploadTests.patch(share, upload, 0, "hello").status == 423)
        let refused = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(refused.status == 423)
        #expect(refused["Tus-Resumable"] == "1.0.0")
        #expect(try await share.text("/a.txt") == "")
        #expect(try await share.client.send("UNLOCK", "/a.txt", [("Lock-Token", token)]).status == 204)
        let done = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(done.status == 200)
        #expect(done["Upload-Offset"] == "5")
        #expect(try await share.text("/a.txt") == "hello")
        // The upload is complete and does not change anything later.
        #expect(try await share.client.send("PUT", "/a.txt", text: "newer").status == 204)
        #expect(try await share.client.send("HEAD", upload, [TestShare.tus]).status == 200)
        #expect(try await share.text("/a.txt") == "newer")
    }

    /// A crash between the last byte and the completion, of an upload and of a part of a concatenated upload.
    @Test(arguments: [false, true])
    func crashAfterTheLastByteIsRecovered(isPart: Bool) async throws {
        let store = MemoryStateStore()
        let first = try TestShare(state: store)
        let part = isPart ? [("Upload-Concat", "partial")] : []
        let upload = try #require(
            try await TusUploadTests.create(first, [("Upload-Length", "5")] + part)["Location"])
        #expect(try await TusUploadTests.patch(first, upload, 0, "he").status == 204)
        let staged = try #require(first.names().first { $0.hasPrefix(".davit-") })
        #expect(first.shell("printf llo >>\(staged)") == 0)

        let share = try TestShare(first.folder, state: store)
        let head = try await share.client.send("HEAD", upload, [TestShare.tus])
        #expect(head.status == 200)
        #expect(head["Upload-Offset"] == "5")
        if isPart {
            let whole = try await TusUploadTests.create(
                share, [("Upload-Concat", "final;\(upload)")], name: "whole")
            #expect(whole.status == 201)
            #expect(try await share.text("/whole") == "hello")
        } else {
            #expect(try await share.text("/a.txt") == "hello")
            #expect(share.names() == ["a.txt"])
        }
    }

    @Test func readOnlyShareCompletesNoUpload() async throws {
        let store = MemoryStateStore()
        let first = try TestShare(state: store)
        let upload = try #require(
            try await TusUploadTests.create(first, [("Upload-Length", "5")])["Location"])
        #expect(try await TusUploadTests.patch(first, upload, 0, "hell").status == 204)
        let staged = try #require(first.names().first { $0.hasPrefix(".davit-") })
        #expect(first.shell("printf o >>\(staged)") == 0)
        let share = try TestShare(first.folder, state: store) { $0.isReadOnly = true }
        #expect(try await share.client.send("HEAD", upload, [TestShare.tus])["Upload-Offset"] == "5")
        #expect(share.names() == [staged])
    }

    /// A form action that only reads must not allow an upload to bypass the read-only check.
    @Test func readOnlyShareStoresNoFormUpload() async throws {
        let store = MemoryStateStore()
        let first = try TestShare(state: store)
        #expect(first.shell("printf old >a.txt") == 0)
        let (begun, other) = (
            try #require(
                try await TusUploadTests.create(first, [("Upload-Length", "5")], name: "b")["Location"]),
            try await first.createUpload("/c")
        )
        let share = try TestShare(first.folder, state: store) { $0.isReadOnly = true }
        let names = share.names()
        let tus = [TestShare.tus, TestShare.offsetType, ("Upload-Length", "3"), ("Overwrite", "T")]
        let draft = [("Upload-Complete", "?0"), ("Upload-Draft-Interop-Version", "8")]
        func more(_ method: String) -> [(String, String)] {
            tus + [("Upload-Offset", "0"), ("X-HTTP-Method-Override", method)]
        }
        let requests: [(method: String, target: String, fields: [(String, String)])] = [
            ("POST", "/", tus + [TusUploadTests.metadata([("filename", "a.txt")])]), ("POST", "/", draft),
            ("PUT", "/a.txt", draft), ("POST", begun, more("PATCH")), ("POST", begun, more("DELETE")),
            ("PATCH", begun, more("")), ("DELETE", other, []), ("POST", other, draft),
        ]
        for request in requests {
            for query in ["", "?action=archive", "?add-member"] {
                let answer = try await share.client.send(
                    request.method, request.target + query, request.fields, body: Array("new".utf8))
                #expect(answer.status == 403, "\(request) \(query)")
            }
        }
        #expect(share.names() == names)
        #expect(try await share.text("/a.txt") == "old")
        #expect(try await share.offset(of: other) == 0)
    }

    // MARK: Refused creations

    /// The client does not know the URL of an upload whose creation was refused.
    @Test func refusedCreationLeavesNoUpload() async throws {
        let share = try TestShare { $0.maximumFileBytes = 10 }
        let draft = [("Upload-Complete", "?0")]
        let part = try #require(
            try await TusUploadTests.create(
                share, [("Upload-Length", "3"), ("Upload-Concat", "partial"), TestShare.offsetType],
                name: "part",
                body: "abc")["Location"])
        let names = share.names()
        func put(_ fields: [(String, String)], _ body: String) async throws -> UInt16 {
            try await share.client.send("PUT", "/a", draft + fields, text: body).status
        }
        #expect(try await put([("Content-Digest", "sha-256=zz")], "abc") == 400)
        #expect(try await put([("Content-Digest", "adler=:AAAAAA==:")], "abc") == 400)
        #expect(try await put([], "twelve bytes") == 413)
        await #expect(throws: HTTPError.self) {
            let cut = GatedBody(Array("abc".utf8), then: nil, declared: 5)
            return try await share.client.send("PUT", "/a", draft, body: cut)
        }
        #expect(
            try await TusUploadTests.create(
                share,
                [TestShare.offsetType, ("Upload-Length", "3"), ("Upload-Checksum", "adler32 AAAAAA==")],
                body: "abc"
            ).status == 460)
        #expect(try await share.client.send("PUT", "/a.txt", text: "old").status == 201)
        #expect(
            try await share.client.send("LOCK", "/a.txt", text: lockBody(scope: "exclusive")).status == 200)
        #expect(
            try await TusUploadTests.create(share, [("Upload-Concat", "final;\(part)"), ("Overwrite", "T")])
                .status == 423)
        #expect(share.names() == names + ["a.txt"])
        #expect(share.state.upload(String(part.split(separator: "/").last!)) != nil)
    }

    /// A refusal must release the upload, because an upload that is still in use never expires.
    @Test func refusalReleasesTheUpload() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        #expect(
            try await share.client.send(
                "PUT", "/a",
                [
                    ("Upload-Complete", "?0"), ("Upload-Draft-Interop-Version", "8"),
                    ("Content-Digest", "sha-256=zz"),
                ],
                text: "abc"
            ).status == 400)
        let upload = try await share.createUpload("/a")
        #expect(
            try await share.append("abc", to: upload, at: 0, [("Content-Digest", "sha-256=zz")]).status == 400
        )
        #expect(try await share.append("abc", to: upload, at: 7).status == 409)
        share.wait(seconds: 101)
        UploadEngine(share: share.share).removeExpired()
        #expect(share.names() == [])
    }

    /// Empty content must not match the digest of content that was lost.
    @Test func digestOfAnEmptyAppendIsVerified() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a")
        let wrong = ("Content-Digest", "adler=:AAAAAA==:")
        #expect(try await share.append("", to: upload, at: 0, [wrong]).status == 400)
        #expect(try await share.append("", to: upload, at: 0, isLast: true, [wrong]).status == 400)
        let right = ("Content-Digest", "adler=:AAAAAQ==:")
        #expect(try await share.append("", to: upload, at: 0, [right]).status == 204)
        #expect(
            try await TusUploadTests.patch(share, upload, 0, "", [("Upload-Checksum", "adler32 AAAAAA==")])
                .status
                == 460)
        #expect(try await share.append("", to: upload, at: 0, isLast: true, [right]).status == 201)
    }

    /// Draft §4.1.4: a response about excessive length contains the limit.
    @Test func excessiveLengthIsReportedWithTheLimit() async throws {
        let share = try TestShare { $0.maximumFileBytes = 10 }
        let upload = try await share.createUpload("/a")
        for (text, isLast, fields) in [
            ("", false, [("Upload-Length", "11")]), ("eleven byte", true, []), ("eleven byte", false, []),
        ] {
            let refused = try await share.append(text, to: upload, at: 0, isLast: isLast, fields)
            #expect(refused.status == 413)
            #expect(refused["Upload-Limit"]?.contains("max-size=10") == true)
        }
    }

    /// A client that can only send POST submits its lock token, too.
    @Test func appendByPOSTSubmitsItsLockToken() async throws {
        let share = try TestShare()
        let upload = try #require(
            try await TusUploadTests.create(share, [("Upload-Length", "3"), ("Overwrite", "T")])["Location"])
        let lock = try await share.client.send("LOCK", "/a.txt", text: lockBody(scope: "exclusive"))
        let token = try #require(lock["Lock-Token"])
        let fields = [
            TestShare.tus, TestShare.offsetType, ("Upload-Offset", "0"), ("X-HTTP-Method-Override", "PATCH"),
            ("If", "</a.txt> (\(token))"),
        ]
        #expect(try await share.client.send("POST", upload, fields, text: "new").status == 204)
        #expect(try await share.text("/a.txt") == "new")
    }

    // MARK: Time

    /// An upload that was found to be expired may be extended before it is removed.
    @Test func activeUploadDoesNotExpire() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        let gate = Opening()
        let upload = try await share.createUpload("/a")
        let slow = share.beginAppending(Array("one".utf8), to: upload, until: gate)
        await gate.untilReached()
        share.wait(seconds: 101)
        UploadEngine(share: share.share).removeExpired()
        gate.open()
        #expect(try await slow.value == 204)
        UploadEngine(share: share.share).removeExpired()
        #expect(try await share.offset(of: upload) == 3)
    }

    /// The client resumes from another network before the server detects that the old connection is dead.
    @Test func activeUploadCanBeResumedAfterItsLifetime() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        let gate = Opening()
        let upload = try await share.createUpload("/a")
        let slow = share.beginAppending(bytes(1 << 20), to: upload, until: gate)
        await gate.untilReached()
        share.wait(seconds: 101)
        #expect(try await share.offset(of: upload) == 1 << 20)
        gate.open()
        #expect(try await slow.value == 409)
        #expect(try await share.append("!", to: upload, at: 1 << 20, isLast: true).status == 201)
    }

    // MARK: The trash

    /// The folder of an upload is moved to the trash together with the upload, which can only be resumed
    /// after the folder is restored.
    @Test func uploadIsRestoredWithItsFolder() async throws {
        let share = try TestShare.keeping()
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        let upload = try await share.createUpload("/f/a")
        #expect(try await share.append("one ", to: upload, at: 0).status == 204)
        #expect(try await share.client.send("DELETE", "/f").status == 204)
        #expect(try await share.offset(of: upload) == nil)
        #expect(try await share.append("two", to: upload, at: 4).status == 404)
        #expect(try await share.restore(share.lastTrash).status == 201)
        #expect(try await share.append("two", to: upload, at: 4, isLast: true).status == 201)
        #expect(try await share.text("/f/a") == "one two")
    }

    @Test func uploadIsPurgedWithItsFolder() async throws {
        let share = try TestShare.keeping()
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        let upload = try await share.createUpload("/f/a")
        #expect(try await share.append("one", to: upload, at: 0).status == 204)
        #expect(try await share.client.send("DELETE", "/f").status == 204)
        let form = Array("id=\(share.lastTrash ?? "")".utf8)
        #expect(try await share.client.send("POST", "/?action=purge", ownForm, body: form).status == 204)
        #expect(try await share.append("two", to: upload, at: 3).status == 404)
        #expect(!share.state.hasUploads)
        #expect(share.trashedNames() == 0)
    }

    @Test func contentReplacedByAnUploadIsMovedToTheTrash() async throws {
        let share = try TestShare.keeping()
        #expect(try await share.client.send("PUT", "/a", text: "old").status == 201)
        #expect(
            try await share.client.send("PROPPATCH", "/a", text: setProperty("p", "one")).status == 207)
        let upload = try await share.createUpload("/a")
        let done = try await share.append("new", to: upload, at: 0, isLast: true)
        #expect(done.status == 204)
        #expect(done["Davit-Trash"] == share.lastTrash)
        #expect(try share.trash() == ["overwritten /a 3"])
        for name in ["/a", "/a%20%281%29"] {
            let property = try await share.client.send("PROPFIND", name, text: askProperty("p"))
            #expect(property.text.contains(">one<"))
            if name == "/a" {
                #expect(try await share.restore(share.lastTrash)["Location"] == "/a%20%281%29")
            }
        }
        #expect(try await share.client.send("GET", "/a%20%281%29").text == "old")
    }

    // MARK: Names

    @Test func reservedNamesAreRefused() async throws {
        let share = try TestShare()
        for name in [".davit-aaaaaaaaaaaaaaaa", ".davit-trashofthisshare"] {
            let refused = try await TusUploadTests.create(share, [("Upload-Length", "5")], name: name)
            #expect(refused.status == 403)
        }
        #expect(share.names() == [])
    }
}
