import Davit
import DavitTesting
import Synchronization
import Testing

/// The features of GCDWebDAVServer, with a share on a real socket.
struct ShareRowTests {
    /// Serves a temporary folder.
    private func serve(
        _ change: (inout WebDAVShare) -> Void = { _ in },
        asking body: (ChangeEventClient, String) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let files = try TemporaryFolder()
        var share = WebDAVShare(files.path, stateFolder: folder.path + "/state")
        change(&share)
        try Served.run(try WebServer(share, configuration: Served.configuration())) { client throws in
            try body(client, files.path)
        }
    }

    @Test("W102 which extensions and which hidden items are served")
    func w102() throws {
        try serve {
            $0.rules.allowedExtensions = ["txt"]
            $0.rules.allowsHiddenItems = false
        } asking: { client, _ throws in
            #expect(try client.send("PUT /a.TXT", content: "x").status == 201)
            for name in ["/a.exe", "/a", "/.a.txt"] {
                #expect(try client.send("PUT \(name)", content: "x").status == 403)
                #expect(try client.send("GET \(name)").status == 404)
                #expect(try client.send("MOVE /a.TXT", ["Destination: \(name)"]).status == 403)
            }
        }
        try serve { client, _ throws in #expect(try client.send("PUT /.a", content: "x").status == 201) }
    }

    /// Requests for the five actions that a hook can veto.
    static let changes: [(line: String, fields: [String], content: String)] = [
        ("PUT /new", [], "x"), ("MOVE /a", ["Destination: /b"], ""), ("COPY /a", ["Destination: /b"], ""),
        ("DELETE /a", [], ""), ("MKCOL /new", [], ""),
    ]

    @Test("W103 upload, move, copy, delete and a new folder can be vetoed")
    func w103() throws {
        let mayChange = Atomic<Bool>(true)
        try serve {
            $0.hooks.allows = { _ in mayChange.load(ordering: .relaxed) }
        } asking: { client, _ throws in
            for (line, fields, content) in Self.changes {
                mayChange.store(true, ordering: .relaxed)
                _ = try client.send("PUT /a", content: "a")
                _ = try client.send("DELETE /b")
                _ = try client.send("DELETE /new")
                mayChange.store(false, ordering: .relaxed)
                #expect(try client.send(line, fields, content: content).status == 403)
                #expect(try client.send("GET /a").content == "a")
                #expect(try client.send("GET /b").status == 404)
                #expect(try client.send("GET /new").status == 404)
            }
        }
    }

    @Test("W104 completed actions are reported with the path of the file")
    func w104() throws {
        let told = RecordedActions()
        try serve {
            $0.hooks.completed = { action in told.add(action) }
        } asking: { client, folder throws in
            for (line, fields, content) in [
                ("MKCOL /d", [], ""), ("PUT /a", [], "x"), ("COPY /a", ["Destination: /d/b"], ""),
                ("MOVE /a", ["Destination: /d/c"], ""), ("GET /d/c", [], ""), ("DELETE /d", [], ""),
            ] {
                #expect(try client.send(line, fields, content: content).status / 100 == 2)
            }
            #expect(
                told.all == [
                    "createCollection \(folder)/d", "upload \(folder)/a", "copy \(folder)/a \(folder)/d/b",
                    "move \(folder)/a \(folder)/d/c", "download \(folder)/d/c", "delete \(folder)/d",
                ])
        }
    }

