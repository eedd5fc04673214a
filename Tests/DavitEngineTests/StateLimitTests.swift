import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

/// Limits on the state that a client can create on the server. Each is tested at the limit and just above it.
struct StateLimitTests {
    private static func value(_ count: Int) -> String { String(repeating: "v", count: count) }

    /// Returns the size charged for a property with a value of `count` bytes.
    private static func bytes(ofValue count: Int) throws -> Int {
        let update = try PropertyUpdate.parse(Array(setProperty("p", value(count)).utf8))
        return update.instructions.reduce(0) { sum, instruction in
            guard case .set(let name, let value) = instruction else { return sum }
            return sum + StoredProperty(name: name, value: value).byteCount
        }
    }

    // MARK: Dead properties

    @Test func propPatchIsRefusedOverTheLimit() async throws {
        let limit = try Self.bytes(ofValue: 50)
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent)) { $0.propertyLimitBytes = limit }
            try await share.play(
                Scenario(
                    "RFC 4918 §9.2.1",
                    [
                        step("PUT /a", [], "x", 201),
                        step("PROPPATCH /a", [], setProperty("p", Self.value(50)), 207, holds: ["200 OK"]),
                        step(
                            "PROPPATCH /a", [], setProperty("p", Self.value(51)), 207,
                            holds: ["507 Insufficient Storage", "<D:quota-not-exceeded/>", "<N:p"],
                            lacks: ["200 OK"]),
                        step("PROPPATCH /a", [], setProperty("q", ""), 207, holds: ["507 Insufficient"]),
                        step(
                            "PROPFIND /a", [("Depth", "0")], askProperty("p"), 207,
                            holds: [">\(Self.value(50))<"]),
                        step("PROPPATCH /a", [], setProperty("p", Self.value(9)), 207, holds: ["200 OK"]),
                    ]))
            let both = """
                <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:remove><D:prop><x:p/></D:prop></D:remove>\
                <D:set><D:prop><x:q>\(Self.value(51))</x:q></D:prop></D:set></D:propertyupdate>
                """
            let answer = try await share.client.send("PROPPATCH", "/a", text: both)
            #expect(answer.text.contains("507 Insufficient Storage"))
            #expect(answer.text.contains("424 Failed Dependency"))
        }
    }

    /// The request also changes a file attribute, which uses another code path.
    @Test func propPatchOfAttributesIsRefusedOverTheLimit() async throws {
        let limit = try Self.bytes(ofValue: 50)
        let share = try TestShare { $0.propertyLimitBytes = limit }
        func body(_ count: Int) -> String {
            """
            <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:p>\(Self.value(count))</x:p>\
            <a:executable xmlns:a="http://apache.org/dav/props/">T</a:executable></D:prop></D:set></D:propertyupdate>
            """
        }
        #expect(try await share.client.send("PUT", "/a", text: "x").status == 201)
        let refused = try await share.client.send("PROPPATCH", "/a", text: body(51))
        #expect(refused.text.contains("507 Insufficient Storage"))
        #expect(refused.text.contains("424 Failed Dependency"))
        #expect(share.shell("test ! -x a") == 0)
        let accepted = try await share.client.send("PROPPATCH", "/a", text: body(50))
        #expect(!accepted.text.contains("HTTP/1.1 507"))
        #expect(share.shell("test -x a") == 0)
    }

    @Test func extendedMkColIsRefusedOverTheLimit() async throws {
        let limit = try Self.bytes(ofValue: 50)
        let share = try TestShare { $0.propertyLimitBytes = limit }
        func body(_ count: Int) -> String {
            """
            <D:mkcol xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype>\
            <x:p>\(Self.value(count))</x:p></D:prop></D:set></D:mkcol>
            """
        }
        let xml = ("Content-Type", "application/xml")
        let refused = try await share.client.send("MKCOL", "/c", [xml], text: body(51))
        #expect(refused.status == 507)
        #expect(refused.text.contains("507 Insufficient Storage"))
        #expect(refused.text.contains("<D:quota-not-exceeded/>"))
        #expect(refused.text.contains("424 Failed Dependency"))
        #expect(try await share.client.send("PROPFIND", "/c", [("Depth", "0")]).status == 404)
        #expect(share.names() == [])
        #expect(try await share.client.send("MKCOL", "/c", [xml], text: body(50)).status == 201)
    }

    /// A resource that an earlier version of davit stored with properties over the limit can be read, moved
    /// and reduced, but not copied.
    @Test func propertiesOverTheLimitAreNotCopied() async throws {
        let store = MemoryStateStore()
        let folder = try TemporaryFolder()
        let limit = try Self.bytes(ofValue: 50)
        let old = try TestShare(folder, state: store)
        try await old.play(
            Scenario(
                "without the limit",
                [
                    step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                    step("PROPPATCH /d/a", [], setProperty("p", Self.value(51)), 207),
                    step("PROPPATCH /d", [], setProperty("p", Self.value(50)), 207),
                ]))
        let share = try TestShare(folder, state: store) { $0.propertyLimitBytes = limit }
        try await share.play(
            Scenario(
                "with the limit",
                [
                    step("PROPFIND /d/a", [("Depth", "0")], askProperty("p"), 207, holds: [Self.value(51)]),
                    step(
                        "COPY /d/a", [("Destination", "/b")], nil, 507, holds: ["<D:quota-not-exceeded/>"]),
                    step("COPY /d", [("Destination", "/e")], nil, 507),
                    step("PROPFIND /e", [("Depth", "0")], nil, 404),
                    step("COPY /d", [("Destination", "/e"), ("Depth", "0")], nil, 201),
                    step("PROPFIND /e", [("Depth", "0")], askProperty("p"), 207, holds: [Self.value(50)]),
                    step("MOVE /d/a", [("Destination", "/b")], nil, 201),
                    step("PROPFIND /b", [("Depth", "0")], askProperty("p"), 207, holds: [Self.value(51)]),
                    step("PROPPATCH /b", [], setProperty("p", Self.value(50)), 207, holds: ["200 OK"]),
                    step("COPY /b", [("Destination", "/c")], nil, 201),
                ]))
    }

    // MARK: Locks

    private static func lockBody(owner: String) -> String {
        """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>\
        \(owner)</D:lockinfo>
        """
    }

    @Test func lengthOfLockOwnersIsLimited() async throws {
        let share = try TestShare()
        func owner(_ bytes: Int) throws -> String {
            let empty = try LockInfo.parse(Array(Self.lockBody(owner: "<D:owner>-</D:owner>").utf8)).owner
            let frame = try #require(empty).element.count - 1
            return "<D:owner>\(Self.value(bytes - frame))</D:owner>"
        }
        #expect(try await share.client.send("PUT", "/a", text: "x").status == 201)
        let refused = try await share.client.send(
            "LOCK", "/a", text: Self.lockBody(owner: try owner(8_193)))
        #expect(refused.status == 507)
        #expect(!share.state.hasLocks)
        let accepted = try await share.client.send(
            "LOCK", "/a", text: Self.lockBody(owner: try owner(8_192)))
        #expect(accepted.status == 200)
        // A refused lock creates no resource.
        let new = try await share.client.send("LOCK", "/n", text: Self.lockBody(owner: try owner(8_193)))
        #expect(new.status == 507)
        #expect(share.names() == ["a"])
    }

    @Test func locksPerResourceAreLimited() async throws {
        let share = try TestShare { $0.lockLimitPerResource = 3 }
        try await share.play(
            Scenario(
                "shared locks",
                [
                    step("PUT /a", [], "x", 201), step("PUT /b", [], "x", 201),
                    lock("/a", scope: "shared"), lock("/a", scope: "shared"), lock("/a", scope: "shared"),
                    lock("/a", scope: "shared", status: 507), lock("/b", scope: "shared"),
                    step("UNLOCK /a", [("Lock-Token", "<$2>")], nil, 204), lock("/a", scope: "shared"),
                ]))
    }

    @Test func locksPerClientAreLimited() async throws {
        let limits = QuotaLimits(countPerClient: 2, bytesPerClient: 1 << 20, count: 4, bytes: 1 << 20)
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent)) { $0.lockLimits = limits }
            try await share.play(
                Scenario(
                    "per client and in total",
                    [
                        step("PUT /a", [], "x", 201), lock("/a", as: "anna"),
                        lock("/n1", status: 201, as: "anna"), lock("/n2", status: 507, as: "anna"),
                        step("GET /n2", [], nil, 404), lock("/b1", status: 201, as: "bert"),
                        lock("/b2", status: 201, as: "bert"), lock("/c", status: 507, as: "carl"),
                        // A refreshed lock does not count as a new one.
                        step("LOCK /a", [("If", "(<$1>)")], nil, 200, as: "anna"),
                        step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204, as: "anna"),
                        lock("/c", status: 201, as: "carl"), lock("/d", status: 507, as: "dora"),
                        // Expired locks do not count.
                        later(seconds: 100_000), lock("/d", status: 201, as: "dora"),
                    ]))
        }
    }

    @Test func bytesOfLocksAreLimited() async throws {
        let share = try TestShare {
            $0.lockLimits = QuotaLimits(
                countPerClient: 100, bytesPerClient: 1_000, count: 100, bytes: 1_200)
        }
        func status(_ target: String, _ account: String) async throws -> UInt16 {
            try await share.client.send(
                "LOCK", target, text: Self.lockBody(owner: "<D:owner>\(Self.value(400))</D:owner>"),
                principal: account
            ).status
        }
        #expect(try await status("/a", "anna") == 201)
        #expect(try await status("/b", "anna") == 507)
        #expect(try await status("/c", "bert") == 507)
        #expect(try await status("/d", "carl") == 507)
    }

    // MARK: Uploads

    @Test func fieldsOfUploadsAreLimited() async throws {
        let share = try TestShare { $0.uploadFieldLimitBytes = 1_000 }
        func metadata(_ bytes: Int) -> (String, String) {
            let name = "filename \(Base64.encode(Array("n".utf8))),x "
            let frame = "Upload-Metadata: \r\n".utf8.count + name.utf8.count
            let rest = (bytes - frame) / 4 * 4
            return ("Upload-Metadata", name + String(repeating: "YWFh", count: rest / 4))
        }
        func create(_ bytes: Int) async throws -> UInt16 {
            try await share.client.send(
                "POST", "/", [TestShare.tus, ("Upload-Length", "5"), metadata(bytes)]
            ).status
        }
        #expect(try await create(1_000) == 201)
        #expect(try await create(1_010) == 431)
        #expect(share.names().count == 1)
        let draft = [("Upload-Complete", "?0"), ("If", "(Not <\(Self.value(1_000))>)")]
        #expect(try await share.client.send("PUT", "/d", draft, body: []).status == 431)
    }

    @Test func openUploadsPerClientAreLimited() async throws {
        let folder = try TemporaryFolder()
        let store = MemoryStateStore()
        func makeShare() throws -> TestShare {
            try TestShare(folder, state: store) {
                $0.uploadLimits = QuotaLimits(
                    countPerClient: 2, bytesPerClient: 1 << 20, count: 3, bytes: 1 << 20)
            }
        }
        var share = try makeShare()
        func tus(_ name: String, _ account: String) async throws -> TestResponse {
            try await share.client.send(
                "POST", "/",
                [
                    TestShare.tus, ("Upload-Length", "5"),
                    ("Upload-Metadata", "filename \(Base64.encode(Array(name.utf8)))"),
                ], principal: account)
        }
        func draft(_ name: String, _ account: String) async throws -> UInt16 {
            try await share.client.send(
                "PUT", "/\(name)", [("Upload-Complete", "?0")], body: [], principal: account
            ).status
        }
        let first = try #require(try await tus("a", "anna")["Location"])
        #expect(try await draft("b", "anna") == 201)
        // The second pass uses a restarted share.
        for _ in 0..<2 {
            #expect(try await tus("c", "anna").status == 507)
            #expect(try await draft("c", "anna") == 507)
            share = try makeShare()
        }
        #expect(try await draft("d", "bert") == 201)
        #expect(try await draft("e", "carl") == 507)
        // The record of a completed upload is dropped if a new upload would otherwise exceed the limit.
        let done = try await share.client.send(
            "PATCH", first, [TestShare.tus, TestShare.offsetType, ("Upload-Offset", "0")],
            body: Array("abcde".utf8), principal: "anna")
        #expect(done.status == 204)
        #expect(try await share.client.send("HEAD", first, [TestShare.tus], principal: "anna").status == 200)
        #expect(try await tus("c", "anna").status == 201)
        #expect(try await share.client.send("HEAD", first, [TestShare.tus], principal: "anna").status == 404)
        #expect(try await share.text("/a") == "abcde")
    }

    /// Without accounts, uploads are counted per network.
    @Test func openUploadsPerNetworkAreLimited() async throws {
        let share = try TestShare {
            $0.uploadLimits = QuotaLimits(
                countPerClient: 1, bytesPerClient: 1 << 20, count: 9, bytes: 1 << 20)
        }
        func create(_ name: String, from address: String) async throws -> UInt16 {
            let handler = Addressed(handler: share.client.application, address: address)
            return try await TestClient(handler).send(
                "PUT", "/\(name)", [("Upload-Complete", "?0")], body: []
            ).status
        }
        #expect(try await create("a", from: "192.0.2.1") == 201)
        #expect(try await create("b", from: "192.0.2.1") == 507)
        #expect(try await create("c", from: "2001:db8::1") == 201)
        #expect(try await create("d", from: "2001:db8::2") == 507)
    }

    // MARK: Client identification and logging

    @Test func addressesOfOneNetworkCountAsOneClient() {
        #expect(PeerNetwork.text(of: "192.0.2.1") == "192.0.2.1")
        #expect(PeerNetwork.text(of: "::ffff:192.0.2.1") == "192.0.2.1")
        #expect(PeerNetwork.text(of: "2001:db8::1:2:3:4") == "2001:db8:0:0::/64")
        #expect(PeerNetwork.text(of: "2001:db8::5") == "2001:db8:0:0::/64")
        #expect(PeerNetwork.text(of: "fe80::1%eth0") == "fe80:0:0:0::/64")
        #expect(PeerNetwork.text(of: "unix:") == "")
        #expect(ClientKey(principal: "anna", network: "192.0.2.1") == .account("anna"))
        #expect(ClientKey(principal: nil, network: "192.0.2.1") == .network("192.0.2.1"))
    }

    @Test func refusalsAreLoggedWithTheirClient() async throws {
        let lines = Mutex<[LimitRefusal]>([])
        let log = LimitLog { line in lines.withLock { $0.append(line) } }
        let share = try TestShare(limitLog: log) { $0.lockOwnerLimitBytes = 10 }
        let body = Self.lockBody(owner: "<D:owner>somebody</D:owner>")
        for _ in 0..<3 {
            #expect(try await share.client.send("LOCK", "/a", text: body, principal: "anna").status == 507)
        }
        share.wait(seconds: 60)
        #expect(try await share.client.send("LOCK", "/a", text: body, principal: "bert").status == 507)
        #expect(
            lines.withLock { $0 } == [
                LimitRefusal(
                    cause: "size of a lock's owner", account: "anna", address: "", suppressedCount: 0),
                LimitRefusal(
                    cause: "size of a lock's owner", account: "bert", address: "", suppressedCount: 2),
            ])
    }
}

/// Requests from one address.
struct Addressed: Handler {
    let handler: WebDAVHandler
    let address: String

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        request.peerAddress = address
        return try handler.respond(to: request)
    }
}
