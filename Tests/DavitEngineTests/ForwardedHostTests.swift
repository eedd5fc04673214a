import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Behind a trusted proxy, Destination may contain the forwarded host in addition to Host.
struct ForwardedHostTests {
    static let destinations: [(destination: String, status: Int)] = [
        ("/b", 201), ("http://localhost/b", 201), ("https://files.example.org/b", 201),
        ("http://files.example.org:443/b", 201), ("https://FILES.example.org/b", 201),
        ("https://files.example.org:8443/b", 502), ("https://example.org/b", 502),
        ("https://elsewhere/b", 502),
    ]

    @Test(arguments: destinations)
    func destinationOnTheForwardedHostIsLocal(destination: String, status: Int) async throws {
        let share = try TestShare()
        let client = TestClient(
            WebDAVHandler(share: share.share, page: nil).applying(
                BeforeHandling { request throws(HTTPError) in
                    request.forwardedOrigin = ForwardedOrigin(host: Array("files.example.org".utf8))
                    return nil
                }))
        #expect(try await client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await client.send("MOVE", "/a", [("Destination", destination)]).status == status)
        // Without a proxy, only Host is accepted.
        let isOwn = destination == "/b" || destination == "http://localhost/b"
        #expect(try await share.client.send("PUT", "/c", text: "1").status == 201)
        let fields = [("Destination", destination.replacing("/b", with: "/d"))]
        #expect(try await share.client.send("MOVE", "/c", fields).status == (isOwn ? 201 : 502))
    }

    /// The origin that a proxy forwards, and the host in Destination. The value of Host is `localhost`.
    static let proxies:
        [(origin: ForwardedOrigin?, publicHosts: [String], destination: String, status: Int)] = [
            // The proxy replaces Host, and the requested host is unknown.
            (ForwardedOrigin(peerAddress: "192.0.2.1"), [], "https://files.example.org/b", 201),
            (ForwardedOrigin(), [], "https://files.example.org/b", 201),
            (ForwardedOrigin(), [], "https://files.example.org:8443/b", 201),
            // The public host is configured.
            (ForwardedOrigin(), ["files.example.org"], "https://files.example.org/b", 201),
            (ForwardedOrigin(), ["files.example.org"], "https://other.example.org/b", 502),
            (ForwardedOrigin(host: Array("a.example".utf8)), [], "https://files.example.org/b", 502),
            (nil, ["files.example.org"], "http://Files.example.org:8080/b", 201),
            (nil, [], "https://files.example.org/b", 502),
        ]

    @Test(arguments: proxies)
    func destinationIsLocalBehindAProxyThatReplacesHost(
        origin: ForwardedOrigin?, publicHosts: [String], destination: String, status: Int
    ) async throws {
        let share = try TestShare { $0.publicHosts = publicHosts }
        let client = TestClient(
            WebDAVHandler(share: share.share, page: nil).applying(
                BeforeHandling { request throws(HTTPError) in
                    request.forwardedOrigin = origin
                    return nil
                }))
        #expect(try await client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await client.send("PUT", "/c", text: "1").status == 201)
        #expect(try await client.send("MOVE", "/a", [("Destination", destination)]).status == status)
        // The host of a Resource-Tag is compared in the same way; a resource on another host has no state.
        let tagged = destination.replacing("/b", with: "/c")
        let condition = [("If", "<\(tagged)> (Not <urn:x:1>)"), ("Overwrite", "T")]
        let isAbsent = [("If", "<\(tagged)> ([\"none\"])")]
        #expect(try await client.send("PUT", "/c", condition, text: "2").status == 204)
        #expect(try await client.send("PUT", "/c", isAbsent, text: "2").status == 412)
    }
}
