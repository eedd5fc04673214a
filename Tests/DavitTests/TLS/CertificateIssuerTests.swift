#if TLS
import DavitCrypto
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

@testable import Davit

/// A server whose certificate comes from elsewhere.
struct CertificateIssuerTests {
    /// An issuer that the test controls.
    private final class FakeIssuer: CertificateIssuer {
        struct State {
            var certificate: IssuedCertificate?
            var isBroken = false
            var server: CertificateConsumer?
            var folder: String?
        }

        let state = Mutex(State())
        let domains = ["localhost", "files.example"]

        func certificate(in folder: String) throws(CertificateIssuerError) -> IssuedCertificate? {
            let (certificate, isBroken) = state.withLock { ($0.certificate, $0.isBroken) }
            if isBroken { throw CertificateIssuerError(reason: "broken") }
            return certificate
        }

        func start(in folder: String, for server: CertificateConsumer) {
            state.withLock { ($0.server, $0.folder) = (server, folder) }
        }

        func stop() { state.withLock { $0.server = nil } }

        /// Returns the fingerprint.
        func issue() throws -> [UInt8] {
            let pair = try CertificateGenerator.makeLeaf(
                names: domains, addresses: [], authority: try TestPKI.authority.get(), now: TestPKI.now)
            let issued = IssuedCertificate(chain: try pair.certificate.pem(), key: try pair.key.pem())
            state.withLock { $0.certificate = issued }
            return try pair.certificate.fingerprint()
        }
    }

    private let issuer = FakeIssuer()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func server() throws -> WebServer {
        try ExclusiveFolder.makeFolders(folder.path + "/share")
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logSink = .custom { _ in }
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.tls = .init(issuer: issuer)
        return try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state"),
            configuration: configuration)
    }

    private static func certificateProblem(_ server: WebServer) async -> String? {
        await server.healthChecks().first { $0.name == "certificate" }?.problem
    }

    @Test func temporaryCertificateIsReplaced() async throws {
        let server = try server()
        let address = try #require(server.start().first)
        #expect(issuer.state.withLock { $0.folder } == folder.path + "/state/acme")
        let temporary = try SecureClient(address).fingerprint
        #expect(await Self.certificateProblem(server) == "a certificate has expired")
        let first = try issuer.issue()
        #expect(try SecureClient(address).fingerprint == temporary)
        issuer.state.withLock { $0.server }?.certificateChanged()
        #expect(try SecureClient(address).fingerprint == first)
        #expect(await Self.certificateProblem(server) == nil)
        // A running server keeps its certificate if the stored one is damaged.
        issuer.state.withLock { $0.isBroken = true }
        issuer.state.withLock { $0.server }?.certificateChanged()
        #expect(try SecureClient(address).fingerprint == first)
        await server.stop()
        #expect(issuer.state.withLock { $0.server == nil })
    }

    @Test func storedCertificateIsUsedFromTheStart() async throws {
        let first = try issuer.issue()
        let server = try server()
        let address = try #require(server.start().first)
        #expect(try SecureClient(address).fingerprint == first)
        #expect(await Self.certificateProblem(server) == nil)
        await server.stop()
    }

    @Test func damagedCertificateDoesNotPreventTheStart() async throws {
        issuer.state.withLock { $0.isBroken = true }
        let server = try server()
        let address = try #require(server.start().first)
        #expect(try SecureClient(address).tls.serverCertificate().covers("files.example"))
        await server.stop()
    }

    @Test func challengeIsAnsweredAndItsConnectionClosed() async throws {
        let usual = try issuer.issue()
        let server = try server()
        let address = try #require(server.start().first)
        issuer.state.withLock { $0.server }?.answer(["files.example": [UInt8](repeating: 7, count: 32)], [:])
        let options = TLSTestClient.Options(protocols: ["acme-tls/1"], serverName: "files.example")
        let client = try SecureClient(address, options)
        #expect(try client.fingerprint != usual)
        #expect(try client.tls.serverCertificate().covers("files.example"))
        #expect(throws: SecureClient.CommandFailure.self) { try client.get("/", content: 1) }
        // Others are not affected.
        let other = try SecureClient(address, .init(serverName: "files.example"))
        #expect(try other.fingerprint == usual)
        #expect(try other.get("/", content: 0).hasPrefix("HTTP/1.1 "))
        await server.stop()
    }

    // MARK: Plain HTTP

    private static func response(_ handler: PlainHandler, _ head: String) throws -> HTTPResponse {
        let request = try HTTPRequest(parsing: Array((head + "\r\nHost: files.example:80\r\n\r\n").utf8))
        guard case .ready(let response) = try handler.respond(to: request) else {
            throw HTTPError(.internalServerError)
        }
        return response
    }

    @Test func plainRequestsGetTheChallengeOrARedirect() throws {
        let answers = ChallengeAnswers()
        try answers.set([:], ["token-1": "token-1.thumb"], now: TestPKI.now)
        let handler = PlainHandler(
            answers: answers, redirect: SecureRedirect { _ in Array("files.example".utf8) })
        let path = "/.well-known/acme-challenge/"
        let found = try Self.response(handler, "GET \(path)token-1 HTTP/1.1")
        #expect(found.status == .ok)
        #expect(try Self.response(handler, "GET \(path)token-2 HTTP/1.1").status == .notFound)
        #expect(try Self.response(handler, "GET \(path) HTTP/1.1").status == .notFound)
        #expect(try Self.response(handler, "PUT \(path)token-1 HTTP/1.1").status == .methodNotAllowed)
        let redirect = try Self.response(handler, "GET /a?b HTTP/1.1")
        #expect(redirect.status.code == 301)
        #expect(redirect.fields.first(.location) == "https://files.example/a?b")
        try answers.set([:], [:], now: TestPKI.now)
        #expect(try Self.response(handler, "GET \(path)token-1 HTTP/1.1").status == .notFound)
    }
}
#endif
