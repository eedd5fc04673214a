import DavitHTTP
import DavitListing
import Testing

struct ListingPageTests {
    static let time = Timestamp(seconds: 784_111_777)  // 1994-11-06T08:49:37Z

    func entry(_ name: String, isCollection: Bool = false, length: Int64 = 0) -> ListingEntry {
        ListingEntry(name: Array(name.utf8), isCollection: isCollection, length: length, modified: Self.time)
    }

    func row(_ entry: ListingEntry, of page: ListingPage = ListingPage(segments: [], endsInSlash: true))
        -> String
    {
        var buffer: [UInt8] = []
        page.append(entry, to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    func head(of page: ListingPage) -> String {
        var buffer: [UInt8] = []
        page.appendHead(to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test func fileHasALinkASizeADateAndADownload() {
        let text = row(entry("a b.txt", length: 1500))
        #expect(text.contains(#"<a class="f" href="./a%20b.txt"><bdi>a b.txt</bdi></a>"#))
        #expect(text.contains(#"<td class="s">1.5 kB</td>"#))
        #expect(text.contains(#"<time datetime="1994-11-06T08:49:37Z">1994-11-06 08:49</time>"#))
        #expect(text.contains(#"<a download href="./a%20b.txt" aria-label="Download a b.txt">"#))
    }

    @Test func collectionLinkHasASlashAndNoDownload() {
        let text = row(entry("sub", isCollection: true))
        #expect(
            text.contains(#"<a class="c" href="./sub/"><bdi>sub</bdi><span class="h"> (folder)</span></a>"#))
        #expect(!text.contains("download"))
    }

    static let names: [(name: [UInt8], text: String, link: String)] = [
        (Array("<script>".utf8), "&lt;script&gt;", "./%3Cscript%3E"),
        (
            Array("a\"onclick='x'&amp;".utf8), "a&quot;onclick=&#39;x&#39;&amp;amp;",
            "./a%22onclick%3D%27x%27%26amp%3B"
        ),
        // Without the prefix, this name would be a scheme.
        (Array("javascript:alert(1)".utf8), "javascript:alert(1)", "./javascript%3Aalert%281%29"),
        (Array("100% a+b #1?".utf8), "100% a+b #1?", "./100%25%20a%2Bb%20%231%3F"),
        (Array("ü\u{202e}txt".utf8), "ü\u{FFFD}txt", "./%C3%BC%E2%80%AEtxt"),
        ([0xFF, 0x61, 0x0A, 0x07], "\u{FFFD}a\u{FFFD}\u{FFFD}", "./%FFa%0A%07"),
    ]

    @Test(arguments: names)
    func namesAreEscaped(name: [UInt8], text: String, link: String) {
        let row = row(ListingEntry(name: name, isCollection: false, length: 0, modified: Self.time))
        #expect(row.contains("href=\"\(link)\"><bdi>\(text)</bdi></a>"))
        #expect(row.contains("aria-label=\"Download \(text)\""))
    }

    static let links: [(segments: [String], endsInSlash: Bool, crumbs: [String], member: String)] = [
        ([], true, [], "./f"),
        (["a"], true, ["./../"], "./f"),
        (["a b", "c"], true, ["./../../", "./../"], "./f"),
        // Without a slash, browsers resolve links against the parent.
        (["a"], false, ["./a/../"], "./a/f"),
        (["a b", "c d"], false, ["./c%20d/../../", "./c%20d/../"], "./c%20d/f"),
    ]

    @Test(arguments: links)
    func linksAreCorrectWithAndWithoutASlash(
        segments: [String], endsInSlash: Bool, crumbs: [String], member: String
    ) {
        let page = ListingPage(segments: segments.map { Array($0.utf8) }, endsInSlash: endsInSlash)
        let head = head(of: page)
        let found = head.split(separator: "<a href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(found.map(String.init) == crumbs)
        #expect(head.contains("aria-current=\"page\"><bdi>\(segments.last ?? "Files")</bdi>"))
        #expect(row(entry("f"), of: page).contains("href=\"\(member)\""))
    }

    static let sizes: [(bytes: Int64, text: String)] = [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"), (9949, "9.9 kB"),
        (9950, "10 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (1_500_000_000, "1.5 GB"),
        (.max, "9.2 EB"), (-1, "0 B"),
    ]

    @Test(arguments: sizes)
    func sizesAreReadable(bytes: Int64, text: String) {
        #expect(row(entry("f", length: bytes)).contains("<td class=\"s\">\(text)</td>"))
    }

    @Test func footReportsEmptyAndIncompleteListings() {
        let page = ListingPage(segments: [], endsInSlash: true)
        for (isEmpty, isComplete, text) in [
            (true, true, "This folder is empty."), (true, false, "could not be read completely"),
            (false, false, "could not be read completely"), (false, true, ""),
        ] {
            var buffer: [UInt8] = []
            page.appendFoot(isEmpty: isEmpty, isComplete: isComplete, to: &buffer)
            let foot = String(decoding: buffer, as: UTF8.self)
            #expect(foot.contains("<p") == !text.isEmpty)
            #expect(foot.contains(text) || text.isEmpty)
            #expect(foot.hasSuffix("</html>\n"))
        }
    }

    @Test func collectionsComeFirst() {
        let entries = [entry("a"), entry("z", isCollection: true), entry("b", isCollection: true)]
        #expect(entries.sorted(by: ListingEntry.precedes).map(\.name) == [[98], [122], [97]])
    }

    // Browsers ignore a style whose hash is not in the policy.
    @Test func policyHasTheHashOfTheStyle() throws {
        var fields = HTTPFields()
        ListingPage.appendFields(to: &fields)
        let policy = try #require(fields.first(.contentSecurityPolicy))
        let head = head(of: ListingPage(segments: [], endsInSlash: true))
        let start = try #require(head.split(separator: "<style>", maxSplits: 1).last)
        let style = try #require(start.split(separator: "</style>", maxSplits: 1).first)
        #expect(policy.contains("style-src 'sha256-\(sha256Base64(Array(style.utf8)))'"))
        #expect(policy.hasPrefix("default-src 'none';"))
        #expect(!head.contains("style=") && !head.contains("<script"))
    }
}
