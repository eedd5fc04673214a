import DavitEngine
import DavitHTTP
import DavitTesting
import Synchronization
import Testing

/// Content of uploads is examined before it becomes visible.
struct UploadCheckTests {
    /// Keeps what it examines, and answers with one verdict.
    final class Check: UploadCheck {
        struct Examined: Hashable {
            var path: String
            var content: [UInt8]
            var principal: String?
        }
        private let verdict: UploadVerdict
        private let examined = Mutex<[Examined]>([])

        init(_ verdict: UploadVerdict) { self.verdict = verdict }

        func examine(_ upload: ReceivedUpload) async -> UploadVerdict {
            var content: [UInt8] = []
            // In pieces, as a program reads it.
            while let piece = try? upload.bytes(from: Int64(content.count), count: 70_000), !piece.isEmpty {
                content += piece
            }
            #expect(content.count == upload.length)
            #expect(upload.filePath.hasSuffix(upload.path.description))
            examined.withLock {
                $0.append(
                    Examined(path: upload.path.description, content: content, principal: upload.principal))
            }
            return verdict
        }

        var all: [Examined] { examined.withLock { $0 } }
    }

    typealias Row = (
        method: String, target: String, fields: [(String, String)], body: String, path: String,
        content: String
    )

    static let large = String(repeating: "y", count: 300_000)
    static let rows: [Row] = [
        ("PUT", "/new", [], "abc", "/new", "abc"), ("PUT", "/a", [], "abc", "/a", "abc"),
        ("PUT", "/new", [], "", "/new", ""), ("PUT", "/new", [], large, "/new", large),
        ("PUT", "/l/new", [], "abc", "/d/new", "abc"),
        ("PUT", "/a", [("Content-Range", "bytes 1-1/2")], "z", "/a", "xz"),
        ("PATCH", "/a", ShareHooksTests.append, "z", "/a", "x\nz"),
        ("POST", "/l/?add-member", [("Slug", "new")], "abc", "/d/new", "abc"),
        ("POST", "/?add-member", [("Slug", "new")], large, "/new", large),
    ]

    @Test("accepted content is stored, other content is not", arguments: ["/tmp", "/dev/shm"])
    func contentIsExamined(parent: String) async throws {
        for row in Self.rows {
            for (verdict, status) in [(.accepted, nil), (.refused, 403), (.unavailable, 503)]
                as [(UploadVerdict, UInt16?)]
            {
                let check = Check(verdict)
                let share = try TestShare(TemporaryFolder(in: parent)) { $0.hooks.uploadCheck = check }
                #expect(share.shell(ShareHooksTests.setUp) == 0)
                let response = try await share.client.send(
                    row.method, row.target, row.fields, body: Array(row.body.utf8), principal: "anna")
                let expected = Check.Examined(
                    path: row.path, content: Array(row.content.utf8), principal: "anna")
                #expect(check.all == [expected], "\(row.method) \(row.target)")
                if let status {
                    #expect(response.status == status)
                    #expect((response["Retry-After"] != nil) == (status == 503))
                    #expect(share.shell("[ \"$(cat a)\" = x ] && [ ! -e new ] && [ ! -e d/new ]") == 0)
                    #expect(share.shell("[ -z \"$(find . -name '.davit*')\" ]") == 0)
                } else {
                    #expect(response.status < 300)
                }
            }
        }
    }

    /// Resumable uploads are examined when they are complete.
    @Test func resumedUploadsAreExamined() async throws {
        let check = Check(.refused)
        let share = try TestShare { $0.hooks.uploadCheck = check }
        let upload = try await share.createUpload("/a")
        #expect(try await share.append("abc", to: upload, at: 0).status == 204)
        #expect(check.all.isEmpty)
        #expect(try await share.append("def", to: upload, at: 3, isLast: true).status == 403)
        #expect(check.all.map(\.content) == [Array("abcdef".utf8)])
        #expect(share.shell("[ ! -e a ]") == 0)
    }

    /// Does not end before it is opened for the name of a file.
    private final class SlowCheck: UploadCheck {
        private let gates: [String: Opening]
        init(_ gates: [String: Opening]) { self.gates = gates }

        func examine(_ upload: ReceivedUpload) async -> UploadVerdict {
            if let gate = gates[upload.path.description] {
                gate.reached()
                await gate.wait()
            }
            return .accepted
        }
    }

    /// A client whose checks take long holds up neither the checks nor the long work of others.
    @Test func checksOfAClientAreLimited() async throws {
        let gates = Dictionary(uniqueKeysWithValues: (1...4).map { ("/\($0)", Opening()) })
        let share = try TestShare { $0.hooks.uploadCheck = SlowCheck(gates) }
        #expect(share.shell("mkdir d; touch d/a") == 0)
        let uploads = (1...4).map { number in
            Task { [client = share.client] in
                try await client.send("PUT", "/\(number)", text: "x", principal: "anna").status
            }
        }
        while share.share.uploadChecks.waitingCount < 2 { await Task.yield() }
        #expect(try await share.client.send("PUT", "/other", text: "x", principal: "ben").status == 201)
        let copy = try await share.client.send("COPY", "/d", [("Destination", "/e")], principal: "ben")
        #expect(copy.status == 201)
        #expect(share.share.uploadChecks.waitingCount == 2)
        for gate in gates.values { gate.open() }
        for upload in uploads { #expect(try await upload.value == 201) }
        #expect(share.share.uploadChecks.waitingCount == 0)
    }

    /// A form of the page without scripts stores files like other uploads.
    @Test func filesOfFormsAreExamined() async throws {
        let check = Check(.refused)
        let share = try TestShare { $0.hooks.uploadCheck = check }
        let form = FormUploadTests.form(FormUploadTests.file("new", "abc"))
        let response = try await share.client.send(
            "POST", "/?action=upload", FormUploadTests.fields, body: form)
        #expect(response.status == 403)
        #expect(check.all.map(\.path) == ["/new"])
        #expect(share.shell("[ ! -e new ]") == 0)
    }

    /// Uploads that are complete with their first request.
    @Test func completeUploadsAreExamined() async throws {
        for fields in [[("Upload-Complete", "?1")], [("Upload-Complete", "?1"), ("Upload-Length", "3")]] {
            let check = Check(.refused)
            let share = try TestShare { $0.hooks.uploadCheck = check }
            let response = try await share.client.send("PUT", "/new", fields, text: "abc")
            #expect(response.status == 403)
            #expect(check.all.map(\.content) == [Array("abc".utf8)])
            #expect(share.shell("[ ! -e new ]") == 0)
        }
    }

    @Test func otherChangesAreNotExamined() async throws {
        let check = Check(.refused)
        let share = try TestShare { $0.hooks.uploadCheck = check }
        #expect(share.shell(ShareHooksTests.setUp) == 0)
        #expect(try await share.client.send("MKCOL", "/new").status == 201)
        #expect(try await share.client.send("COPY", "/a", [("Destination", "/c")]).status == 201)
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/m")]).status == 201)
        #expect(try await share.client.send("DELETE", "/b").status == 204)
        #expect(
            try await share.client.send("LOCK", "/free", text: lockBody(scope: "exclusive")).status == 201)
        #expect(check.all.isEmpty)
    }
}
