#if QRCode
import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitPage
import DavitQRCode
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// The address of a folder as a QR code.
struct AddressCodeTests {
    private let folder: TemporaryFolder
    private let client: TestClient<WebDAVHandler>

    init() throws {
        folder = try TemporaryFolder()
        var configuration = ShareConfiguration()
        configuration.securePublicHosts = ["secure.example"]
        let share = Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()), work: Work(pool: BlockingPool()),
            configuration: configuration, now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
        client = TestClient(WebDAVHandler(share: share, page: BrowserPage()))
    }

    private func picture(of address: String) -> String? { QRCode(encoding: address)?.svg() }

    @Test func codeContainsTheRequestedAddress() async throws {
        _ = try await client.send("MKCOL", "/my%20files")
        let response = try await client.send("GET", "/my%20files?qr")
        #expect(response["Content-Type"] == "image/svg+xml")
        #expect(response.text == picture(of: "http://localhost/my%20files/"))
        var other = client
        other.host = "files.example:8080"
        #expect(try await other.send("GET", "/?qr").text == picture(of: "http://files.example:8080/"))
    }

    /// A proxy that terminates TLS need not send the scheme, because the public URL is configured.
    @Test func codeUsesThePublicURLBehindAProxy() async throws {
        var other = client
        other.host = "secure.example"
        #expect(try await other.send("GET", "/?qr").text == picture(of: "https://secure.example/"))
    }

    @Test func codeIncludesTheMountPrefix() async throws {
        let mounted = TestClient(
            Router { [application = client.application] in $0.mount("/x/dav", application) })
        #expect(try await mounted.send("GET", "/x/dav/?qr").text == picture(of: "http://localhost/x/dav/"))
    }

    @Test func queryIsIgnoredForContent() async throws {
        _ = try await client.send("PUT", "/a", text: "content")
        #expect(try await client.send("GET", "/a?qr").text == "content")
    }
}
#endif
