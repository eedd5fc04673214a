import Davit
import DavitSystem
import DavitTesting
import Testing

/// A share below a path, behind a proxy that forwards the path and behind a proxy that removes a part of it.
struct PrefixTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
    }

    private static func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return configuration
    }

    /// - Parameter body: called with a client of the server and its URL.
    private func serve(
        _ configuration: Configuration, _ body: (ChangeEventClient, String?) throws -> Void
    ) throws {
        let share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        let server = try WebServer(share, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)), server.url)
    }

    private static let lock =
        "<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"

    /// The configured prefixes, the path that the server receives when a client requests `/x/dav…`, and the
    /// fields that the proxy adds.
    struct Arrangement: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var prefix = ""
        var publicURLs: [String] = []
        var proxies: [String] = []
        var path: String
        var fields: [String] = []
        var host = "localhost"
    }

    static let arrangements = [
        Arrangement(testDescription: "kept", prefix: "/x/dav", path: "/x/dav"),
        Arrangement(
            testDescription: "kept, with a matching public URL", prefix: "/x/dav/",
            publicURLs: ["https://files.example/x/dav"], path: "/x/dav", host: "files.example"),
        Arrangement(
            testDescription: "removed according to the public URL",
            publicURLs: ["https://files.example/x/dav/"],
            path: "", host: "files.example"),
        Arrangement(
            testDescription: "removed by a proxy that uses another host name",
            publicURLs: ["https://files.example/x/dav"],
            path: ""),
        Arrangement(
            testDescription: "partly kept", prefix: "/dav", publicURLs: ["https://files.example/x/dav"],
            path: "/dav",
            host: "files.example"),
        Arrangement(
            testDescription: "removed according to a trusted proxy", proxies: ["127.0.0.1"], path: "",
            fields: ["X-Forwarded-Prefix: /x/dav"]),
        Arrangement(
            testDescription: "partly kept according to a trusted proxy", prefix: "/dav",
            proxies: ["127.0.0.1"],
            path: "/dav", fields: ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Prefix: /x"]),
    ]

    // URLs that clients read and send contain the prefix (requirements 34, 46 and 48 in docs/clients.md).
    @Test(arguments: arrangements)
    func urlsHaveThePrefix(of arrangement: Arrangement) throws {
        let configuration = Self.configuration {
            $0.prefix = arrangement.prefix
            $0.publicURLs = arrangement.publicURLs
            $0.proxies.trusted = arrangement.proxies
        }
        try serve(configuration) { client, _ throws in
            func send(_ method: String, _ path: String, _ fields: [String] = [], _ content: String = "")
                throws
                -> ChangeEventClient.Answer
            {
                try client.send(
                    "\(method) \(arrangement.path)\(path)", arrangement.fields + fields,
                    host: arrangement.host,
                    content: content)
            }
            #expect(try send("MKCOL", "/d").status == 201)
            #expect(try send("PUT", "/d/a%20b", [], "1").status == 201)
            let listing = try send("PROPFIND", "/", ["Depth: infinity"]).content
            #expect(listing.contains("<D:href>/x/dav/</D:href>"))
            #expect(listing.contains("<D:href>/x/dav/d/a%20b</D:href>"))
            let destination = "Destination: https://\(arrangement.host)/x/dav/d/c"
            #expect(try send("MOVE", "/d/a%20b", [destination]).status == 201)
            #expect(try send("COPY", "/d/c", ["Destination: /x/dav/e"]).status == 201)
            #expect(try send("COPY", "/d/c", ["Destination: /x/e"]).status == 502)
            #expect(try send("COPY", "/d/c", ["Destination: /e"]).status == 502)
            let locked = try send("LOCK", "/e", [], Self.lock)
            #expect(locked.content.contains("<D:lockroot><D:href>/x/dav/e</D:href></D:lockroot>"))
            let token = try #require(locked["Lock-Token"])
            #expect(try send("PUT", "/e", [], "2").content.contains("<D:href>/x/dav/e</D:href>"))
            #expect(try send("PUT", "/e", ["If: </x/dav/e> (\(token))"], "2").status == 204)
            #expect(
                try send("PUT", "/e", ["If: <http://\(arrangement.host)/x/dav/e> (\(token))"], "3").status
                    == 204)
            #expect(try send("PUT", "/e", ["If: </e> (\(token))"], "4").status == 412)
            let page = try send("GET", "/d/", ["Accept: text/html"])
            #expect(page.status == 200)
            #expect(!page.content.contains("href=\"/d"))
            // OPTIONS for a path above the share reports what the server supports (requirements 14 to 19 in
            // docs/clients.md).
            for target in ["/", "*", arrangement.path + "/d"] {
                let options = try client.send("OPTIONS \(target)", arrangement.fields, host: arrangement.host)
                #expect(options["DAV"]?.hasPrefix("1, 2, 3") == true, "\(target): \(options.text)")
                #expect(options["MS-Author-Via"] == "DAV")
            }
        }
    }

    @Test func untrustedPrefixIsIgnored() throws {
        try serve(Self.configuration()) { client, _ throws in
            let answer = try client.send("PROPFIND /", ["X-Forwarded-Prefix: /x", "Depth: 0"])
            #expect(answer.content.contains("<D:href>/</D:href>"))
        }
        try serve(Self.configuration { $0.proxies.trusted = ["192.0.2.1"] }) { client, _ throws in
            let answer = try client.send("PROPFIND /", ["X-Forwarded-Prefix: /x", "Depth: 0"])
            #expect(answer.content.contains("<D:href>/</D:href>"))
        }
    }

    @Test func everyPublicURLHasItsPath() throws {
        let configuration = Self.configuration {
            $0.publicURLs = ["https://a.example/x", "https://b.example", "https://c.example/y"]
        }
        try serve(configuration) { client, url throws in
            #expect(url == "https://a.example/x/")
            for (host, href) in [
                ("a.example", "/x/"), ("b.example", "/"), ("c.example:8", "/y/"), ("localhost", "/x/"),
            ] {
                let answer = try client.send("PROPFIND /", ["Depth: 0"], host: host)
                #expect(answer.content.contains("<D:href>\(href)</D:href>"), "\(host)")
            }
        }
    }

    @Test func pathsOutsideThePrefixAreNotFound() throws {
        try serve(Self.configuration { $0.prefix = "/dav" }) { client, url throws in
            #expect(url?.hasSuffix("/dav/") == true)
            #expect(try client.send("GET /").status == 404)
            #expect(try client.send("PUT /a", content: "1").status == 404)
            #expect(try client.send("PROPFIND /davit", ["Depth: 0"]).status == 404)
            #expect(try client.send("PROPFIND /dav", ["Depth: 0"]).content.contains("<D:href>/dav/</D:href>"))
        }
    }

    @Test(arguments: ["dav", "/a//b", "/.."])
    func invalidPrefixesAreRefused(prefix: String) throws {
        #expect(throws: ServerError.prefixMalformed(prefix)) {
            try serve(Self.configuration { $0.prefix = prefix }) { _, _ in }
        }
    }

    @Test func publicURLOutsideThePrefixIsRefused() throws {
        #expect(throws: ServerError.publicURLOutsidePrefix("https://a/files")) {
            let configuration = Self.configuration {
                $0.prefix = "/dav"
                $0.publicURLs = ["https://a/files"]
            }
            try serve(configuration) { _, _ in
            }
        }
    }
}
