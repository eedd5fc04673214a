#if TLS
import Davit
import DavitCrypto
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// A server with TLS, from its files to its clients.
struct SecureServerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws -> String {
        let path = folder.path + "/" + name
        try SmallFile.write(bytes, to: path, mode: mode)
        return path
    }

    /// Writes a certificate and its key, and returns the fingerprint.
    @discardableResult
    private func write(_ names: String..., to name: String = "server") throws -> [UInt8] {
        let made = try CertificateGenerator.makeLeaf(
            names: names, addresses: [], authority: try TestPKI.authority.get(), now: TestPKI.now)
        _ = try file(name + ".pem", made.certificate.pem() + made.key.pem())
        return try made.certificate.fingerprint()
    }

    private func files(_ name: String = "server") -> Configuration.TLS.Identity {
        .files(certificate: folder.path + "/\(name).pem", key: folder.path + "/\(name).pem")
    }

    private func server(_ tls: Configuration.TLS) throws -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.tls = tls
        return try WebServer(configuration: configuration) { routes in
            routes.get("/who") { request in
                .text("\(request.isSecure) \(request.clientCertificate?.subject ?? "-")")
            }
        }
    }

    private func serve(_ server: WebServer, _ body: (BoundAddress) throws -> Void) throws {
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    @Test func tlsIsUsedAndReported() throws {
        try write("localhost")
        let server = try server(.init(files()))
        try serve(server) { address throws in
            #expect(try SecureClient(address).get("/who", content: 6).hasSuffix("true -"))
            #expect(server.url == "https://localhost:\(address.port)/")
            #expect(server.certificateAuthority == nil)
            let plain = try ChangeEventClient(address: address).send("GET /who?x", host: "localhost:1")
            #expect(plain.status == 301)
            #expect(plain["Location"] == "https://localhost:1/who?x")
        }
    }

    @Test func certificatesAreReloaded() throws {
        let first = try write("localhost")
        let server = try server(.init(files()))
        try serve(server) { address throws in
            let open = try SecureClient(address)
            #expect(try open.fingerprint == first)
            let second = try write("localhost")
            #expect(try SecureClient(address).fingerprint == first, "should not be reloaded yet")
            try server.reloadCertificates()
            #expect(try SecureClient(address).fingerprint == second)
            #expect(try open.get("/who", content: 6).hasSuffix("true -"), "connections should continue")
            _ = try file("server.pem", Array("broken".utf8))
            #expect(throws: ServerError.self) { try server.reloadCertificates() }
            server.reload()
            #expect(try SecureClient(address).fingerprint == second, "the certificate should be kept")
        }
    }

    @Test func reloadRunsEveryAction() throws {
        try write("localhost")
        let server = try server(.init(files()))
        let runs = Mutex<[Int]>([])
        for number in 1...2 { server.onReload { runs.withLock { $0.append(number) } } }
        server.reload()
        #expect(runs.withLock { $0 } == [1, 2])
    }

    @Test func serverNameSelectsTheCertificate() throws {
        let one = try write("one.example", to: "one")
        let two = try write("two.example", to: "two")
        try serve(try server(.init(files("one"), files("two")))) { address throws in
            #expect(try SecureClient(address, .init(serverName: "two.example")).fingerprint == two)
            #expect(try SecureClient(address, .init(serverName: "one.example")).fingerprint == one)
            #expect(try SecureClient(address).fingerprint == one)
        }
    }

    @Test func clientsCanAuthenticateWithCertificates() throws {
        try write("localhost")
        let authority = try TestPKI.authority.get()
        let path = try file("clients.pem", try authority.certificate.pem())
        let anna = try TestPKI.client("anna", signedBy: authority)
        try serve(try server(.init(files(), clients: .required(authorities: path)))) { address throws in
            let client = try SecureClient(address, .init(identity: anna))
            #expect(try client.get("/who", content: 12).hasSuffix("true CN=anna"))
            #expect(throws: (any Error).self) { try SecureClient(address).get("/who", content: 1) }
        }
        try serve(try server(.init(files(), clients: .optional(authorities: path)))) { address throws in
            #expect(try SecureClient(address).get("/who", content: 6).hasSuffix("true -"))
        }
    }

    @Test func selfSignedAuthorityIsCreated() throws {
        let server = try server(.init(.selfSigned(folder: folder.path + "/tls")))
        let authority = try #require(server.certificateAuthority)
        let trusted = try SmallFile(reading: authority.path).bytes
        try serve(server) { address throws in
            let client = try SecureClient(address, .init(serverName: "localhost", trusted: trusted))
            #expect(try client.get("/who", content: 6).hasSuffix("true -"))
        }
    }

    // MARK: Errors

    private func reason(_ tls: Configuration.TLS) throws -> String? {
        do throws(ServerError) {
            _ = try { () throws(ServerError) in
                var configuration = Configuration()
                configuration.hosts = ["127.0.0.1"]
                configuration.tls = tls
                configuration.logLevel = .error
                return try WebServer(configuration: configuration) { _ in }
            }()
            return nil
        } catch {
            return error.certificateReason.replacing(folder.path, with: "X")
        }
    }

    @Test func configurationErrorsAreReported() throws {
        try write("localhost")
        try write("other", to: "other")
        let good = try TestCertificate(
            CertificateGenerator.makeLeaf(
                names: ["a"], addresses: [], authority: try TestPKI.authority.get(), now: TestPKI.now))
        let empty = try file("empty", [])
        let certificate = try file("cert", good.chain)
        let encrypted = try file("encrypted", try good.encryptedKey())
        let broken = try file(
            "broken", Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8))
        let weak = try TestCertificate.make("weak", kind: .rsa(bits: 1024))
        let weakFile = try file("weak", weak.chain + weak.key)
        let cases: [(Configuration.TLS, String)] = [
            (
                .init(.files(certificate: folder.path + "/none", key: "x")),
                "X/none: cannot read file: open: "
            ),
            (.init(.files(certificate: empty, key: empty)), "X/empty: no certificate found"),
            (
                .init(.files(certificate: broken, key: empty)),
                "X/broken: cannot read certificate: "
            ),
            (.init(.files(certificate: certificate, key: empty)), "X/empty: no private key found"),
            (
                .init(.files(certificate: certificate, key: encrypted)),
                "X/encrypted: keys with a passphrase are not supported"
            ),
            (
                .init(.files(certificate: certificate, key: folder.path + "/other.pem")),
                "X/cert: the key in X/other.pem does not match the certificate"
            ),
            (
                .init(.files(certificate: weakFile, key: weakFile)),
                "X/weak: rejected by OpenSSL: ee key too small"
            ),
            (
                .init(files(), clients: .required(authorities: empty)),
                "X/empty: no certificate found"
            ),
            (.init(.pem(certificate: [], key: [])), "no certificate found"),
        ]
        for (tls, expected) in cases {
            let reason = try #require(try reason(tls))
            #expect(reason.hasPrefix(expected), "\(reason)")
        }
        #expect(try reason(.init()) == "no certificate is configured")
    }
}
#endif
