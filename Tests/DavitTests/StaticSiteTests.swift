import Davit
import DavitSystem
import DavitTesting
import Testing

/// Websites on the port of a server.
struct StaticSiteTests {
    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        return configuration
    }

    @Test func siteShareAndRouteCoexist() throws {
        let folder = try TemporaryFolder()
        for name in ["www", "files"] { _ = try ExclusiveFolder(path: folder.path + "/" + name) }
        let path = folder.path + "/www/index.html"
        let server = try WebServer(configuration: Self.configuration()) { routes in
            routes.mount("/", StaticSite(folder.path + "/www"))
            // This share writes the content of the site.
            routes.mount("/edit", WebDAVShare(folder.path + "/www", stateFolder: folder.path + "/state"))
            routes.get("/download") { request in
                try await .file(path, for: request, attachment: "Start ö.html")
            }
        }
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        let client = ChangeEventClient(address: try #require(addresses.first))
        #expect(try client.send("GET /").status == 404)
        #expect(try client.send("PUT /edit/index.html", content: "<p>one").status == 201)
        for text in ["<p>two", "<p>three", "<p>four"] {
            #expect(try client.send("PUT /edit/index.html", content: text).status == 204)
            // The server keeps the file open, but never serves stale content.
            for _ in 0..<3 { #expect(try client.send("GET /").content == text) }
        }
        #expect(try client.send("MKCOL /edit/sub").status == 201)
        #expect(try client.send("GET /sub").status == 301)
        #expect(try client.send("PUT /index.html", content: "x").status == 405)
        #expect(try client.send("GET /download").content == "<p>four")
    }

    @Test func missingSiteFolderIsAnError() {
        #expect(throws: ServerError.shareNotUsable(path: "/no/such/folder", .missing)) {
            try WebServer(StaticSite("/no/such/folder"), configuration: Self.configuration())
        }
    }
}
