import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Uploads to which something happens before they end.
struct HostileUploadTests {
    // MARK: tus: who has sent all of it asks once more, and sends nothing

    /// tus has no word for the end, so that a client whose last answer was lost takes an offset as long as the upload
    /// for success.
    @Test func whatHasComeToItsLengthIsEndedWhenItsClientAsks() async throws {
        let share = try TestShare()
        let upload = try #require(
            try await TusUploadTests.create(share, [("Upload-Length", "5"), ("Overwrite", "T")])["Location"])
        // The last byte comes, and the end is refused.
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
        // And from then on nothing happens any more.
        #expect(try await share.client.send("PUT", "/a.txt", text: "newer").status == 204)
        #expect(try await share.client.send("HEAD", upload, [TestShare.tus]).status == 200)
        #expect(try await share.text("/a.txt") == "newer")
    }

    /// A crash between the last byte and the end, and the same for a part of another upload.
    @Test(arguments: [false, true])
    func aCrashBehindTheLastByteIsMadeUpFor(isPart: Bool) async throws {
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

    @Test func aShareThatIsReadOnlyEndsNone() async throws {
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

    // MARK: Time

    /// Which uploads are over was seen before somebody gave one of them more time.
    @Test func anUploadThatGoesOnStays() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        let gate = Opening()
        let upload = try await share.createUpload("/a")
        let slow = Task { [client = share.client] in
            try await client.send(
                "PATCH", upload,
                [TestShare.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?0")],
                body: GatedBody(Array("one".utf8), then: [], declared: nil, gate: gate)
            ).status
        }
        await gate.untilReached()
        share.wait(seconds: 101)
        share.share.expireUploads()
        gate.open()
        #expect(try await slow.value == 204)
        share.share.expireUploads()
        #expect(try await share.offset(of: upload) == 3)
    }

    // MARK: The trash

    /// The folder of an upload goes into the trash, and the upload with it; it can go on when that is back.
    @Test func anUploadComesBackWithItsFolder() async throws {
        let share = try TestShare.keeping()
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        let upload = try await share.createUpload("/f/a")
        #expect(try await share.append("one ", to: upload, at: 0).status == 204)
        #expect(try await share.client.send("DELETE", "/f").status == 204)
        #expect(try await share.append("two", to: upload, at: 4).status == 204)
        let refused = try await share.append("", to: upload, at: 7, isLast: true)
        #expect((400..<500).contains(refused.status))
        #expect(try await share.restore(share.lastTrash).status == 201)
        #expect(try await share.append("", to: upload, at: 7, isLast: true).status == 201)
        #expect(try await share.text("/f/a") == "one two")
    }

    @Test func anUploadIsPurgedWithItsFolder() async throws {
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

    @Test func whatAnUploadReplacesIsKept() async throws {
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

    /// No member can have it, however often it is tried.
    @Test func aNameOfTheServersOwnIsRefused() async throws {
        let share = try TestShare()
        for name in [".davit-aaaaaaaaaaaaaaaa", ".davit-trashofthisshare"] {
            let refused = try await TusUploadTests.create(share, [("Upload-Length", "5")], name: name)
            #expect(refused.status == 403)
        }
        #expect(share.names() == [])
    }
}
