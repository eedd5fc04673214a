import DavitHTTP
import DavitServer
import DavitSite
import DavitTesting
import Testing

struct SiteTests {
    static func folder() throws -> WebFolder {
        let folder = try WebFolder([
            "index.html", "a.txt", "docs/index.html", "docs/a b.txt", "empty/x", "evil.com/index.html",
            "\\evil.com/index.html", "b.html/index.html", ".hidden", ".git/config", "docs/.x/y",
            ".well-known/acme/t",
            ".well-known/.x", "docs/.well-known/x", ".well-knownx",
        ])
        folder.link("inside", to: "docs/a b.txt")
        folder.link("docs-link", to: "docs")
        folder.link("outside", to: "/etc/passwd")
        folder.link("secret", to: ".git/config")
        folder.link("secrets", to: ".git")
        folder.makeSpecial("fifo")
        return folder
    }

    /// A tree of files with an index file (W032 in docs/coming-from-gcdwebserver.md).
    static let targets: [(target: String, status: UInt16, text: String?)] = [
        ("/", 200, "index.html"), ("/index.html", 200, "index.html"), ("/a.txt", 200, "a.txt"),
        ("/a.txt?x=y", 200, "a.txt"), ("/docs/", 200, "docs/index.html"),
        ("/docs/a%20b.txt", 200, "docs/a b.txt"),
        ("//docs//a%20b.txt", 200, "docs/a b.txt"), ("/b.html/", 200, "b.html/index.html"),
        ("/missing", 404, nil), ("/docs/missing", 404, nil), ("/missing/", 404, nil), ("/empty/", 404, nil),
        // A file is not a folder.
        ("/a.txt/", 404, nil), ("/a.txt/b", 404, nil), ("/A.txt", 404, nil), ("/fifo", 404, nil),
        ("/fifo/", 404, nil),
        // Hidden items are hidden anywhere in the path (X13 in docs/coming-from-gcdwebserver.md).
        ("/.hidden", 404, nil), ("/.git/config", 404, nil), ("/.git/", 404, nil), ("/.git", 404, nil),
        ("/docs/.x/y", 404, nil), ("/secret", 404, nil), ("/secrets/config", 404, nil),
        ("/%2Egit/config", 404, nil),
        // RFC 8615 §3
        ("/.well-known/acme/t", 200, ".well-known/acme/t"), ("/.well-known/.x", 404, nil),
        ("/docs/.well-known/x", 404, nil), ("/.well-knownx", 404, nil),
        // Links may lead anywhere inside the folder.
        ("/inside", 200, "docs/a b.txt"), ("/docs-link/", 200, "docs/index.html"),
        ("/docs-link/a%20b.txt", 200, "docs/a b.txt"),
        ("/outside", 404, nil),
        ("/docs/../a.txt", 400, nil), ("/docs/%2e%2e/a.txt", 400, nil), ("/docs%2Fa", 400, nil),
    ]

