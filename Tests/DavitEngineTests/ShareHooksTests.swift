import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// The `allows` hook is called once before a change, and the notification hook once after it.
struct ShareHooksTests {
    /// Records the calls of hooks as text.
    final class Notes: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        /// Returns and clears the recorded lines.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    static func text(_ action: ShareAction) -> String {
        var text = "\(action.kind) \(action.path)\(action.isCollection ? "/" : "")"
        if let destination = action.destination { text += " \(destination)" }
        if action.isReplacing { text += " over" }
        if let principal = action.principal { text += " by \(principal)" }
        return text
    }

    typealias Row = (
        method: String, target: String, fields: [(String, String)], body: String?, status: UInt16,
        action: String?
    )

    static let setUp = "mkdir -p d/e; echo x | tee a b d/f >d/e/g; ln -s d l"

    static let append = [PartialUpdateTests.type, ("X-Update-Range", "append")]

    /// Requests with the expected status and action; the action is nil if no hook is called.
    static let rows: [Row] = [
        ("PUT", "/new", [], "x", 201, "upload /new"), ("PUT", "/a", [], "x", 204, "upload /a over"),
        ("PUT", "/l/new", [], "x", 201, "upload /d/new"),
        ("PUT", "/large", [], String(repeating: "x", count: 200_000), 201, "upload /large"),
        ("PUT", "/new", [("Content-Range", "bytes 0-0/2")], "x", 201, "upload /new"),
        ("PUT", "/l/f", [("Content-Range", "bytes 2-2/*")], "x", 204, "upload /d/f over"),
        ("PATCH", "/a", append, "x", 204, "upload /a over"),
        ("PATCH", "/a", append, String(repeating: "x", count: 200_000), 204, "upload /a over"),
        ("POST", "/l/?add-member", [("Slug", "new")], "x", 201, "upload /d/new"),
        ("POST", "/?add-member", [("Slug", "a")], "x", 201, "upload /a (1)"),
        ("MKCOL", "/new", [], nil, 201, "createCollection /new/"),
        (
            "MKCOL", "/new", [ExtendedMkColTests.xml], ExtendedMkColTests.body("<x:p/>"), 201,
            "createCollection /new/"
        ),
        ("DELETE", "/a", [], nil, 204, "delete /a"), ("DELETE", "/d", [], nil, 204, "delete /d/"),
        ("COPY", "/a", [("Destination", "/c")], nil, 201, "copy /a /c"),
        ("COPY", "/a", [("Destination", "/b")], nil, 204, "copy /a /b over"),
        ("COPY", "/d", [("Destination", "/c")], nil, 201, "copy /d/ /c"),
        ("MOVE", "/a", [("Destination", "/c")], nil, 201, "move /a /c"),
        ("MOVE", "/a", [("Destination", "/b")], nil, 204, "move /a /b over"),
        ("MOVE", "/d", [("Destination", "/a")], nil, 204, "move /d/ /a over"),
        ("LOCK", "/new", [], lockBody(scope: "exclusive"), 201, "upload /new"),
        ("LOCK", "/a", [], lockBody(scope: "exclusive"), 200, nil),
        ("PROPPATCH", "/a", [], setProperty("p", "1"), 207, nil),
        ("PROPFIND", "/", [("Depth", "1")], nil, 207, nil), ("OPTIONS", "/a", [], nil, 200, nil),
        ("HEAD", "/a", [], nil, 200, nil), ("GET", "/d/", [], nil, 200, nil),
        // Hooks are not called for requests that fail.
        ("PUT", "/none/a", [], "x", 409, nil), ("PUT", "/a", [("If-Match", "\"x\"")], "x", 412, nil),
        ("PATCH", "/none", append, "x", 404, nil),
        ("PATCH", "/a", append + [("If-Match", "\"x\"")], "x", 412, nil),
        ("POST", "/none/?add-member", [], "x", 404, nil), ("POST", "/", [], "x", 405, nil),
        ("MKCOL", "/a", [], nil, 405, nil), ("DELETE", "/none", [], nil, 404, nil),
        ("COPY", "/a", [("Destination", "/b"), ("Overwrite", "F")], nil, 412, nil),
        ("MOVE", "/none", [("Destination", "/c")], nil, 404, nil),
        ("LOCK", "/new", [("If", "(<urn:uuid:0>)")], nil, 412, nil),
    ]

    @Test(
        "the allows hook is called once before each change, and the completed hook once after it",
        arguments: ["/tmp", "/dev/shm"])
    func allowsHookIsCalledOncePerChange(parent: String) async throws {
        for row in Self.rows {
            let notes = Notes()
            let folder = try TemporaryFolder(in: parent)
            let share = try TestShare(folder) {
                $0.hooks.allows = { action in
                    notes.add("asked " + Self.text(action))
                    return true
                }
                $0.hooks.completed = { notes.add("told " + Self.text($0)) }
            }
            #expect(share.shell(Self.setUp) == 0)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) }, principal: "anna")
            #expect(response.status == row.status, "\(row)")
            let expected = row.action.map { ["asked \($0) by anna", "told \($0) by anna"] } ?? []
            #expect(notes.take() == expected, "\(row.method) \(row.target)")
        }
    }

    @Test(
        "the completed hook is called once for each change if there is no allows hook",
        arguments: ["/tmp", "/dev/shm"])
    func completedHookIsCalledOncePerChange(parent: String) async throws {
        for row in Self.rows {
            let notes = Notes()
            let share = try TestShare(TemporaryFolder(in: parent)) {
                $0.hooks.completed = { notes.add(Self.text($0)) }
            }
            #expect(share.shell(Self.setUp) == 0)
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) })
            #expect(response.status == row.status, "\(row)")
            #expect(notes.take() == (row.action.map { [$0] } ?? []), "\(row.method) \(row.target)")
        }
    }

    @Test("a refused change has no effect and causes no notification", arguments: ["/tmp", "/dev/shm"])
    func refusingHookChangesNothing(parent: String) async throws {
        let notes = Notes()
        let share = try TestShare(TemporaryFolder(in: parent)) {
            $0.hooks.allows = { _ in false }
            $0.hooks.completed = { notes.add(Self.text($0)) }
        }
        let before = try TemporaryFolder()
        let list = "{ find . | sort; find . -type f | sort | xargs md5sum; }"
        #expect(share.shell("\(Self.setUp); \(list) >\(before.path)/list") == 0)
        for row in Self.rows where row.action != nil {
            let response = try await share.client.send(
                row.method, row.target, row.fields, body: row.body.map { Array($0.utf8) })
            #expect(response.status == 403, "\(row.method) \(row.target)")
        }
        #expect(share.shell("\(list) | cmp - \(before.path)/list") == 0)
        #expect(notes.take() == [])
        // No lock was created either.
        #expect(!share.state.hasLocks)
    }

    @Test("downloads are reported to the completed hook if content is sent")
    func downloadsAreReportedButNotDecided() async throws {
        let notes = Notes()
        let share = try TestShare {
            $0.hooks.allows = { _ in false }
            $0.hooks.completed = { notes.add(Self.text($0)) }
            $0.filePath = { "/srv" + $0.description }
        }
        #expect(share.shell(Self.setUp) == 0)
        let whole = try await share.client.send("GET", "/a", principal: "anna")
        let tag = try #require(whole["ETag"])
        #expect(notes.take() == ["download /a by anna"])
        #expect(try await share.client.send("GET", "/l/f", [("Range", "bytes=0-0")]).status == 206)
        #expect(notes.take() == ["download /d/f"])
        #expect(try await share.client.send("GET", "/a", [("If-None-Match", tag)]).status == 304)
        #expect(try await share.client.send("GET", "/a", [("Range", "bytes=9-")]).status == 416)
        #expect(try await share.client.send("GET", "/none").status == 404)
        #expect(try await share.client.send("HEAD", "/a").status == 200)
        #expect(notes.take() == [])
    }

    @Test(
        "the allows hook can read an upload, completely or in parts, before it is published",
        arguments: [0, 10, 65_536, 65_537, 3_000_000])
    func hookCanReadUploads(count: Int) async throws {
        let sent = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let notes = Notes()
        let share = try TestShare {
            $0.filePath = { "/srv" + $0.description }
            $0.hooks.allows = { action in
                guard let content = action.content, content.length == Int64(count) else { return false }
                let whole = try? await content.bytes(count: count + 5)
                let part = try? await content.bytes(from: Int64(count - count / 3), count: 7)
                let beyond = try? await content.bytes(from: Int64(count), count: 1)
                notes.add(action.filePath)
                return whole == sent && part == Array(sent[(count - count / 3)...].prefix(7)) && beyond == []
            }
        }
        #expect(try await share.client.send("PUT", "/a", body: sent).status == 201)
        #expect(notes.take() == ["/srv/a"])
        #expect(try await share.client.send("GET", "/a").body == sent)
    }

    @Test("the allows hook can decide by content") func hookCanDecideByContent() async throws {
        let share = try TestShare {
            $0.hooks.allows = { action in
                guard let content = action.content else { return true }
                return (try? await content.bytes(count: 4)) == Array("%PDF".utf8)
            }
        }
        #expect(try await share.client.send("PUT", "/a", text: "%PDF-1.7").status == 201)
        #expect(try await share.client.send("PUT", "/a", text: "MZ").status == 403)
        #expect(try await share.client.send("GET", "/a").text == "%PDF-1.7")
    }

    @Test(
        "a change made while the hook decides is not covered by its decision",
        arguments: [
            ("PUT", "/new", "echo y >new"), ("PUT", "/a", "rm a"), ("MKCOL", "/l/new", "ln -sfn d/e l"),
            ("DELETE", "/d", "rm -r d; echo y >d"), ("MOVE", "/a", "echo y >new"),
            ("COPY", "/a", "mkdir new"),
        ])
    func changeDuringTheDecisionIsNotCovered(method: String, target: String, commands: String) async throws {
        let notes = Notes()
        let folder = try TemporaryFolder()
        let other = try TestShare(folder)
        let share = try TestShare(folder) {
            $0.hooks.allows = { _ in other.shell(commands) == 0 }
            $0.hooks.completed = { notes.add(Self.text($0)) }
        }
        #expect(share.shell(Self.setUp) == 0)
        let response = try await share.client.send(
            method, target, ["MOVE", "COPY"].contains(method) ? [("Destination", "/new")] : [],
            body: method == "PUT" ? Array("x".utf8) : nil)
        #expect(response.status == 503 && response["Retry-After"] != nil)
        #expect(notes.take() == [])
    }

    @Test("content returned in the response to a change is reported as a download")
    func returnedRepresentationsAreReportedAsDownloads() async throws {
        let notes = Notes()
        let share = try TestShare { $0.hooks.completed = { notes.add(Self.text($0)) } }
        #expect(share.shell(Self.setUp) == 0)
        let fields = [PreferTests.representation]
        let refused = fields + [("If-Match", "\"x\"")]
        #expect(
            try await share.client.send("PUT", "/l/f", refused, text: "y", principal: "anna").status == 412)
        #expect(notes.take() == ["download /d/f by anna"])
        #expect(try await share.client.send("PATCH", "/a", fields + Self.append, text: "").text == "x\n")
        #expect(notes.take() == ["upload /a over", "download /a"])
        #expect(try await share.client.send("PUT", "/d", fields, text: "").status == 405)
        #expect(notes.take() == [])
    }

    @Test(
        "the allows hook sees the result of a partial update, and no other content is published",
        arguments: [1, 200_000])
    func hookSeesTheResultOfAPartialUpdate(count: Int) async throws {
        let folder = try TemporaryFolder()
        let other = try TestShare(folder)
        let notes = Notes()
        let share = try TestShare(folder) {
            $0.hooks.allows = { action in
                guard let content = action.content else { return false }
                let bytes = (try? await content.bytes(count: 4)) ?? []
                notes.add("\(content.length) \(String(decoding: bytes, as: UTF8.self))")
                // During the second request, another program changes the content.
                return content.length == count + 3 || other.shell("echo else >a") == 0
            }
        }
        #expect(share.shell("printf old >a") == 0)
        let part = String(repeating: "n", count: count)
        #expect(try await share.client.send("PATCH", "/a", Self.append, text: part).status == 204)
        #expect(try await share.client.send("PATCH", "/a", Self.append, text: part).status == 503)
        #expect(notes.take() == ["\(count + 3) oldn", "\(2 * count + 3) oldn"])
        #expect(share.shell("[ \"$(cat a)\" = else ] && [ $(ls -A | wc -l) = 1 ]") == 0)
    }

    @Test("a change is visible when the completed hook is called") func completedHookSeesTheChange()
        async throws
    {
        let notes = Notes()
        let folder = try TemporaryFolder()
        let other = try TestShare(folder)
        let share = try TestShare(folder) {
            $0.hooks.completed = { action in
                let path = (action.destination ?? action.path).description
                notes.add("\(other.shell("test -e .\(path)"))")
            }
        }
        for (method, target) in [("MKCOL", "/d"), ("PUT", "/d/a"), ("COPY", "/d"), ("MOVE", "/d")] {
            let fields = ["MOVE", "COPY"].contains(method) ? [("Destination", "/\(method)")] : []
            #expect(
                try await share.client.send(method, target, fields, body: method == "PUT" ? [1] : nil).status
                    == 201)
        }
        #expect(notes.take() == ["0", "0", "0", "0"])
        #expect(try await share.client.send("DELETE", "/MOVE").status == 204)
        #expect(notes.take() == ["256"])
    }
}
