#if TLS
import COpenSSL
import DavitCrypto
import DavitHTTP
import DavitTesting
import Testing

/// Certificates, requests and signatures for ACME.
struct ACMECertificateTests {
    private static let digest = [UInt8](0..<32)

    /// Whether `bytes` contains `part`.
    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    /// The bytes of a PEM text with one block.
    private static func der(_ pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
        let text = Array(lines.joined().utf8)
        let bytes = Base64.decode(text.span)
        return try #require(bytes)
    }

    @Test func challengeCertificateHasTheCriticalExtension() throws {
        let made = try CertificateGenerator.makeSelfSigned(
            names: ["files.example"], acmeIdentifier: Self.digest, now: TestPKI.now)
        // RFC 8737 §3: the identifier 1.3.6.1.5.5.7.1.31, critical, and an octet string within the extension.
        let identifier: [UInt8] = [0x06, 8, 0x2b, 6, 1, 5, 5, 7, 1, 31]
        let expected = identifier + [0x01, 1, 0xff, 0x04, 34, 0x04, 32] + Self.digest
        #expect(try Self.contains(Self.der(made.certificate.pem()), expected))
        #expect(made.certificate.covers("files.example"))
        #expect(!made.certificate.covers("example"))
        #expect(made.key.belongs(to: made.certificate))
        let validity = try made.certificate.validity()
        #expect(validity.contains(TestPKI.now))
        #expect(validity.upperBound == TestPKI.now.adding(seconds: 7 * 86_400))
    }

    @Test func temporaryCertificateHasNoSuchExtension() throws {
        let made = try CertificateGenerator.makeSelfSigned(names: ["files.example"], now: TestPKI.now)
        #expect(try !Self.contains(Self.der(made.certificate.pem()), [0x2b, 6, 1, 5, 5, 7, 1, 31]))
    }

