#if TLS
import DavitCrypto
import DavitHTTP
import DavitSystem
import DavitTesting
import Testing

@testable import Davit

/// The page on which people learn how to trust a server's own authority.
struct TrustPageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var own: Configuration.TLS.Identity { .selfSigned(folder: folder.path + "/tls") }

    private func files() throws -> Configuration.TLS.Identity {
        let made = try CertificateGenerator.makeLeaf(
            names: ["localhost"], addresses: [], authority: try TestPKI.authority.get(), now: TestPKI.now)
        let path = folder.path + "/server.pem"
        try SmallFile.write(made.certificate.pem() + made.key.pem(), to: path, mode: 0o600)
        return .files(certificate: path, key: path)
    }

    private func serve(
        _ tls: Configuration.TLS, prefix: String = "", _ body: (WebServer, ChangeEventClient) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.prefix = prefix
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.tls = tls
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/a") { _ in .text("a") }
        }
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, ChangeEventClient(address: try #require(addresses.first)))
    }

    @Test func pageShowsTheFingerprintOverPlainHTTP() throws {
        try serve(.init(own), prefix: "/files") { server, client throws in
            let fingerprint = try #require(server.certificateAuthority).fingerprint
            let page = try client.send("GET /.davit-trust")
            #expect(page.status == 200)
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.content.contains("<code id=\"fingerprint\">\(fingerprint)</code>"))
            #expect(page.content.contains("href=\"/files/\""))
            #expect(!page.content.contains("%"), "a variable was not replaced")
            #expect(server.trustPageURL == "http://localhost:\(client.address.port)/.davit-trust")
            let fragment = "#sha256-\(fingerprint.filter { $0 != ":" })"
            #expect(server.trustPageURLWithFingerprint == server.trustPageURL.map { $0 + fragment })
            #expect(page.content.contains("<p id=\"\(fragment.dropFirst())\">"))
            let authority = try client.send("GET /.davit-trust/authority.json")
            #expect(authority["Content-Type"] == "application/json")
            #expect(authority.content.contains("\"fingerprint\":\"\(fingerprint)\""))
            let style = try client.send("GET /.davit-trust/page.css")
            #expect(style["Content-Type"] == "text/css; charset=utf-8")
            #expect(try client.send("HEAD /.davit-trust").status == 200)
        }
    }

    @Test func downloadsContainTheCertificateAndNoKey() throws {
        try serve(.init(own)) { server, client throws in
            let path = try #require(server.certificateAuthority).path
            let certificate = try Certificate.read(pem: try SmallFile(reading: path).bytes)[0]
            let crt = try client.send("GET /.davit-trust/davit.crt")
            #expect(crt["Content-Type"] == "application/x-x509-ca-cert")
            #expect(crt["Content-Length"] == "\(try certificate.der().count)")
            let profile = try client.send("GET /.davit-trust/davit.mobileconfig")
            #expect(profile["Content-Type"] == "application/x-apple-aspen-config")
            #expect(profile.content.contains("<data>\(Base64.encode(try certificate.der()))</data>"))
            #expect(profile.content.contains("<string>com.apple.security.root</string>"))
            for name in ["authority-key.pem", "server.pem", "../tls/authority-key.pem", ""] {
                #expect(try client.send("GET /.davit-trust/\(name)").status == 301, "\(name)")
            }
        }
    }

    @Test(arguments: [
        ("GET /", 301), ("GET /.davit-trust-x", 301), ("GET /.davit-trust/x", 301), ("PUT /a", 308),
        ("PUT /.davit-trust", 405), ("DELETE /.davit-trust/davit.crt", 405),
    ])
    func otherRequestsAreRedirectedOrRefused(_ line: String, status: Int) throws {
        try serve(.init(own)) { _, client throws in
            let answer = try client.send(line)
            #expect(answer.status == status)
            #expect(answer["Connection"] == "close")
        }
    }

    /// Clients may already trust the operator's certificate, and people should not install another authority for it.
    @Test func thereIsNoPageWithOtherCertificates() throws {
        for tls in [Configuration.TLS(try files()), .init(try files(), own), .init(own, try files())] {
            try serve(tls) { server, client throws in
                #expect(try client.send("GET /.davit-trust").status == 301)
                #expect(try client.send("GET /.davit-trust/davit.crt").status == 301)
                #expect(server.trustPageURL == nil)
            }
        }
    }

    @Test func profileIsStableAndEscaped() throws {
        let authority = try CertificateGenerator.makeAuthority(named: "A & <B>", now: TestPKI.now).certificate
        let download = try AuthorityDownload(authority)
        #expect(download.profile == (try AuthorityDownload(authority)).profile)
        let text = String(decoding: download.profile, as: UTF8.self)
        #expect(!text.contains("<B>"))
        #expect(text.contains("&lt;B"))
        let other = try CertificateGenerator.makeAuthority(named: "A & <B>", now: TestPKI.now).certificate
        #expect(try AuthorityDownload(other).profile != download.profile)
        #expect(String(decoding: download.certificate, as: UTF8.self).contains("PRIVATE") == false)
    }
}
#endif
