import DavitHTTP
import DavitServer
import DavitSite
import DavitTesting
import Testing

struct SiteListingTests {
    @Test func w032ListingsAreInNaturalOrder() async throws {
        let folder = try WebFolder([
            "a10.txt", "a2.txt", "B.txt", "z/x", ".hidden", ".git/config", "<b>&.txt",
        ])
        folder.link("link", to: "a2.txt")
        folder.link("outside", to: "/etc/passwd")
        folder.link("secret", to: ".git/config")
        folder.makeSpecial("fifo")
        let client = try folder.client { $0.listsFolders = true }
        let page = try await client.send("GET", "/")
        #expect(page.status == 200)
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        #expect(
            Self.links(page.text) == [
                "./z/", "./%3Cb%3E%26.txt", "./a2.txt", "./a10.txt", "./B.txt", "./link",
            ])
        #expect(page.text.contains("&lt;b&gt;&amp;.txt"))
        #expect(!page.text.contains("<b>"))
        #expect(try await client.send("HEAD", "/").status == 200)
    }

    @Test func listingsMatchServedFiles() async throws {
        let folder = try WebFolder(["a", ".hidden"])
        folder.link("link", to: "a")
        let hidden = try await folder.client {
            $0.listsFolders = true
            $0.showsHidden = true
        }.send("GET", "/")
        #expect(Self.links(hidden.text) == ["./.hidden", "./a", "./link"])
        let unlinked = try await folder.client {
            $0.listsFolders = true
            $0.followsLinks = false
        }.send("GET", "/")
        #expect(Self.links(unlinked.text) == ["./a"])
    }

    @Test func indexTakesPrecedence() async throws {
        let folder = try WebFolder(["index.html", "sub/a", "404.html"])
        let client = try folder.client { $0.listsFolders = true }
        #expect(try await client.send("GET", "/").text == "index.html")
        #expect(Self.links(try await client.send("GET", "/sub/").text) == ["./a"])
        #expect(try await client.send("GET", "/sub").status == 301)
        #expect(try await folder.client().send("GET", "/sub/").status == 404)
    }

    @Test func listingBelowAPrefixHasItsTitle() async throws {
        let site = try WebFolder(["sub/a"]).site { $0.listsFolders = true }
        let client = TestClient(Router { $0.mount("/my files", site) })
        let page = try await client.send("GET", "/my%20files/").text
        #expect(page.contains("<title>my files</title>"))
        #expect(Self.links(page) == ["./sub/"])
    }

    /// The folder is read in batches, and a batch may contain only hidden files.
    @Test func manyHiddenFilesDoNotEndTheListing() async throws {
        let folder = try WebFolder()
        for number in 0..<600 { folder.write(".h\(number)", []) }
        for number in 0..<600 { folder.write("s\(number)", []) }
        let page = try await folder.client { $0.listsFolders = true }.send("GET", "/")
        #expect(Self.links(page.text).count == 600)
    }

    /// Returns the links of the rows, in order.
    private static func links(_ page: String) -> [String] {
        page.matches(of: /<th scope="row" class="n"><a class="[cf]" href="([^"]*)"/).map { String($0.1) }
    }
}