    @Test(arguments: targets)
    func w032FilesOfAFolderAreServed(target: String, status: UInt16, text: String?) async throws {
        let client = try Self.folder().client()
        do throws(HTTPError) {
            for method in ["GET", "HEAD"] {
                let response = try await client.send(method, target)
                #expect(response.status == status)
                if let text { #expect(response.text == text) }
            }
        } catch {
            // The path is invalid.
            #expect(error.status.code == status)
        }
    }

    @Test func linksCanBeDisabled() async throws {
        let client = try Self.folder().client { $0.followsLinks = false }
        for target in ["/inside", "/docs-link/", "/docs-link/a%20b.txt", "/docs-link", "/outside", "/secret"]
        {
            #expect(try await client.send("GET", target).status == 404, "\(target)")
        }
        #expect(try await client.send("GET", "/docs/a%20b.txt").status == 200)
    }

    @Test func equivalentSpellingIsNotALink() async throws {
        let folder = try WebFolder(["\u{FC}/o\u{308}.txt"])
        let client = try folder.client { $0.followsLinks = false }
        #expect(try await client.send("GET", "/u%CC%88/%C3%B6.txt").status == 200)
        folder.link("l\u{FC}", to: "\u{FC}")
        #expect(try await client.send("GET", "/lu%CC%88/%C3%B6.txt").status == 404)
    }

    @Test func hiddenFilesCanBeServed() async throws {
        let client = try Self.folder().client { $0.showsHidden = true }
        for target in ["/.hidden", "/.git/config", "/docs/.x/y", "/secret", "/secrets/config"] {
            #expect(try await client.send("GET", target).status == 200, "\(target)")
        }
    }

    static let redirects: [(target: String, location: String)] = [
        ("/docs", "/docs/"), ("/docs?a=b&c=%20", "/docs/?a=b&c=%20"), ("/docs?", "/docs/?"),
        ("http://localhost/docs", "/docs/"), ("/d%6Fcs", "/d%6Fcs/"), ("/docs-link", "/docs-link/"),
        // No folder name redirects to another host.
        ("//docs", "/docs/"), ("//evil.com", "/evil.com/"), ("///evil.com?//x", "/evil.com/?//x"),
        ("/\\evil.com", "/%5Cevil.com/"), ("//\\evil.com", "/%5Cevil.com/"),
        ("/%5Cevil.com", "/%5Cevil.com/"),
        ("/empty", "/empty/"), ("/b.html", "/b.html/"),
    ]

    @Test(arguments: redirects)
    func foldersRedirectToTheURLWithASlash(target: String, location: String) async throws {
        let response = try await Self.folder().client().send("GET", target)
        #expect(response.status == 301)
        #expect(response["Location"] == location)
        #expect(response["Cache-Control"] == "no-cache")
        let permanent = try await Self.folder().client { $0.redirect = .permanent }.send("HEAD", target)
        #expect(permanent.status == 308)
        #expect(permanent["Location"] == location)
    }

    static let mounted: [(target: String, status: UInt16, location: String?)] = [
        ("/site", 301, "/site/"), ("/site?x", 301, "/site/?x"), ("//site", 301, "/site/"),
        ("/site/", 200, nil),
        ("/s%69te/docs", 301, "/s%69te/docs/"), ("//site//docs", 301, "/site//docs/"),
        ("/site/a.txt", 200, nil),
        ("/site/missing", 404, nil), ("/a.txt", 404, nil), ("/x/y", 301, "/x/y/"), ("/x/y/docs/", 200, nil),
    ]

    @Test(arguments: mounted)
    func sitesWorkBelowAnyPrefix(target: String, status: UInt16, location: String?) async throws {
        let site = try Self.folder().site()
        let client = TestClient(
            Router {
                $0.mount("/site", site)
                $0.mount("/x", Router { $0.mount("/y", site) })
            })
        let response = try await client.send("GET", target)
        #expect(response.status == status)
        #expect(response["Location"] == location)
    }

    static let methods: [(method: String, target: String, status: UInt16)] = [
        ("OPTIONS", "/a.txt", 204), ("OPTIONS", "*", 204), ("OPTIONS", "/missing", 204),
        ("PUT", "/a.txt", 405),
        ("POST", "/", 405), ("DELETE", "/missing", 405), ("PROPFIND", "/", 405), ("BREW", "/", 501),
    ]

    /// RFC 9110 §9.1, §10.2.1
    @Test(arguments: methods)
    func sitesAreReadOnly(method: String, target: String, status: UInt16) async throws {
        let response = try await Self.folder().client().send(method, target)
        #expect(response.status == status)
        #expect(response["Allow"] == (status == 501 ? nil : "GET, HEAD, OPTIONS"))
    }

    @Test func firstExistingIndexIsUsed() async throws {
        let folder = try WebFolder(["a/one", "a/two", "b/two", "c/one/x", "c/two"])
        let client = try folder.client { $0.indexNames = ["one", "two"] }
        #expect(try await client.send("GET", "/a/").text == "a/one")
        #expect(try await client.send("GET", "/b/").text == "b/two")
        #expect(try await client.send("GET", "/c/").text == "c/two")
        #expect(try await folder.client { $0.indexNames = [] }.send("GET", "/a/").status == 404)
    }

    @Test func siteHasItsOwnErrorPage() async throws {
        let folder = try WebFolder(["404.html", "sub/own.txt", ".x/y"])
        let client = try folder.client()
        let tag = try #require(try await client.send("GET", "/404.html")["ETag"])
        for fields in [[], [("If-None-Match", tag)], [("Range", "bytes=0-1")], [("If-Match", "\"x\"")]] {
            for target in ["/missing", "/missing/deep/", "/.x/y"] {
                let response = try await client.send("GET", target, fields)
                #expect(response.status == 404)
                #expect(response.text == "404.html")
                #expect(response["Content-Type"] == "text/html; charset=utf-8")
                #expect(response["ETag"] == nil)
                #expect(response["Last-Modified"] == nil)
                #expect(response["Cache-Control"] == "no-cache")
            }
        }
        #expect(try await client.send("GET", "/404.html").status == 200)
        let other = try folder.client { $0.notFoundPage = "sub/own.txt" }
        #expect(try await other.send("GET", "/missing").text == "sub/own.txt")
        let none = try folder.client { $0.notFoundPage = "" }
        #expect(try await none.send("GET", "/missing").text == "Not found.\n")
        #expect(
            try await none.send("GET", "/missing", [("Accept", "text/html")]).text.contains("404 Not Found"))
    }

    static let ages: [(age: Int?, field: String?)] = [(0, "no-cache"), (3600, "max-age=3600"), (nil, nil)]

    @Test(arguments: ages)
    func cacheAgeIsConfigurable(age: Int?, field: String?) async throws {
        let client = try Self.folder().client { $0.cacheAgeSeconds = age }
        let response = try await client.send("GET", "/a.txt")
        #expect(response["Cache-Control"] == field)
        let tag = try #require(response["ETag"])
        for fields in [("If-None-Match", tag), ("Range", "bytes=0-0")] {
            #expect(try await client.send("GET", "/a.txt", [fields])["Cache-Control"] == field)
        }
    }

    @Test func typesCanBeOverridden() async throws {
        let client = try Self.folder().client { $0.types = MediaTypes(["txt": "text/x-own"]) }
        #expect(try await client.send("GET", "/a.txt")["Content-Type"] == "text/x-own")
        #expect(try await client.send("GET", "/")["Content-Type"] == "text/html; charset=utf-8")
    }
}
