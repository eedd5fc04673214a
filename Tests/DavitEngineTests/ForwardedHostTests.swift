import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Behind a trusted proxy a Destination may name the host that the proxy was asked, besides that of the request.
struct ForwardedHostTests {
    static let destinations: [(destination: String, status: Int)] = [
        ("/b", 201), ("http://localhost/b", 201), ("https://files.example.org/b", 201),
        ("http://files.example.org:443/b", 201), ("https://FILES.example.org/b", 201),
        ("https://files.example.org:8443/b", 502), ("https://example.org/b", 502),
        ("https://elsewhere/b", 502),
    ]

    @Test(arguments: destinations)
    func destinationsOnTheForwardedHostAreOurs(destination: String, status: Int) async throws {
        let share = try TestShare()
        let client = TestClient(
            WebDAVHandler(share: share.share, page: nil).behind(
                BeforeHandling { request throws(HTTPError) in
                    request.forwardedOrigin = ForwardedOrigin(host: Array("files.example.org".utf8))
                    return nil
                }))
        #expect(try await client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await client.send("MOVE", "/a", [("Destination", destination)]).status == status)
        // Without a proxy only the host of the request is.
        let isOwn = destination == "/b" || destination == "http://localhost/b"
        #expect(try await share.client.send("PUT", "/c", text: "1").status == 201)
        let fields = [("Destination", destination.replacing("/b", with: "/d"))]
        #expect(try await share.client.send("MOVE", "/c", fields).status == (isOwn ? 201 : 502))
    }
}
