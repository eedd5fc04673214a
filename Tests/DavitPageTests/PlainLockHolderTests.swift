import DavitPage
import DavitTesting
import Testing

/// Lock owners on the page without scripts.
struct PlainLockHolderTests {
    private static func lockInfo(_ owner: String) -> [UInt8] {
        Array(
            """
            <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>\(owner)</lockinfo>
            """.utf8)
    }

    @Test(arguments: [
        ("<owner> Anna &lt;b&gt;</owner>", nil, "Anna &lt;b&gt;"),
        ("<owner><href>mailto:anna@example.org</href></owner>", nil, "mailto:anna@example.org"),
        ("<owner>Anna</owner>", "berta", "berta"),
        ("<owner> </owner>", nil, "another user"),
        ("", nil, "another user"),
    ])
    func lockOwnerIsShown(owner: String, principal: String?, shown: String) async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let answer = try await page.client.send(
            "LOCK", "/a", body: Self.lockInfo(owner), principal: principal)
        #expect(answer.status == 200)
        let text = try await page.get("/?about=a").text
        #expect(text.contains("Locked by \(shown) until"))
        #expect(text.contains("This item is locked by \(shown)."))
    }

    @Test func longOwnersAreTruncated() async throws {
        let page = try TestPage()
        try page.folder.makeFile("a")
        let owner = "<owner>\(String(repeating: "a", count: 5000))</owner>"
        _ = try await page.client.send("LOCK", "/a", body: Self.lockInfo(owner))
        let text = try await page.get("/?about=a").text
        #expect(text.contains("Locked by \(String(repeating: "a", count: 200)) until"))
    }
}
