import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// The page of a real folder, as received by a browser.
struct FolderListingTests {
    private let folder: TemporaryFolder
    private let client: TestClient<WebDAVHandler>

    init() throws {
        folder = try TemporaryFolder()
        let share = Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()), work: Work(pool: BlockingPool()),
            configuration: ShareConfiguration(), now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
        client = TestClient(WebDAVHandler(share: share, page: FolderListing()))
    }

    @Test func foldersComeFirstAndNumbersAreSortedByValue() async throws {
        for name in ["a10", "a2", "B"] { _ = try await client.send("PUT", "/\(name)", text: name) }
        _ = try await client.send("MKCOL", "/z")
        let page = try await client.send("GET", "/").text
        let places = ["./z/", "./a2", "./a10", "./B"].map { page.range(of: "href=\"\($0)\"") }
        #expect(places.allSatisfy { $0 != nil }, "\(page)")
        #expect(
            places.compactMap { $0 }.map(\.lowerBound) == places.compactMap { $0 }.map(\.lowerBound).sorted())
    }

    @Test func linksWorkWithAndWithoutTheSlash() async throws {
        _ = try await client.send("MKCOL", "/a%23b")
        _ = try await client.send("PUT", "/a%23b/c", text: "c")
        #expect(try await client.send("GET", "/a%23b/").text.contains("href=\"./c\""))
        #expect(try await client.send("GET", "/a%23b").text.contains("href=\"./a%23b/c\""))
    }

    // A share does not redirect to the URL with the trailing slash, because WebDAV clients request folders
    // without it; so links must work for both URLs.
    @Test func linksWorkBelowAPrefix() async throws {
        _ = try await client.send("MKCOL", "/d")
        let application = client.application
        let mounted = TestClient(Router { $0.mount("/x/my files", application) })
        #expect(try await mounted.send("GET", "/x/my%20files").text.contains("href=\"./my%20files/d/\""))
        #expect(try await mounted.send("GET", "/x/my%20files/").text.contains("href=\"./d/\""))
        let inner = try await mounted.send("GET", "/x/my%20files/d").text
        #expect(inner.contains("href=\"./d/../\""))
    }

    @Test func pageHasNoScriptsAndLoadsNothing() async throws {
        _ = try await client.send("PUT", "/%3Cscript%3E", text: "x")
        let response = try await client.send("GET", "/")
        #expect(response["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        #expect(!response.text.contains("<script"))
    }

    @Test func membersBeyondTheSortingLimitAreListed() async throws {
        for number in 0..<10_500 { try folder.makeFile("f\(number)") }
        let page = try await client.send("GET", "/").text
        #expect(page.ranges(of: "<a class=\"f\"").count == 10_500)
    }
}

struct Work: BlockingWorkRunner {
    let pool: BlockingPool

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { await pool.run { work() } }
}

extension String {
    /// Returns the first range of `part`.
    fileprivate func range(of part: String) -> Range<String.Index>? { firstRange(of: part) }
}
