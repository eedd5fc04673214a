import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Files in a form become members as they arrive, as with PUT. Each file has its own result.
struct FormUploadTests {
    static let fields = [
        ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "multipart/form-data; boundary=-x-"),
    ]

    enum Part {
        case field(String, String)
        case file(String, [UInt8])
    }

    /// A form as a browser sends it.
    static func form(_ parts: Part...) -> [UInt8] {
        var form: [UInt8] = []
        for part in parts {
            switch part {
            case .field(let name, let value):
                form += Array(
                    "---x-\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
            case .file(let name, let content):
                let head =
                    "---x-\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\n"
                    + "Content-Type: application/octet-stream\r\n\r\n"
                form += Array(head.utf8) + content + [13, 10]
            }
        }
        return form + Array("---x---\r\n".utf8)
    }

    static func file(_ name: String, _ text: String) -> Part { .file(name, Array(text.utf8)) }

    private func send(
        _ share: TestShare, _ form: [UInt8], to target: String = "/?action=upload",
        _ more: [(String, String)] = []
    ) async throws -> TestResponse {
        try await share.client.send("POST", target, Self.fields + more, body: form)
    }

    @Test func singleFileRespondsLikePUT() async throws {
        let share = try TestShare()
        let created = try await send(share, Self.form(Self.file("a b.txt", "one")))
        #expect(created.status == 201)
        #expect(created["Location"] == "/a%20b.txt")
        #expect(created["ETag"] != nil)
        let got = try await share.client.send("GET", "/a%20b.txt")
        #expect(got.text == "one")
        #expect(got["ETag"] == created["ETag"])
    }

    @Test func takenNameIsNumberedAndNothingIsReplaced() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d.x; echo -n old >a.txt; ln -s nowhere l; echo -n rc >.rc") == 0)
        for (name, expected) in [
            ("a.txt", "a (1).txt"), ("a.txt", "a (2).txt"), ("d.x", "d (1).x"), ("l", "l (1)"),
            (".rc", ".rc (1)"), ("b.tar.gz", "b.tar.gz"), ("b.tar.gz", "b (1).tar.gz"),
        ] {
            #expect(try await send(share, Self.form(Self.file(name, "new"))).status == 201)
            #expect(share.shell("grep -q new '\(expected)'") == 0, "\(expected)")
        }
        #expect(share.shell("grep -q old a.txt; grep -q rc .rc; test -d d.x") == 0)
    }

    @Test func fileIsReplacedOnRequest() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d; echo -n old >a") == 0)
        let form = Self.form(.field("replace", "yes"), Self.file("a", "one"))
        #expect(try await send(share, form).status == 204)
        #expect(share.shell("grep -q one a; ! test -e 'a (1)'") == 0)
        let query = try await send(share, Self.form(Self.file("a", "two")), to: "/?action=upload&replace=yes")
        #expect(query.status == 204)
        #expect(share.shell("grep -q two a") == 0)
        // A file does not replace a folder.
        let folder = Self.form(.field("replace", "yes"), Self.file("d", "x"))
        #expect(try await send(share, folder).status == 405)
        #expect(share.shell("test -d d") == 0)
    }

    @Test func eachFileHasItsOwnResult() async throws {
        let share = try TestShare {
            $0.rules.allowedExtensions = ["txt"]
            $0.maximumFileBytes = 1000
        }
        let form = Self.form(
            Self.file("a.txt", "1"), Self.file("b.exe", "2"), .file("c.txt", bytes(2000)),
            Self.file("d.txt", ""), Self.file("a.txt", "3"))
        let response = try await send(share, form)
        #expect(response.status == 207)
        for (href, status) in [
            ("a.txt", "201"), ("b.exe", "403"), ("c.txt", "413"), ("d.txt", "201"),
            ("a%20%281%29.txt", "201"),
        ] {
            #expect(
                response.text.contains("<D:href>/\(href)</D:href><D:status>HTTP/1.1 \(status)"),
                "\(response.text)")
        }
        #expect(share.shell("[ \"$(ls | tr '\\n' ' ')\" = 'a (1).txt a.txt d.txt ' ]") == 0)
        #expect(share.shell("[ ! -s d.txt ]") == 0)
    }

    @Test func foldersInFileNamesAreDropped() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d") == 0)
        let form = Self.form(
            Self.file("../../up.txt", "x"), Self.file("C:\\\\fakepath\\\\w.txt", "x"),
            Self.file("d/in.txt", "x"))
        #expect(try await send(share, form, to: "/d/?action=upload").status == 207)
        #expect(
            share.shell(
                "[ \"$(find . -type f | sort | tr '\\n' ' ')\" = './d/in.txt ./d/up.txt ./d/w.txt ' ]") == 0)
        // An empty file input, an invalid name, a form without files, and a malformed form.
        #expect(try await send(share, Self.form(Self.file("", ""))).status == 400)
        #expect(try await send(share, Self.form(Self.file("..", "x"))).status == 400)
        #expect(try await send(share, Self.form(.field("a", "b"))).status == 400)
        #expect(try await send(share, Array("x".utf8)).status == 400)
    }

    // The parser is tested byte by byte elsewhere; this tests the code that passes content to it.
    @Test(arguments: [1, 7, 4096, 100_000])
    func formCanBeSplitAnywhere(length: Int) async throws {
        let share = try TestShare()
        // A large file with text that resembles a delimiter; smaller if the form is sent byte by byte.
        var large = bytes(length == 1 ? 3000 : 200_000, of: "b")
        large.replaceSubrange(1000..<1006, with: Array("\r\n---x".utf8))
        let form = Self.form(Self.file("a", "\r\n--"), .file("large", large), Self.file("c", ""))
        let body = SentBody(form, isChunked: true, pieceLength: length)
        let response = try await share.client.send("POST", "/?action=upload", Self.fields, body: body)
        #expect(response.status == 207)
        #expect(try await share.client.send("GET", "/a").text == "\r\n--")
        #expect(try await share.client.send("GET", "/large").body == large)
        #expect(try await share.client.send("GET", "/c").body == [])
        #expect(body.readCount == form.count)
    }

    @Test func refusedFileIsSkippedAndTheNextIsStored() async throws {
        let notes = ShareHooksTests.Notes()
        let share = try TestShare {
            $0.hooks.allows = { action in
                notes.add("\(action.path) \(action.content?.length ?? -1)")
                return action.path.description != "/b"
            }
            $0.hooks.completed = { notes.add("told \($0.path)") }
        }
        let form = Self.form(Self.file("a", "1"), .file("b", bytes(100_000)), Self.file("c", "333"))
        #expect(try await send(share, form).status == 207)
        #expect(notes.take() == ["/a 1", "told /a", "/b 100000", "/c 3", "told /c"])
        #expect(share.shell("[ \"$(ls -A | tr '\\n' ' ')\" = 'a c ' ]") == 0)
    }

    @Test func locksApplyToFormUploads() async throws {
        let share = try TestShare()
        try await share.play(
            Scenario(
                "locks",
                [step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201), lock("/d", depth: "0")]))
        let form = Self.form(.field("replace", "yes"), Self.file("a", "y"), Self.file("b", "y"))
        let response = try await send(share, form, to: "/d/?action=upload")
        // A lock of depth 0 on the folder protects its list of members, but not the content of a member.
        #expect(response.text.contains("<D:href>/d/a</D:href><D:status>HTTP/1.1 204"), "\(response.text)")
        #expect(response.text.contains("<D:href>/d/b</D:href><D:status>HTTP/1.1 423"), "\(response.text)")
    }

    @Test func completeFilesOfATruncatedFormAreStored() async throws {
        let share = try TestShare()
        let form = Self.form(Self.file("a", "whole"), .file("b", bytes(100_000)))
        await #expect(throws: HTTPError.self) {
            let body = SentBody(Array(form.prefix(form.count - 500)), isChunked: true)
            _ = try await share.client.send("POST", "/?action=upload", Self.fields, body: body)
        }
        #expect(share.shell("[ \"$(ls -A)\" = a ]") == 0)
    }
}
