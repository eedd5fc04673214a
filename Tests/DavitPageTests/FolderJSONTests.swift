import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// The members of a folder as JSON (W087 in docs/coming-from-gcdwebserver.md).
struct FolderJSONTests {
    @Test func membersAreInNaturalOrder() async throws {
        let page = try TestPage()
        _ = try await page.client.send("MKCOL", "/d")
        for name in ["a10", "a2", "%22%C3%A4"] {
            _ = try await page.client.send("PUT", "/d/\(name)", [("X-OC-Mtime", "784111777")], text: "12345")
        }
        _ = try await page.client.send("MKCOL", "/d/z")
        let response = try await page.client.send("GET", "/d/?json")
        #expect(response.status == 200 && response["Content-Type"] == "application/json")
        #expect(response["Cache-Control"] == "no-cache" && response["X-Content-Type-Options"] == "nosniff")
        let lines = response.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "[" && lines.last == "]" && lines.count == 6)
        #expect(lines[1].hasPrefix(#"{"path":"/d/z/","name":"z","modified":""#) && !lines[1].contains("size"))
        #expect(
            Array(lines[2...4]) == [
                #"{"path":"/d/\u0022ä","name":"\u0022ä","modified":"1994-11-06T08:49:37Z","size":5},"#,
                #"{"path":"/d/a2","name":"a2","modified":"1994-11-06T08:49:37Z","size":5},"#,
                #"{"path":"/d/a10","name":"a10","modified":"1994-11-06T08:49:37Z","size":5}"#,
            ])
    }

    @Test func rootAndEmptyFolder() async throws {
        let page = try TestPage()
        #expect(try await page.client.send("GET", "/?json").text == "[]\n")
        _ = try await page.client.send("PUT", "/a", text: "1")
        #expect(try await page.client.send("GET", "/?json").text.contains(#""path":"/a","name":"a""#))
        #expect(try await page.client.send("HEAD", "/?json").status == 200)
    }

    /// GCDWebUploader refuses these as well.
    @Test func hiddenAndMissingFoldersAreNotListed() async throws {
        let page = try TestPage { $0.rules.allowsHiddenItems = false }
        try page.folder.makeFile(".hidden")
        try page.folder.makeFile("seen")
        let text = try await page.client.send("GET", "/?json").text
        #expect(text.contains("seen") && !text.contains("hidden"))
        #expect(try await page.client.send("GET", "/.hidden?json").status == 404)
        #expect(try await page.client.send("GET", "/none/?json").status == 404)
    }

    /// A file is sent as without the query.
    @Test func queryDoesNotApplyToFiles() async throws {
        let page = try TestPage()
        _ = try await page.client.send("PUT", "/a", text: "content")
        #expect(try await page.client.send("GET", "/a?json").text == "content")
    }
}
