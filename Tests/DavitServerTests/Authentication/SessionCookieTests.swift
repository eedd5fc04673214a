import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct SessionCookieTests {
    private func request(
        _ fields: [String], host: String = "a.example", isSecure: Bool = false
    ) throws -> HTTPRequest {
        let head = (["GET / HTTP/1.1", "Host: \(host)"] + fields + ["", ""]).joined(separator: "\r\n")
        let request = try HTTPRequest(parsing: Array(head.utf8))
        request.isSecure = isSecure
        return request
    }

    static let names: [(host: String, isSecure: Bool, prefix: String, name: String)] = [
        ("a.example", false, "", "davit-80"), ("a.example:8080", false, "", "davit-8080"),
        ("a.example", true, "", "__Host-davit-443"), ("a.example:8443", true, "", "__Host-davit-8443"),
        ("[::1]:8080", false, "", "davit-8080"), ("A.EXAMPLE:8080", false, "/dav", "davit-8080_dav"),
        // The host of a public URL with https, without TLS on this connection.
        ("files.example", false, "", "__Host-davit-443"),
        ("files.example", false, "/a%20b", "__Host-davit-443_a_20b"),
    ]

    /// Servers on other ports of the same host, or below other paths, use other names.
    @Test(arguments: names)
    func namesDependOnTheServer(row: (host: String, isSecure: Bool, prefix: String, name: String)) throws {
        let cookie = SessionCookie(secureHosts: ["Files.Example"], prefix: Array(row.prefix.utf8))
        let request = try request([], host: row.host, isSecure: row.isSecure)
        #expect(cookie.name(for: request) == row.name)
    }

    @Test func tokensAreReadFromTheirCookieOnly() throws {
        let cookie = SessionCookie()
        func token(_ field: String, isSecure: Bool = false) throws -> String? {
            cookie.token(in: try request(["Cookie: \(field)"], isSecure: isSecure))
        }
        #expect(cookie.token(in: try request([])) == nil)
        #expect(try token("davit-80=t") == "t")
        #expect(try token("a=b; davit-80=t; c=d") == "t")
        #expect(try token("davit-8080=t; davit=t; __Host-davit-443=t") == nil)
        // Without TLS, other hosts of a domain can set a cookie of this name.
        #expect(try token("davit-80=t; davit-80=u") == nil)
        #expect(try token("davit-80=t; davit-80=t") == "t")
        // Over TLS, only the cookie that no other host can set counts.
        #expect(try token("davit-443=t", isSecure: true) == nil)
        #expect(try token("__Host-davit-443=t; davit-443=u", isSecure: true) == "t")
    }

    /// RFC 6265bis §4.1.3.2: a cookie with the prefix has Secure and Path=/, and no Domain.
    @Test func attributesRestrictTheCookie() throws {
        let cookie = SessionCookie()
        var response = HTTPResponse(status: .ok)
        cookie.set("t", in: &response, for: try request([], isSecure: true))
        #expect(
            response.fields.first(named: "Set-Cookie")
                == "__Host-davit-443=t; Path=/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax")
        response = HTTPResponse(status: .ok)
        cookie.set("t", in: &response, for: try request([]))
        #expect(
            response.fields.first(named: "Set-Cookie")
                == "davit-80=t; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax")
        response = HTTPResponse(status: .ok)
        cookie.remove(in: &response, for: try request([]))
        #expect(
            response.fields.first(named: "Set-Cookie")
                == "davit-80=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax")
    }
}
