import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct TrustedProxiesTests {
    /// Responds with the origin of the request as determined by the middleware.
    struct Mirror: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            let host = request.host.map { field in
                String(decoding: field.host, as: UTF8.self) + (field.port.map { ":\($0)" } ?? "")
            }
            let scheme = request.isSecure ? "https" : "http"
            let prefix = request.forwardedOrigin?.prefix.map { " \($0.text)" } ?? ""
            return .ready(.text("\(request.peerAddress) \(scheme) \(host ?? "-")\(prefix)"))
        }
    }

    /// Returns what ``Mirror`` responds; 127.0.0.0/8, 10.0.0.0/24 and fe80::/10 are trusted proxies.
    static func answer(
        _ fields: [String], peer: String = "127.0.0.1", kind: TrustedProxies.Fields = .either,
        trustsLocal: Bool = false
    ) async throws -> String {
        let networks = ["127.0.0.0/8", "10.0.0.0/24", "fe80::/10"].compactMap { IPNetwork($0) }
        let proxies = TrustedProxies(networks: networks, trustsLocalSockets: trustsLocal, fields: kind)
        let request = HTTPRequest()
        var parser = HeadParser()
        let head = Array(
            (["GET / HTTP/1.1", "Host: backend:8080"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
        _ = try unsafe head.withUnsafeBytes { bytes in try unsafe parser.parse(bytes, into: request) }
        request.peerAddress = peer
        let handler = Mirror().applying(proxies)
        guard case .bytes(let text) = try handler.respond(to: request).readyResponse?.body else { return "" }
        return String(decoding: text, as: UTF8.self)
    }

    static let forwarded: [(fields: [String], answer: String)] = [
        ([], "127.0.0.1 http backend:8080"),
        // The examples of RFC 7239 §4.
        (["Forwarded: for=\"_gazonk\""], "127.0.0.1 http backend:8080"),
        (["Forwarded: For=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17 http backend:8080"),
        (["Forwarded: for=192.0.2.60;proto=http;by=203.0.113.43"], "192.0.2.60 http backend:8080"),
        // §4: the last element was added by a trusted proxy; 198.51.100.17 is not trusted.
        (["Forwarded: for=192.0.2.43, for=198.51.100.17"], "198.51.100.17 http backend:8080"),
        // §5.3 and §5.4.
        (
            ["Forwarded: for=192.0.2.1;proto=HTTPS;host=Files.Example.org"],
            "192.0.2.1 https files.example.org"
        ),
        (
            ["Forwarded: host=\"files.example.org:8443\";for=192.0.2.1"],
            "192.0.2.1 http files.example.org:8443"
        ),
        (["Forwarded: proto=https"], "127.0.0.1 https backend:8080"),
        (["Forwarded: for=192.0.2.1;proto=gopher"], "192.0.2.1 http backend:8080"),
        (["Forwarded: for=192.0.2.1;host=\"a/b\""], "192.0.2.1 http backend:8080"),
        // §6.2 and §6.3: nodes without an address.
        (["Forwarded: for=unknown;proto=https"], "127.0.0.1 https backend:8080"),
        (["Forwarded: for=192.0.2.9, for=unknown"], "127.0.0.1 http backend:8080"),
        // §7.1: chains; several lines form one list (RFC 9110 §5.3).
        (
            ["Forwarded: for=192.0.2.1;proto=https;host=a.example, for=10.0.0.2;proto=http;host=b.example"],
            "192.0.2.1 https a.example"
        ),
        (["Forwarded: for=192.0.2.1;proto=https, for=10.0.0.2"], "192.0.2.1 https backend:8080"),
        (
            ["Forwarded: for=192.0.2.1;proto=https", "Forwarded: for=10.0.0.2"],
            "192.0.2.1 https backend:8080"
        ),
        (["Forwarded: for=10.0.0.3, for=10.0.0.2"], "10.0.0.3 http backend:8080"),
        // Elements on the left were sent by the client and are ignored.
        (
            ["Forwarded: for=1.1.1.1;proto=https;host=evil.example, for=192.0.2.1"],
            "192.0.2.1 http backend:8080"
        ),
        (["Forwarded: for=127.0.0.1, for=192.0.2.1"], "192.0.2.1 http backend:8080"),
        // Malformed elements cannot hide those that follow.
        (["Forwarded: for=\"evil, for=192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["Forwarded: for=\"evil, for=\"[2001:db8::1]\";proto=https"], "2001:db8::1 https backend:8080"),
        (["Forwarded: for=\"evil\\, for=192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["Forwarded: \"", "Forwarded: for=192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["Forwarded: =;;=, for=10.0.0.2"], "10.0.0.2 http backend:8080"),
        // Commas in quoted strings do not end an element, and quoted text is not a parameter.
        (["Forwarded: for=192.0.2.1;by=\"a, for=9.9.9.9\""], "192.0.2.1 http backend:8080"),
        (["Forwarded: for=192.0.2.1;x=\"a,b,c\";proto=https"], "192.0.2.1 https backend:8080"),
        (["Forwarded: for=192.0.2.1;x=\"a, for=\\\"9.9.9.9\\\"\""], "192.0.2.1 http backend:8080"),
        // §4: parameters must not repeat; empty elements and parameters are ignored (RFC 9110 §5.6.1).
        (["Forwarded: for=192.0.2.1;for=192.0.2.2"], "127.0.0.1 http backend:8080"),
        (["Forwarded: ,, for=192.0.2.1 ,, "], "192.0.2.1 http backend:8080"),
        (["Forwarded: ;for=192.0.2.1;"], "192.0.2.1 http backend:8080"),
        (["Forwarded: "], "127.0.0.1 http backend:8080"), (["Forwarded: ,,,"], "127.0.0.1 http backend:8080"),
        (["Forwarded: nonsense"], "127.0.0.1 http backend:8080"),
    ]

    @Test(arguments: forwarded)
    func forwardedDeterminesTheOrigin(fields: [String], answer: String) async throws {
        #expect(try await Self.answer(fields) == answer)
    }

    static let older: [(fields: [String], answer: String)] = [
        (["X-Forwarded-For: 192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 192.0.2.1:5000"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 2001:DB8::1"], "2001:db8::1 http backend:8080"),
        (["X-Forwarded-For: [2001:db8::1]:80"], "2001:db8::1 http backend:8080"),
        (
            [
                "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https",
                "X-Forwarded-Host: files.example.org",
            ],
            "192.0.2.1 https files.example.org"
        ),
        (["X-Forwarded-Proto: HTTPS"], "127.0.0.1 https backend:8080"),
        (["X-Forwarded-Proto: spdy"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Host: a b"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Host: a@b"], "127.0.0.1 http backend:8080"),
        // The beginning of the list is spoofed, even with trusted addresses.
        (["X-Forwarded-For: 1.1.1.1, 192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 1.1.1.1, 10.0.0.9, 192.0.2.1, 10.0.0.2"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 127.0.0.1, 192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 192.0.2.1"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: <script>, 192.0.2.1"], "192.0.2.1 http backend:8080"),
        // A chain of proxies, and chains interrupted by an element that is not an address.
        (["X-Forwarded-For: 192.0.2.1, 10.0.0.3, 10.0.0.2"], "192.0.2.1 http backend:8080"),
        (["X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.2"], "10.0.0.2 http backend:8080"),
        (["X-Forwarded-For: 192.0.2.1, \"\", 10.0.0.2"], "10.0.0.2 http backend:8080"),
        (["X-Forwarded-For: unknown"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-For: "], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-For: , ,"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-For: 10.0.0.3"], "10.0.0.3 http backend:8080"),
        // If each proxy adds an element to a field, the element of the same hop applies; if the field has
        // only one element, that element applies.
        (
            ["X-Forwarded-For: 192.0.2.1, 10.0.0.2", "X-Forwarded-Proto: https, http"],
            "192.0.2.1 https backend:8080"
        ),
        (
            ["X-Forwarded-For: 192.0.2.1, 10.0.0.2", "X-Forwarded-Proto: https"],
            "192.0.2.1 https backend:8080"
        ),
        // Elements added by the client are too far to the left, so they are ignored.
        (
            [
                "X-Forwarded-For: 1.1.1.1, 192.0.2.1", "X-Forwarded-Proto: https, http",
                "X-Forwarded-Host: evil, a",
            ],
            "192.0.2.1 http a"
        ),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: a.example, b/c"], "192.0.2.1 http backend:8080"),
        // Prefixes removed by trusted proxies count; those sent by the client are ignored.
        (["X-Forwarded-Prefix: /dav"], "127.0.0.1 http backend:8080 /dav"),
        (["X-Forwarded-Prefix: /dav/"], "127.0.0.1 http backend:8080 /dav"),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Prefix: /x, /dav"], "192.0.2.1 http backend:8080 /dav"),
        (
            ["X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Prefix: //x, /a, /b%20c"],
            "192.0.2.1 http backend:8080 /a/b%20c"
        ),
        (["X-Forwarded-Prefix: //evil.example"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Prefix: /a/../b"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Prefix: dav"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Prefix: /a\"b"], "127.0.0.1 http backend:8080"),
        (["X-Forwarded-Prefix:"], "127.0.0.1 http backend:8080"),
    ]

    @Test(arguments: older)
    func xForwardedDeterminesTheOrigin(fields: [String], answer: String) async throws {
        #expect(try await Self.answer(fields) == answer)
    }

    static let both = ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.2;proto=https"]

    @Test(arguments: [
        (TrustedProxies.Fields.either, "192.0.2.1 http backend:8080"),
        (.xForwarded, "192.0.2.1 http backend:8080"),
        (.forwarded, "192.0.2.2 https backend:8080"),
    ])
    func oneKindOfFieldsIsUsed(kind: TrustedProxies.Fields, answer: String) async throws {
        #expect(try await Self.answer(Self.both, kind: kind) == answer)
    }

    @Test func otherKindOfFieldsIsIgnored() async throws {
        #expect(try await Self.answer([Self.both[0]], kind: .forwarded) == "127.0.0.1 http backend:8080")
        #expect(try await Self.answer([Self.both[1]], kind: .xForwarded) == "127.0.0.1 http backend:8080")
    }

    @Test(arguments: [
        ("192.0.2.99", false, false), ("10.0.1.1", false, false), ("::1", false, false), ("", false, false),
        ("unix:", false, false), ("unix:", true, true), ("127.0.0.2", false, true),
        ("fe80::1%2", false, true),
    ])
    func forwardedFieldsOfUntrustedPeersAreIgnored(peer: String, trustsLocal: Bool, isBelieved: Bool)
        async throws
    {
        for fields in [forwardedLine, ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"]] {
            let answer = try await Self.answer(fields, peer: peer, trustsLocal: trustsLocal)
            #expect(answer == (isBelieved ? "192.0.2.1 https backend:8080" : "\(peer) http backend:8080"))
        }
    }

    private let forwardedLine = ["Forwarded: for=192.0.2.1;proto=https"]

    /// Arbitrary bytes in any field must yield a response, and never an address that no element contains.
    @Test func hostileFieldsCannotInventAnAddress() async throws {
        let pieces = ["\"", "\\", ",", ";", "=", "for=", "10.0.0.2", "[", "]", ":", " ", "\t", "\u{80}", "x"]
        for name in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"] {
            for first in pieces {
                for second in pieces {
                    for third in pieces {
                        let answer = try await Self.answer(["\(name): \(first)\(second)\(third)"])
                        // The last two addresses are combinations of the pieces.
                        let known = ["127.0.0.1", "10.0.0.2", "::", "::a00:2"].map { $0 + " http " }
                        #expect(
                            known.contains { answer.hasPrefix($0) },
                            "\(name): \(first)\(second)\(third) gave \(answer)")
                    }
                }
            }
        }
    }

    /// Reading a list with too many elements stops early.
    @Test func longListOfProxiesIsLimited() async throws {
        let list = ["192.0.2.1"] + Array(repeating: "10.0.0.2", count: 100)
        let answer = try await Self.answer(["X-Forwarded-For: " + list.joined(separator: ", ")])
        #expect(answer == "10.0.0.2 http backend:8080")
    }

    /// At most 32 elements are read, including the address of the client.
    @Test func forwardedElementsAreLimited() async throws {
        for (proxies, client) in [(31, "192.0.2.1"), (32, "10.0.0.2")] {
            let older = ["192.0.2.1"] + Array(repeating: "10.0.0.2", count: proxies)
            #expect(
                try await Self.answer(["X-Forwarded-For: " + older.joined(separator: ", ")])
                    == "\(client) http backend:8080")
            let elements = older.map { "for=\($0)" }.joined(separator: ", ")
            #expect(try await Self.answer(["Forwarded: " + elements]) == "\(client) http backend:8080")
        }
    }

    /// An element with more than eight commas in quoted strings is ignored, as are the elements before it.
    @Test func quotedCommasAreLimited() async throws {
        for (commas, client) in [(8, "192.0.2.1"), (9, "127.0.0.1")] {
            let quoted = String(repeating: ",", count: commas)
            let field = "Forwarded: for=192.0.2.2, for=192.0.2.1;x=\"a\(quoted)b\""
            #expect(try await Self.answer([field]) == "\(client) http backend:8080")
        }
    }

    /// The next request on the connection has other fields, or none.
    @Test func nextRequestInheritsNothing() async throws {
        let proxies = TrustedProxies(networks: [try #require(IPNetwork("127.0.0.1"))])
        let handler = Mirror().applying(proxies)
        let request = HTTPRequest()
        var parser = HeadParser()
        for (field, answer) in [("X-Forwarded-For: 192.0.2.1", "192.0.2.1"), ("A: b", "127.0.0.1")] {
            let head = Array("GET / HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n".utf8)
            _ = try unsafe head.withUnsafeBytes { bytes in try unsafe parser.parse(bytes, into: request) }
            request.peerAddress = "127.0.0.1"
            _ = try handler.respond(to: request)
            #expect(request.peerAddress == answer)
        }
    }

    /// A page that uses DNS rebinding can set these fields, and some proxies pass them on.
    @Test(arguments: [
        ("localhost", "files.example.org", HTTPStatus.ok), ("localhost", "evil.example", .misdirectedRequest),
        ("evil.example", "localhost", .misdirectedRequest), ("files.example.org", "192.0.2.1", .ok),
    ])
    func hostGuardChecksBothHosts(host: String, forwarded: String, status: HTTPStatus) async throws {
        let guarded = Mirror().applying(HostGuard(names: ["files.example.org"]))
        let handler = guarded.applying(TrustedProxies(networks: [try #require(IPNetwork("127.0.0.1"))]))
        let request = try makeRequest("GET / HTTP/1.1", "Host: \(host)", "X-Forwarded-Host: \(forwarded)")
        request.peerAddress = "127.0.0.1"
        #expect(try handler.respond(to: request).readyResponse?.status == status)
    }
}
