import DavitEngine
import DavitHTTP
import DavitSQLite
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Behavior of uploads that is independent of the protocol.
struct UploadEngineTests {
    // MARK: Concurrent requests

    /// Draft §4.6: the newer request wins, and the older one writes nothing more. The same applies to tus,
    /// which does not specify this case: a client that reconnects from another network must not wait until
    /// its old connection times out.
    @Test(arguments: ["HEAD", "PATCH", "DELETE"], [false, true])
    func newerRequestWins(method: String, isTus: Bool) async throws {
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent))
            let (client, gate, length) = (share.client, Opening(), 4 + (1 << 20))
            let upload = try await share.createUpload("/a", [("Upload-Length", "\(length + 3)")])
            let words = isTus ? [TestShare.tus, TestShare.offsetType] : [TestShare.partial]
            func append(_ text: String, at offset: Int, isLast: Bool) async throws -> UInt16 {
                let fields = words + [("Upload-Offset", "\(offset)")]
                return try await client.send(
                    "PATCH", upload, fields + (isTus ? [] : [("Upload-Complete", isLast ? "?1" : "?0")]),
                    text: text
                ).status
            }
            func offset() async throws -> String? {
                try await client.send("HEAD", upload, isTus ? [TestShare.tus] : [])["Upload-Offset"]
            }
            #expect(try await append("one ", at: 0, isLast: false) == 204)
            let older = Task {
                // Send more than is buffered before a write.
                let body = GatedBody(
                    bytes(1 << 20, of: "-"), then: bytes(1 << 20, of: "+"), declared: nil, gate: gate)
                let fields = words + [("Upload-Offset", "4"), ("Upload-Complete", "?1")]
                return try await client.send("PATCH", upload, fields, body: body).status
            }
            await gate.untilReached()
            switch method {
            case "HEAD": #expect(try await offset() == "\(length)")
            case "PATCH":
                // Requests with a wrong offset and with the current offset are both answered immediately.
                #expect(try await append("two", at: 4, isLast: false) == 409)
                #expect(try await append("two", at: length, isLast: true) / 100 == 2)
            default:
                #expect(try await client.send("DELETE", upload, isTus ? [TestShare.tus] : []).status == 204)
            }
            gate.open()
            #expect(try await older.value == 409)
            switch method {
            case "HEAD": #expect(try await offset() == "\(length)")
            case "PATCH":
                let content = try await share.client.send("GET", "/a").body
                #expect(content == Array("one ".utf8) + bytes(1 << 20, of: "-") + Array("two".utf8))
            default: #expect(share.names() == [])
            }
        }
    }

    /// While the hook is running, other requests cannot access the upload.
    @Test func nothingIsWrittenDuringCompletion() async throws {
        let gate = Opening()
        let share = try TestShare { configuration in
            configuration.hooks.allows = { _ in
                gate.reached()
                await gate.wait()
                return true
            }
        }
        let upload = try await share.createUpload("/a")
        #expect(try await share.append("one", to: upload, at: 0).status == 204)
        let end = Task { try await share.append("", to: upload, at: 3, isLast: true).status }
        await gate.untilReached()
        for method in ["HEAD", "DELETE"] {
            let busy = try await share.client.send(method, upload)
            #expect(busy.status == 503)
            #expect(busy["Retry-After"] == "1")
        }
        #expect(try await share.append("two", to: upload, at: 3).status == 503)
        gate.open()
        #expect(try await end.value == 201)
        #expect(try await share.offset(of: upload) == 3)
        #expect(try await share.text("/a") == "one")
    }

    // MARK: Folders

    @Test(arguments: ["/tmp", "/dev/shm"])
    func uploadMovesWithItsFolder(parent: String) async throws {
        let share = try TestShare(TemporaryFolder(in: parent))
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        #expect(try await share.client.send("MKCOL", "/f/g").status == 201)
        let upload = try await share.createUpload("/f/g/a")
        #expect(try await share.append("one ", to: upload, at: 0).status == 204)
        #expect(try await share.client.send("MOVE", "/f", [("Destination", "/h")]).status == 201)
        #expect(try await share.offset(of: upload) == 4)
        let done = try await share.append("two", to: upload, at: 4, isLast: true)
        #expect(done.status == 201)
        #expect(done["Content-Location"] == "/h/g/a")
        #expect(try await share.text("/h/g/a") == "one two")
    }

    @Test func uploadIsRemovedWithItsFolder() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        #expect(try await share.client.send("MKCOL", "/g").status == 201)
        let first = try await share.createUpload("/f/a")
        let second = try await share.createUpload("/g/a")
        #expect(try await share.client.send("DELETE", "/f").status == 204)
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        #expect(try await share.offset(of: first) == nil)
        #expect(try await share.append("x", to: first, at: 0).status == 404)
        #expect(try await share.client.send("MOVE", "/f", [("Destination", "/g")]).status == 204)
        #expect(try await share.offset(of: second) == nil)
        #expect(share.names() == ["g"])
        #expect(!share.state.hasUploads)
    }

    /// The target is moved, created again and deleted during the upload.
    @Test func changesToTheTargetDoNotAffectTheUpload() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a", text: "old").status == 201)
        let upload = try await share.createUpload("/a")
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/b")]).status == 201)
        #expect(try await share.client.send("PUT", "/a", text: "other").status == 201)
        #expect(try await share.client.send("DELETE", "/a").status == 204)
        #expect(try await share.append("new", to: upload, at: 0, isLast: true).status == 201)
        #expect(try await share.text("/a") == "new")
        #expect(try await share.text("/b") == "old")
    }

    @Test func folderMovedByAnotherProgramLosesItsUploads() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("MKCOL", "/f").status == 201)
        let upload = try await share.createUpload("/f/a")
        #expect(share.shell("mv f g") == 0)
        #expect(try await share.offset(of: upload) == nil)
        #expect(!share.state.hasUploads)
        // The remaining files are removed by the next access to that folder.
        _ = try await share.client.send("PROPFIND", "/g", [("Depth", "1")])
        #expect(share.shell("[ -z \"$(ls -A g)\" ]") == 0)
    }

    // MARK: Expiry

    @Test func idleUploadExpires() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        let upload = try await share.createUpload("/a")
        let other = try await share.createUpload("/b")
        share.wait(seconds: 60)
        #expect(try await share.append("one", to: upload, at: 0).status == 204)
        share.wait(seconds: 60)
        #expect(try await share.client.send("HEAD", other).status == 410)
        #expect(try await share.append("x", to: other, at: 0).status == 410)
        #expect(try await share.offset(of: upload) == 3)
        UploadEngine(share: share.share).removeExpired()
        #expect(try await share.client.send("HEAD", other).status == 404)
        #expect(share.names().count == 1)
        #expect(try await share.append("!", to: upload, at: 3, isLast: true).status == 201)
        // A completed upload is remembered for a limited time.
        #expect(try await share.offset(of: upload) == 4)
        share.wait(seconds: 101)
        UploadEngine(share: share.share).removeExpired()
        #expect(!share.state.hasUploads)
        #expect(share.names() == ["a"])
    }

    /// Unfinished uploads are hidden, survive a restart, and all expire.
    @Test func manyUploadsAreHiddenAndExpire() async throws {
        let (folder, store, count) = (try TemporaryFolder(), MemoryStateStore(), 50)
        var uploads: [String] = []
        do {
            let share = try TestShare(folder, state: store) { $0.uploadSeconds = 100 }
            for number in 0..<count {
                let upload = try await share.createUpload("/\(number)", [("Upload-Length", "9")])
                #expect(try await share.append("one", to: upload, at: 0).status == 204)
                uploads.append(upload)
            }
            let listing = try await share.client.send("PROPFIND", "/", [("Depth", "1")]).text
            #expect(listing.split(separator: "<D:response>").count == 2)
        }
        let share = try TestShare(folder, state: store) { $0.uploadSeconds = 100 }
        share.sweep()
        for upload in uploads { #expect(try await share.offset(of: upload) == 3) }
        #expect(share.names().count == count)
        let last = try #require(uploads.last)
        #expect(try await share.append(" more!", to: last, at: 3, isLast: true).status == 201)
        share.wait(seconds: 101)
        UploadEngine(share: share.share).removeExpired()
        #expect(!share.state.hasUploads)
        #expect(share.names() == ["\(count - 1)"])
    }

    // MARK: Restarts

    @Test func uploadSurvivesARestart() async throws {
        let (folder, stateFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let upload: String
        do {
            let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
            upload = try await share.createUpload("/a", [("X-OC-MTime", "1500000000")], principal: "anna")
            #expect(try await share.append("one ", to: upload, at: 0, principal: "anna").status == 204)
        }
        let share = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
        share.sweep()
        #expect(try await share.offset(of: upload, principal: "anna") == 4)
        let done = try await share.append("two", to: upload, at: 4, isLast: true, principal: "anna")
        #expect(done.status == 201)
        #expect(done["X-OC-MTime"] == "accepted")
        #expect(try await share.text("/a") == "one two")
        #expect(share.names() == ["a"])
    }

    /// After a crash, the stored bytes and the rows may not match.
    @Test func crashLeavesAConsistentOffset() async throws {
        let (folder, store) = (try TemporaryFolder(), MemoryStateStore())
        var share = try TestShare(folder, state: store)
        var uploads: [String: String] = [:]
        for name in ["more", "unverified", "less", "gone", "published"] {
            let upload = try await share.createUpload("/\(name)")
            #expect(try await share.append("12345", to: upload, at: 0).status == 204)
            uploads[name] = upload
        }
        for record in try store.uploads() {
            let staged = String(decoding: record.stagedName, as: UTF8.self)
            switch String(decoding: record.name, as: UTF8.self) {
            case "more": #expect(share.shell("printf 678 >>\(staged)") == 0)
            case "unverified":
                #expect(share.shell("printf 678 >>\(staged)") == 0)
                var progress = record.progress
                progress.isUnverified = true
                try store.apply([.setUploadProgress(id: record.id, progress)])
            case "less": #expect(share.shell("printf 12 >\(staged)") == 0)
            case "gone": #expect(share.shell("rm \(staged)") == 0)
            default: #expect(share.shell("mv \(staged) published") == 0)
            }
        }
        share = try TestShare(folder, state: store)
        func offset(_ name: String) async throws -> Int? {
            try await share.offset(of: uploads[name] ?? "/none")
        }
        // Bytes without a digest are kept as received.
        #expect(try await offset("more") == 8)
        // Bytes whose digest was not verified are discarded.
        #expect(try await offset("unverified") == 5)
        // Draft §4.1.1: the offset never decreases; an upload that has lost bytes is removed.
        #expect(try await offset("less") == nil)
        #expect(try await offset("gone") == nil)
        // The content is published, but the row does not record this yet.
        let head = try await share.client.send("HEAD", uploads["published"] ?? "")
        #expect(head["Upload-Complete"] == "?1")
        #expect(head["Upload-Offset"] == "5")
        #expect(try await share.text("/published") == "12345")
    }

    // MARK: Hooks

    @Test func hooksAreCalledOnceOnCompletion() async throws {
        let asked = Mutex<[(path: String, length: Int64?)]>([])
        let told = Mutex(0)
        let share = try TestShare { configuration in
            configuration.hooks.allows = { action in
                asked.withLock { $0.append((action.path.description, action.content?.length)) }
                return action.path.name.elementsEqual("good".utf8)
            }
            configuration.hooks.completed = { _ in told.withLock { $0 += 1 } }
        }
        for (name, status) in [("good", 201), ("bad", 403)] as [(String, UInt16)] {
            let upload = try await share.createUpload("/\(name)")
            #expect(try await share.append("one ", to: upload, at: 0).status == 204)
            #expect(try await share.append("two", to: upload, at: 4, isLast: true).status == status)
        }
        #expect(asked.withLock { $0.map(\.path) } == ["/good", "/bad"])
        #expect(asked.withLock { $0.map(\.length) } == [7, 7])
        #expect(told.withLock { $0 } == 1)
    }

    @Test func readOnlyShareRefusesUploads() async throws {
        let share = try TestShare { $0.isReadOnly = true }
        #expect(try await share.client.send("PUT", "/a", [("Upload-Complete", "?0")], body: []).status == 403)
        #expect(try await share.client.send("POST", "/", [TestShare.tus], body: []).status == 403)
    }

    /// The state database is out of space: the upload is not created, and leaves no files.
    @Test func uploadIsNotCreatedIfItsRowCannotBeStored() async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        let upload = try await share.createUpload("/a")
        store.commitsLeft.store(0, ordering: .sequentiallyConsistent)
        #expect(try await share.client.send("PUT", "/b", [("Upload-Complete", "?0")], body: []).status == 507)
        #expect(share.names().count == 1)
        // The content has been published, so success is reported to the client.
        #expect(try await share.append("hello", to: upload, at: 0, isLast: true).status == 201)
        #expect(try await share.text("/a") == "hello")
    }
}
