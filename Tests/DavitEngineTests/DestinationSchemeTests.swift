import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Which URIs in `Destination` and in the Resource-Tags of `If` refer to resources of this server (RFC 4918
/// §8.3, §9.8.5). The value of Host is `localhost`.
struct DestinationSchemeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let destination: String
        let status: Int
        var testDescription: String { destination }
    }

    static let schemes: [(scheme: String, isOurs: Bool)] = [
        ("http", true), ("https", true), ("HTTP", true), ("HttpS", true),
        ("ftp", false), ("FTP", false), ("dav", false), ("davs", false), ("webdav", false), ("file", false),
        ("httpx", false), ("htt", false), ("h", false), ("http+x", false), ("ws", false), ("urn-x.1", false),
    ]
    static let authorities: [(authority: String, isOurs: Bool)] = [
        ("localhost", true), ("LocalHost", true), ("localhost:80", true), ("localhost:443", true),
        ("localhost:8080", false), ("elsewhere", false), ("localhost.elsewhere", false), ("[::1]", false),
    ]
    static let users = ["", "anna@", "anna:s%40cret@", "localhost@"]

    static let table: [Row] =
        schemes.flatMap { scheme in
            authorities.flatMap { authority in
                users.map { user in
                    Row(
                        destination: "\(scheme.scheme)://\(user)\(authority.authority)/b",
                        status: scheme.isOurs && authority.isOurs ? 201 : 502)
                }
            }
        } + [
            Row(destination: "/b", status: 201),
            // Other schemes need no authority.
            Row(destination: "file:///b", status: 502), Row(destination: "urn:uuid:b", status: 502),
            Row(destination: "mailto:anna@localhost", status: 502), Row(destination: "ftp:/b", status: 502),
            // Malformed values.
            Row(destination: "http:", status: 400), Row(destination: "http:/b", status: 400),
            Row(destination: "http:b", status: 400), Row(destination: "http:///b", status: 400),
            Row(destination: "http://anna@/b", status: 400),
            Row(destination: "https://localhost/b#c", status: 400),
            Row(destination: "https://localhost/b?c", status: 400),
            Row(destination: "//localhost/b", status: 400),
            Row(destination: "://localhost/b", status: 400),
            Row(destination: "1ftp://localhost/b", status: 400),
            Row(destination: "+ftp://localhost/b", status: 400),
            Row(destination: "f_p://localhost/b", status: 400),
            Row(destination: "ftp:", status: 400), Row(destination: "b", status: 400),
            Row(destination: "http://localhost/%zz", status: 400),
            Row(destination: "http://local host/b", status: 400),
        ]

    @Test func destinationsOnOtherHostsReturn502() async throws {
        let share = try TestShare()
        let client = share.client
        #expect(try await client.send("PUT", "/a", text: "1").status == 201)
        for row in Self.table {
            for method in ["COPY", "MOVE"] {
                let response = try await client.send(method, "/a", [("Destination", row.destination)])
                #expect(response.status == row.status, "\(method) \(row.destination)")
                let source = row.status == 201 && method == "MOVE" ? 404 : 200
                #expect(try await client.send("HEAD", "/a").status == source, "\(method) \(row.destination)")
                if row.status == 201 {
                    #expect(try await client.send("COPY", "/b", [("Destination", "/a")]).status / 100 == 2)
                    #expect(try await client.send("DELETE", "/b").status == 204)
                } else {
                    #expect(try await client.send("HEAD", "/b").status == 404, "\(method) \(row.destination)")
                }
            }
        }
    }

    /// RFC 4918 §10.4.4: the state of a resource on another server is unknown, so only a negated condition on
    /// it is true. A token in its list is still submitted (§7.5).
    @Test func resourceTagsOnOtherHostsMatchNoState() async throws {
        let share = try TestShare()
        let client = share.client
        let put = try await client.send("PUT", "/b", text: "1")
        let tag = try #require(put["ETag"])
        for row in Self.table where row.status != 400 {
            let isOurs = row.status == 201
            let response = try await client.send(
                "PROPPATCH", "/b", [("If", "<\(row.destination)> ([\(tag)])")], text: setProperty("p", "1"))
            #expect(response.status == (isOurs ? 207 : 412), "\(row.destination)")
            let negated = try await client.send(
                "PROPPATCH", "/b", [("If", "<\(row.destination)> (Not [\(tag)])")],
                text: setProperty("p", "1"))
            #expect(negated.status == (isOurs ? 412 : 207), "\(row.destination)")
        }
    }

    /// The scope of the SEARCH does not exist on this server.
    @Test(arguments: ["ftp://localhost/", "urn:x", "http://elsewhere/"])
    func searchScopesOnOtherHostsAreNotFound(href: String) async throws {
        let share = try TestShare()
        let body = """
            <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:allprop/></D:select><D:from><D:scope>\
            <D:href>\(href)</D:href><D:depth>0</D:depth></D:scope></D:from></D:basicsearch></D:searchrequest>
            """
        let response = try await share.client.send("SEARCH", "/", text: body)
        #expect(response.status == 409)
        #expect(response.text.contains("<D:status>HTTP/1.1 404 Not Found</D:status>"))
    }
}
