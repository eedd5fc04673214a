import DavitHTTP
import DavitServer
import Testing

struct HostGuardTests {
    let handler = Greeter().applying(HostGuard(names: ["Files.Example.org"]))

    static let hosts: [(host: String, isAnswered: Bool)] = [
        ("127.0.0.1", true), ("192.0.2.1:8080", true), ("[::1]", true), ("[2001:db8::1]:8080", true),
        ("localhost", true), ("LocalHost:8080", true), ("files.example.org", true),
        ("FILES.example.ORG:443", true),
        // A foreign name that may resolve to this server.
        ("evil.example", false), ("localhost.evil.example", false), ("files.example.org.evil.example", false),
        ("evil.files.example.org", false), ("localhost.", false), ("files.example.or", false),
        // These are not IPv4 literals according to RFC 3986, although some resolvers accept them.
        ("127.1", false), ("0x7f000001", false), ("2130706433", false),
    ]

    @Test(arguments: hosts)
    func requestsForOtherHostsAreMisdirected(host: String, isAnswered: Bool) async throws {
        let status: HTTPStatus = isAnswered ? .noContent : .misdirectedRequest
        for method in ["GET", "OPTIONS", "PUT", "MOVE"] {
            let request = try makeRequest("\(method) / HTTP/1.1", "Host: \(host)")
            #expect(try await handler.respond(to: request).response().status == status)
        }
    }

    // RFC 9112 §3.2.2: the authority of the absolute form overrides Host.
    @Test(arguments: hosts)
    func absoluteFormOverridesHost(host: String, isAnswered: Bool) async throws {
        let other = isAnswered ? "evil.example" : "localhost"
        let request = try makeRequest("GET http://\(host)/ HTTP/1.1", "Host: \(other)")
        let response = try await handler.respond(to: request).response()
        #expect(response.status == (isAnswered ? .noContent : .misdirectedRequest))
    }

    // RFC 9112 §3.2: only HTTP/1.1 requires Host.
    @Test func missingHostIsAllowedInHTTP10() async throws {
        let request = try makeRequest("GET / HTTP/1.0")
        #expect(try await handler.respond(to: request).response().status == .noContent)
    }
}