    private final class RecordedActions: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func add(_ action: ShareAction) {
            let files = [action.filePath] + (action.destinationFilePath.map { [$0] } ?? [])
            lines.withLock { $0.append("\(action.kind) " + files.joined(separator: " ")) }
        }
    }

    @Test("W105 OPTIONS is the same for all clients, and lists the allowed methods")
    func w105() throws {
        try serve { client, _ throws in
            for agent in ["WebDAVFS/3.0.0", "WebDAVLib/1.3", "curl/8.0"] {
                let answer = try client.send("OPTIONS /", ["User-Agent: \(agent)"])
                #expect(answer.status == 200 && answer["DAV"]?.hasPrefix("1, 2") == true)
                #expect(answer["Allow"]?.contains("PROPFIND") == true)
            }
        }
    }

    @Test("W106 GET and HEAD, ranges, and the page of a folder")
    func w106() throws {
        try serve { client, _ throws in
            #expect(try client.send("PUT /a", content: "12345").status == 201)
            #expect(try client.send("GET /a", ["Range: bytes=1-2"]).content == "23")
            #expect(try client.send("GET /a", ["Range: bytes=0-0,2-2"]).status == 206)
            let head = try client.send("HEAD /a")
            #expect(head.status == 200 && head["Content-Length"] == "5" && head.content.isEmpty)
            #expect(try client.send("GET /").content.contains("<html"))
        }
    }

    @Test("W107 PUT without a parent, on a folder, with a disallowed name, and twice")
    func w107() throws {
        try serve {
            $0.rules.allowsHiddenItems = false
        } asking: { client, _ throws in
            #expect(try client.send("PUT /none/a", content: "x").status == 409)
            #expect(try client.send("MKCOL /d").status == 201)
            #expect(try client.send("PUT /d", content: "x").status == 405)
            #expect(try client.send("PUT /d/.x", content: "x").status == 403)
            #expect(try client.send("PUT /d/a", content: "x").status == 201)
            #expect(try client.send("PUT /d/a", content: "y").status == 204)
        }
    }

    @Test("W108 DELETE removes the entire tree, and accepts no other depth")
    func w108() throws {
        try serve { client, _ throws in
            #expect(try client.send("MKCOL /d").status == 201)
            #expect(try client.send("PUT /d/a", content: "x").status == 201)
            #expect(try client.send("DELETE /d", ["Depth: 0"]).status == 400)
            #expect(try client.send("DELETE /d", ["Depth: infinity"]).status == 204)
            #expect(try client.send("GET /d/a").status == 404)
        }
    }

    @Test("W109 MKCOL with content, without a parent, and of an existing resource")
    func w109() throws {
        try serve { client, _ throws in
            #expect(try client.send("MKCOL /d", ["Content-Type: text/plain"], content: "x").status == 415)
            #expect(try client.send("MKCOL /none/d").status == 409)
            #expect(try client.send("MKCOL /d").status == 201)
            #expect(try client.send("MKCOL /d").status == 405)
        }
    }

    @Test(
        "W110 and W111 COPY and MOVE replace unless Overwrite is F, and refuse hidden destinations",
        arguments: ["COPY", "MOVE"])
    func w110w111(method: String) throws {
        try serve {
            $0.rules.allowsHiddenItems = false
        } asking: { client, _ throws in
            let host = "http://localhost:\(client.address.port)"
            #expect(try client.send("PUT /a", content: "a").status == 201)
            #expect(try client.send("PUT /b", content: "b").status == 201)
            #expect(try client.send("\(method) /a", ["Destination: /b", "Overwrite: F"]).status == 412)
            #expect(try client.send("\(method) /a", ["Destination: /.b"]).status == 403)
            #expect(try client.send("\(method) /.a", ["Destination: /c"]).status == 404)
            let whole = ["Destination: \(host)/b"]
            #expect(
                try client.send("\(method) /a", whole, host: "localhost:\(client.address.port)").status == 204
            )
            #expect(try client.send("GET /b").content == "a")
        }
    }

    @Test("W112 PROPFIND with every depth")
    func w112() throws {
        try serve { client, _ throws in
            #expect(try client.send("MKCOL /d").status == 201)
            #expect(try client.send("PUT /d/a", content: "12345").status == 201)
            for (depth, count) in [("0", 1), ("1", 2), ("infinity", 3)] {
                let text = try client.send("PROPFIND /", ["Depth: \(depth)"]).content
                #expect(text.split(separator: "<D:response>").count - 1 == count)
            }
            let text = try client.send("PROPFIND /d/a", ["Depth: 0"]).content
            for name in ["resourcetype", "creationdate", "getlastmodified", "getcontentlength>5"] {
                #expect(text.contains("<D:\(name)"))
            }
        }
    }

    @Test("W113 locks are enforced for every client, and UNLOCK requires the token")
    func w113() throws {
        try serve { client, _ throws in
            let body = """
                <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>
                """
            let answer = try client.send("LOCK /a", ["User-Agent: curl/8.0"], content: body)
            let token = try #require(answer["Lock-Token"])
            #expect(answer.status == 201)
            #expect(try client.send("PUT /a", content: "x").status == 423)
            #expect(try client.send("UNLOCK /a", ["Lock-Token: <urn:uuid:0>"]).status == 409)
            #expect(try client.send("UNLOCK /a", ["Lock-Token: \(token)"]).status == 204)
            #expect(try client.send("PUT /a", content: "x").status == 204)
        }
    }

    @Test("W114 new features: PROPPATCH, If, tags, names, types, quota and a page")
    func w114() throws {
        try serve { client, _ throws in
            #expect(try client.send("PUT /a.txt", content: "x").status == 201)
            let update = """
                <propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x">1</x></prop></set></propertyupdate>
                """
            #expect(try client.send("PROPPATCH /a.txt", content: update).status == 207)
            #expect(try client.send("PUT /a.txt", ["If: ([\"none\"])"], content: "y").status == 412)
            let text = try client.send("PROPFIND /a.txt", ["Depth: 0"]).content
            for name in ["getetag", "displayname", "getcontenttype", "supportedlock", "lockdiscovery"] {
                #expect(text.contains("<D:\(name)"))
            }
            let quota = """
                <propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>
                """
            #expect(
                try client.send("PROPFIND /", ["Depth: 0"], content: quota).content.contains(
                    "<D:quota-available-bytes>"))
            #expect(try client.send("GET /").content.contains("a.txt"))
        }
    }

    @Test("macOS metadata files are stored in the state folder, across a restart")
    func sidecarsAreStoredOutsideTheShare() throws {
        let folder = try TemporaryFolder()
        let files = try TemporaryFolder()
        var share = WebDAVShare(files.path, stateFolder: folder.path + "/state")
        share.rules.macMetadata = .aside
        let server = try WebServer(share, configuration: Served.configuration())
        try Served.run(server) { client throws in
            #expect(try client.send("PUT /._a", content: "x").status == 201)
            #expect(try client.send("PUT /b", content: "x").status == 201)
            #expect(!(try client.send("GET /").content.contains("._a")))
        }
        try Served.run(server) { client throws in
            #expect(try client.send("GET /._a").content == "x")
            #expect(try client.send("GET /b").content == "x")
        }
        // Without the policy, only files in the shared folder are served.
        let other = WebDAVShare(files.path, stateFolder: folder.path + "/other")
        try Served.run(try WebServer(other, configuration: Served.configuration())) { client throws in
            #expect(try client.send("GET /._a").status == 404)
            #expect(try client.send("GET /b").content == "x")
        }
    }

    @Test("macOS metadata files respect the free space limit") func sidecarsRespectTheFreeSpaceLimit() throws
    {
        let folder = try TemporaryFolder()
        let files = try TemporaryFolder()
        var share = WebDAVShare(files.path, stateFolder: folder.path + "/state")
        share.rules.macMetadata = .aside
        share.keptFreeBytes = .max
        try Served.run(try WebServer(share, configuration: Served.configuration())) { client throws in
            for name in ["/._a", "/a"] {
                #expect(try client.send("PUT \(name)", content: "x").status == 507)
                #expect(try client.send("GET \(name)").status == 404)
            }
        }
    }
}
