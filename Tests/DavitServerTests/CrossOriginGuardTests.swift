import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Pages of other origins cannot submit forms (X14 in docs/coming-from-gcdwebserver.md).
struct CrossOriginGuardTests {
    typealias Row = (method: String, host: String, fields: [(String, String)], isTaken: Bool)

    static let rows: [Row] = [
        // Clients that are not browsers.
        ("POST", "a.example", [], true),
        // Fetch Metadata §2.2: browsers send Sec-Fetch-Site to HTTPS origins and to loopback addresses.
        ("POST", "a.example", [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://a.example")], true),
        ("POST", "a.example", [("Sec-Fetch-Site", "none")], true),
        ("POST", "a.example", [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")], true),
        ("POST", "a.example", [("Sec-Fetch-Site", "same-site"), ("Origin", "https://b.a.example")], false),
        (
            "POST", "localhost:8080", [("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:3000")],
            false
        ),
        ("POST", "a.example", [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")], false),
        ("POST", "a.example", [("Sec-Fetch-Site", "cross-site")], false),
        ("POST", "a.example", [("Sec-Fetch-Site", "new-value")], false),
        // Sec-Fetch-Site overrides Origin.
        ("POST", "a.example", [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://a.example")], false),
        // RFC 6454 §7: clients that send only Origin.
        ("POST", "a.example", [("Origin", "http://a.example")], true),
        ("POST", "a.example", [("Origin", "https://A.example:443")], true),
        ("POST", "a.example:8080", [("Origin", "http://a.example:8080")], true),
        ("POST", "[::1]:8080", [("Origin", "http://[::1]:8080")], true),
        ("POST", "a.example:8080", [("Origin", "http://a.example:3000")], false),
        ("POST", "a.example:8080", [("Origin", "http://a.example")], false),
        ("POST", "a.example", [("Origin", "http://evil.example")], false),
        ("POST", "a.example", [("Origin", "http://a.example.evil.example")], false),
        ("POST", "a.example", [("Origin", "http://evil.example/a.example")], false),
        ("POST", "a.example", [("Origin", "http://a.example@evil.example")], false),
        ("POST", "a.example", [("Origin", "null")], false), ("POST", "a.example", [("Origin", "")], false),
        ("POST", "a.example", [("Origin", "a.example")], false),
        ("POST", "a.example", [("Origin", "http://a.example"), ("Origin", "http://a.example")], false),
        // `files.example` is reached only over TLS, so an http page of this name may have been forged on the
        // network, even if the server does not know that the request used TLS.
        ("POST", "files.example", [("Origin", "http://files.example")], false),
        ("POST", "files.example:8080", [("Origin", "http://files.example:8080")], true),
        ("POST", "10.0.0.1", [("Origin", "http://files.example")], false),
        ("POST", "10.0.0.1", [("Origin", "http://plain.example")], true),
        ("POST", "a.example", [("Origin", "app://a.example")], false),
        // An allowed origin, and a configured name of this server.
        ("POST", "a.example", [("Origin", "https://app.example")], true),
        ("POST", "a.example", [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://app.example")], true),
        ("POST", "10.0.0.1", [("Origin", "https://Files.Example")], true),
        ("POST", "10.0.0.1", [("Origin", "https://files.example:443")], true),
        // Another port of the same host is another server.
        ("POST", "10.0.0.1", [("Origin", "https://files.example:8443")], false),
        ("POST", "10.0.0.1", [("Origin", "http://plain.example:8080")], false),
        ("POST", "10.0.0.1", [("Origin", "https://ports.example:8443")], true),
        ("POST", "10.0.0.1", [("Origin", "https://ports.example")], false),
        // These requests require a preflight request or change nothing.
        ("PUT", "a.example", [("Origin", "app://notes"), ("Sec-Fetch-Site", "cross-site")], true),
        ("GET", "a.example", [("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")], true),
        ("PROPFIND", "a.example", [("Origin", "capacitor://localhost")], true),
    ]

    @Test(arguments: rows)
    func crossOriginFormsAreRefused(row: Row) async throws {
        let guarded = Greeter().applying(
            CrossOriginGuard(
                allowing: ["https://app.example"],
                names: ["Files.example", "plain.example", "ports.example:8443"],
                secureNames: ["Files.example"]))
        var client = TestClient(guarded)
        client.host = row.host
        #expect(try await client.send(row.method, "/", row.fields).status == (row.isTaken ? 204 : 403))
    }

    /// Over TLS, forms of http pages are refused: an attacker who can modify unencrypted traffic could forge
    /// an http page with the name of this server.
    @Test(arguments: [("http://a.example", 403), ("https://a.example", 204), ("https://b.example", 403)])
    func formsOverTLSMustComeFromSecurePages(origin: String, status: UInt16) async throws {
        var client = TestClient(Greeter().applying(CrossOriginGuard()).applying(OverTLS()))
        client.host = "a.example"
        #expect(try await client.send("POST", "/", [("Origin", origin)]).status == status)
    }

    @Test func absoluteFormDeterminesTheHost() async throws {
        let client = TestClient(Greeter().applying(CrossOriginGuard()))
        let fields = [("Origin", "http://a.example")]
        #expect(try await client.send("POST", "http://a.example/", fields).status == 204)
        #expect(try await client.send("POST", "http://b.example/", fields).status == 403)
    }
}

/// Marks requests as received over TLS.
private struct OverTLS: Middleware {
    func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        request.isSecure = true
        return try next.respond(to: request)
    }
}
