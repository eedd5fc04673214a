import DavitPage
import DavitTesting
import Testing

/// The address for other programs, on the page without scripts.
struct PlainConnectTests {
    /// Other devices cannot reach a loopback address, so the page states this and shows no QR code.
    @Test(arguments: [
        ("localhost:8080", true), ("127.0.0.1:8080", true), ("127.8.0.1", true),
        ("[::1]:8080", true), ("a.localhost", true), ("files.example", false),
        ("192.168.1.20:8080", false), ("[2001:db8::1]", false), ("localhost.example", false),
    ])
    func loopbackAddressHasNoCode(host: String, isLoopback: Bool) async throws {
        let page = try TestPage()
        var client = page.client
        client.host = host
        let text = try await client.send("GET", "/", [("Accept", "text/html")]).text
        #expect(text.contains("This address works only on this computer.") == isLoopback)
        #if QRCode
        #expect(text.contains("?qr") != isLoopback)
        #endif
    }
}
