import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// A share below a prefix: all URLs sent and received by clients contain the prefix (RFC 4918 §8.3).
struct MountedShareTests {
    static let propertiesOfAll =
        "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:lockdiscovery/></D:prop></D:propfind>"

    static let scenarios: [Scenario] = [
        Scenario(
            "§9.1: hrefs have the prefix as sent",
            [
                step("MKCOL /x/files/d", [], nil, 201),
                step("PUT /x/files/d/a%20b", [], "1", 201),
                step(
                    "PROPFIND /x/files", [("Depth", "1")], nil, 207,
                    holds: ["<D:href>/x/files/</D:href>", "<D:href>/x/files/d/</D:href>"]),
                step(
                    "PROPFIND /x/f%69les/d/", [("Depth", "infinity")], nil, 207,
                    holds: ["<D:href>/x/f%69les/d/</D:href>", "<D:href>/x/f%69les/d/a%20b</D:href>"]),
                step(
                    "PROPFIND /x/files/d/a%20b", [("Depth", "0")], nil, 207,
                    holds: ["<D:href>/x/files/d/a%20b</D:href>"]),
                step(
                    "PROPPATCH /x/files/d", [], setProperty("p", "v"), 207,
                    holds: ["<D:href>/x/files/d/</D:href>"]),
                step("PROPFIND /d", [("Depth", "0")], nil, 404),
            ]),
        Scenario(
            "RFC 3986 §4.2: no href begins with two slashes",
            [
                step("PUT /x/files/a", [], "1", 201),
                step(
                    "PROPFIND //x//files///a", [("Depth", "0")], nil, 207,
                    holds: ["<D:href>/x//files/a</D:href>"]),
                step(
                    "PROPFIND //x/files", [("Depth", "1")], nil, 207,
                    holds: ["<D:href>/x/files/</D:href>", "<D:href>/x/files/a</D:href>"]),
            ]),
        Scenario(
            "§9.8.5, §9.9.4: a destination outside the prefix is on another server",
            [
                step("PUT /x/files/a", [], "1", 201),
                step("COPY /x/files/a", [("Destination", "/x/files/b")], nil, 201),
                step("MOVE /x/files/b", [("Destination", "http://localhost/x/f%69les/c")], nil, 201),
                step("GET /x/files/c", [], nil, 200, holds: ["1"]),
                step("MOVE /x/files/c", [("Destination", "/c")], nil, 502),
                step("MOVE /x/files/c", [("Destination", "/x/filesystem/c")], nil, 502),
                step("COPY /x/files/c", [("Destination", "http://localhost/x/c")], nil, 502),
                step("COPY /x/files/c", [("Destination", "http://elsewhere/x/files/d")], nil, 502),
                step("COPY /x/files/c", [("Destination", "/x/files/../c")], nil, 400),
                step("COPY /x/files/c", [("Destination", "/x/files/d?e")], nil, 400),
                // The destination is the share itself, an existing collection.
                step("MOVE /x/files/c", [("Destination", "/x/files")], nil, 403),
                step("GET /x/files/c", [], nil, 200),
            ]),
        Scenario(
            "§9.10.1: lock roots have the prefix",
            [
                step("MKCOL /x/files/d", [], nil, 201),
                step("PUT /x/files/d/a", [], "1", 201),
                step(
                    "LOCK /x/files/d", [("Depth", "infinity")], lockBody(scope: "exclusive"), 200,
                    holds: ["<D:lockroot><D:href>/x/files/d/</D:href></D:lockroot>"]),
                step("PUT /x/files/d/a", [], "2", 423, holds: ["<D:href>/x/files/d/</D:href>"]),
                step("DELETE /x/files/d", [], nil, 423, holds: ["<D:href>/x/files/d/</D:href>"]),
                step(
                    "LOCK /x/files/d/a", [], lockBody(scope: "exclusive"), 423,
                    holds: ["<D:href>/x/files/d/</D:href>"]),
                step(
                    "LOCK /x/files", [("Depth", "infinity")], lockBody(scope: "shared"), 207,
                    holds: ["<D:href>/x/files/d/</D:href>", "<D:href>/x/files/</D:href>"]),
                step(
                    "PROPFIND /x/files/d/a", [("Depth", "0")], propertiesOfAll, 207,
                    holds: ["<D:lockroot><D:href>/x/files/d/</D:href></D:lockroot>"]),
                step(
                    "LOCK /x/files/d", [("If", "(<$1>)")], nil, 200,
                    holds: ["<D:lockroot><D:href>/x/files/d/</D:href></D:lockroot>"]),
                step("UNLOCK /x/files/d", [("Lock-Token", "<$1>")], nil, 204),
            ]),
        Scenario(
            "§9.10.1: the root of the share ends in a slash",
            [
                step(
                    "LOCK /x/files", [("Depth", "0")], lockBody(scope: "exclusive"), 200,
                    holds: ["<D:lockroot><D:href>/x/files/</D:href></D:lockroot>"])
            ]),
        Scenario(
            "§10.4.2: a tag identifies a resource of the share by its full path",
            [
                step("PUT /x/files/a", [], "1", 201),
                step("PUT /x/files/b", [], "2", 201),
                lock("/x/files/a"),
                step("PUT /x/files/b", [("If", "</x/files/a> (<$1>)")], "3", 204),
                step("PUT /x/files/b", [("If", "<http://localhost/x/files/a> (<$1>)")], "3", 204),
                // A resource outside the share has no locks.
                step("PUT /x/files/b", [("If", "</a> (<$1>)")], "4", 412),
                step("PUT /x/files/b", [("If", "</a> (Not <$1>)")], "4", 204),
                step(
                    "MOVE /x/files/a", [("Destination", "/x/files/c"), ("If", "</x/files/a> (<$1>)")], nil,
                    201),
            ]),
        Scenario(
            "RFC 9110 §9.3.7: the share answers OPTIONS at and below its prefix",
            [
                step("OPTIONS /x/files", [], nil, 200),
                step("OPTIONS /x/files/new", [], nil, 200),
                step("BREW /x/files", [], nil, 501),
                step("GET /x/files", [], nil, 200),
            ]),
    ]

