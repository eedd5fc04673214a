import DavitWebDAV
import DavitXML
import Testing

struct LockDiscoveryWriterTests {
    static func lock(
        _ scope: LockScope = .exclusive, depth: Depth = .infinity, owner: String? = nil, seconds: Int64 = 600,
        root: String = "/a"
    ) -> ActiveLock {
        ActiveLock(
            scope: scope, depth: depth, owner: owner.map { PropertyValue(element: Array($0.utf8)) },
            remainingSeconds: seconds, token: LockToken(uri: "opaquelocktoken:1"), rootHref: Array(root.utf8))
    }

    /// Returns an active lock, in the order of the grammar in RFC 4918 §14.1.
    static func element(
        scope: String, depth: String, owner: String = "", seconds: String, root: String
    ) -> String {
        """
        <D:activelock><D:lockscope><D:\(scope)/></D:lockscope><D:locktype><D:write/></D:locktype>\
        <D:depth>\(depth)</D:depth>\(owner)<D:timeout>Second-\(seconds)</D:timeout>\
        <D:locktoken><D:href>opaquelocktoken:1</D:href></D:locktoken>\
        <D:lockroot><D:href>\(root)</D:href></D:lockroot></D:activelock>
        """
    }

    static let owner = "<o:owner xmlns:o=\"DAV:\"> a<o:href>b</o:href>&amp; </o:owner>"

    static let locks: [([ActiveLock], String)] = [
        ([lock()], element(scope: "exclusive", depth: "infinity", seconds: "600", root: "/a")),
        (
            [lock(.shared, depth: .zero, owner: owner, seconds: 0, root: "/b/")],
            element(scope: "shared", depth: "0", owner: owner, seconds: "0", root: "/b/")
        ),
        (
            [lock(seconds: -1, root: "/a&b"), lock(.shared, seconds: 4_294_967_295)],
            element(scope: "exclusive", depth: "infinity", seconds: "0", root: "/a%26b")
                + element(scope: "shared", depth: "infinity", seconds: "4294967295", root: "/a")
        ),
    ]

    @Test(arguments: locks)
    func lockResponsesAreWritten(locks: [ActiveLock], elements: String) throws {
        // RFC 4918 §9.10.1.
        let body = LockDiscoveryWriter.lockResponse(locks)
        #expect(
            String(decoding: body, as: UTF8.self) == """
                <?xml version="1.0" encoding="utf-8"?><D:prop xmlns:D="DAV:"><D:lockdiscovery>\(elements)\
                </D:lockdiscovery></D:prop>
                """)
        let discovery = try #require(try XMLDocument.parse(body).root.children.first)
        #expect(discovery.children.count == locks.count)
    }

    @Test(arguments: locks)
    func multistatusHasTheSameLockDiscovery(locks: [ActiveLock], elements: String) throws {
        #expect(
            try MultistatusWriterTests.property { $0.lockDiscovery(locks) }
                == "<D:lockdiscovery>\(elements)</D:lockdiscovery>")
    }

    @Test func ownerOfARequestIsReturned() throws {
        let request = """
            <lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype>\
            <owner>\(String(repeating: "x", count: 300))<a xmlns="urn:x"/></owner></lockinfo>
            """
        let info = try LockInfo.parse(Array(request.utf8))
        let lock = ActiveLock(
            scope: info.scope, depth: .zero, owner: info.owner, remainingSeconds: 1,
            token: LockToken(uri: "urn:uuid:<&>"), rootHref: Array("/".utf8))
        let active = try XMLDocument.parse(LockDiscoveryWriter.lockResponse([lock])).root.children[0]
            .children[0]
        let owner = try #require(active.children.first { $0.local == "owner" })
        #expect(owner.serializedSelfContained() == info.owner?.element)
        #expect(active.children.first { $0.local == "locktoken" }?.text == "urn:uuid:<&>")
    }
}