    @Test func badNamesAreRefused() throws {
        #expect(throws: CertificateGenerator.Problem.badName("a,DNS:b")) {
            try CertificateGenerator.makeSelfSigned(names: ["a,DNS:b"], now: TestPKI.now)
        }
        let key = try PrivateKey.makeP256()
        #expect(throws: CertificateGenerator.Problem.noHost) {
            try CertificateGenerator.makeRequest(names: [], key: key)
        }
        #expect(throws: CertificateGenerator.Problem.badName("a b")) {
            try CertificateGenerator.makeRequest(names: ["a b"], key: key)
        }
    }

    @Test func requestContainsNamesAndKey() throws {
        let key = try PrivateKey.makeP256()
        let request = try CertificateGenerator.makeRequest(names: ["files.example", "www.example"], key: key)
        let point = try #require(key.p256Point())
        #expect(Self.contains(request, [4] + point.x + point.y))
        // An empty subject.
        #expect(request.starts(with: [0x30, 0x81]) || request.starts(with: [0x30, 0x82]))
        for name in ["files.example", "www.example"] {
            #expect(Self.contains(request, [0x82, UInt8(name.utf8.count)] + Array(name.utf8)))
        }
        // RFC 2986 §4.2: the signature is that of the key.
        var bytes: UnsafePointer<UInt8>?
        let parsed = unsafe request.withUnsafeBufferPointer { buffer in
            unsafe bytes = buffer.baseAddress
            return unsafe d2i_X509_REQ(nil, &bytes, buffer.count)
        }
        defer { unsafe X509_REQ_free(parsed) }
        #expect(unsafe X509_REQ_verify(parsed, X509_REQ_get0_pubkey(parsed)) == 1)
    }

    @Test func signaturesAreThoseOfTheKey() throws {
        let key = try PrivateKey.makeP256()
        let point = try #require(key.p256Point())
        let other = try #require(PrivateKey.makeP256().p256Point())
        // Numbers that begin with zero bytes are shorter in ASN.1; every 128th signature has one.
        for round in 0..<300 {
            let message = Array("message \(round)".utf8)
            let signature = try key.signatureP256(of: message)
            #expect(signature.count == 64)
            #expect(try PublicKey.p256(x: point.x, y: point.y)?.accepts(signature, for: message) == true)
            #expect(try PublicKey.p256(x: other.x, y: other.y)?.accepts(signature, for: message) == false)
        }
    }

    // MARK: Challenges

    private static func context(
        _ challenges: TLSChallenges?, clients: ClientCertificates = .off
    ) throws -> TLSContext {
        try TLSContext(
            identities: [try TestPKI.server.get()], clients: clients, tickets: TicketKeys(now: TestPKI.now),
            challenges: challenges)
    }

    private static func challenges(_ names: String...) throws -> (TLSChallenges, CertificateGenerator.Pair) {
        let challenges = TLSChallenges()
        let made = try CertificateGenerator.makeSelfSigned(
            names: names, acmeIdentifier: digest, now: TestPKI.now)
        try challenges.set(Dictionary(uniqueKeysWithValues: names.map { ($0, made) }))
        return (challenges, made)
    }

    @Test(arguments: TLSSessionTests.versions)
    func challengeIsAnswered(of: (number: Int32, version: TLSSession.Version)) throws {
        let (challenges, made) = try Self.challenges("files.example")
        let authority = try TestPKI.authority.get().certificate
        // Servers that validate names have no certificates.
        for clients in [ClientCertificates.off, .demanded([authority])] {
            let options = TLSTestClient.Options(
                least: of.number, most: of.number, protocols: ["acme-tls/1"], serverName: "Files.example")
            let talk = try TLSConversation(try Self.context(challenges, clients: clients), options)
            #expect(talk.performHandshake() == (.done, .done))
            let hasAnswered = talk.server.hasAnsweredChallenge
            #expect(hasAnswered)
            let name = talk.server.applicationProtocol
            #expect(name == "acme-tls/1")
            #expect(try talk.client.serverCertificate().fingerprint() == made.certificate.fingerprint())
        }
    }

    static let others: [(protocols: [String], name: String?, isDone: Bool)] = [
        (["http/1.1"], "files.example", true), ([], "files.example", true), ([], nil, true),
        // RFC 8737 §3: it must be the only protocol.
        (["acme-tls/1", "http/1.1"], "files.example", true),
        (["acme-tls/1"], "other.example", false), (["acme-tls/1"], nil, false),
    ]

    @Test(arguments: others, TLSSessionTests.versions)
    func otherHandshakesGetTheUsualCertificate(
        row: (protocols: [String], name: String?, isDone: Bool),
        of: (number: Int32, version: TLSSession.Version)
    ) throws {
        let (challenges, _) = try Self.challenges("files.example")
        let options = TLSTestClient.Options(
            least: of.number, most: of.number, protocols: row.protocols, serverName: row.name)
        let talk = try TLSConversation(try Self.context(challenges), options)
        let (server, _) = talk.performHandshake()
        #expect((server == .done) == row.isDone)
        let hasAnswered = talk.server.hasAnsweredChallenge
        #expect(!hasAnswered)
        guard row.isDone else { return }
        let usual = try TestPKI.server.get().certificate
        #expect(try talk.client.serverCertificate().fingerprint() == usual.fingerprint())
    }

    @Test func removedChallengeIsNotAnswered() throws {
        let (challenges, _) = try Self.challenges("files.example")
        let context = try Self.context(challenges)
        try challenges.set([:])
        let options = TLSTestClient.Options(protocols: ["acme-tls/1"], serverName: "files.example")
        let talk = try TLSConversation(context, options)
        #expect(talk.performHandshake().server != .done)
    }

    @Test func sessionOfAChallengeCannotBeResumed() throws {
        let (challenges, _) = try Self.challenges("localhost")
        let context = try Self.context(challenges)
        var options = TLSTestClient.Options(protocols: ["acme-tls/1"], serverName: "localhost")
        let first = try TLSConversation(context, options)
        #expect(first.performHandshake() == (.done, .done))
        #expect(first.client.read().bytes.isEmpty)
        options.session = try first.client.session()
        options.protocols = ["http/1.1"]
        let second = try TLSConversation(context, options)
        #expect(second.performHandshake() == (.done, .done))
        let wasResumed = second.server.wasResumed
        #expect(!wasResumed)
    }
}
#endif