    @Test(arguments: scenarios)
    func urlsHaveTheMountPrefix(scenario: Scenario) async throws {
        try await TestShare.play(scenario, mountedAt: "/x/files")
    }

    @Test func rootHrefsDoNotBeginWithTwoSlashes() async throws {
        try await TestShare.play(
            Scenario(
                "RFC 3986 §4.2",
                [
                    step("PUT /a", [], "1", 201),
                    step("PROPFIND //a", [("Depth", "0")], nil, 207, holds: ["<D:href>/a</D:href>"]),
                    step("PROPFIND ///", [("Depth", "1")], nil, 207, holds: ["<D:href>/a</D:href>"]),
                    step(
                        "LOCK //a", [], lockBody(scope: "exclusive"), 200, holds: ["<D:href>/a</D:href>"]),
                ]))
    }

    // Requests that are answered without a task are also answered without one through a router.
    @Test func requestsToAMountedShareNeedNoTask() async throws {
        let share = try TestShare(TemporaryFolder(in: "/dev/shm"))
        let router = Router {
            $0.mount("/x", Router { $0.mount("/y", WebDAVHandler(share: share.share, page: nil)) })
        }
        #expect(try await TestClient(router).send("PUT", "/x/y/a", text: "1").status == 201)
        let rows = [
            ("GET", "/x/y/a", UInt16(200)), ("HEAD", "/x/y/a", 200), ("GET", "/x/y/b", 404),
            ("DELETE", "/x/y/a", 204),
        ]
        for (method, target, status) in rows {
            let request = try HTTPRequest(
                parsing: Array("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            let response = try router.respond(to: request).readyResponse
            #expect(response?.status.code == status, "\(method) \(target)")
        }
    }

    // Locks do not store the prefix, because a later server may mount the share under another one.
    @Test func lockRootUsesTheCurrentMountPrefix() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a", body: []).status == 201)
        #expect(try await share.client.send("LOCK", "/a", text: lockBody(scope: "exclusive")).status == 200)
        for prefix in ["/x", "/y/z"] {
            let client = TestClient(Router { $0.mount(prefix, WebDAVHandler(share: share.share, page: nil)) })
            let response = try await client.send(
                "PROPFIND", prefix + "/a", [("Depth", "0")], text: Self.propertiesOfAll)
            #expect(response.text.contains("<D:lockroot><D:href>\(prefix)/a</D:href></D:lockroot>"))
        }
    }
}
