#if TLS
import COpenSSL
import DavitCrypto
import DavitTesting
import Testing

struct ClientCertificateTests {
    enum Rule: CaseIterable { case off, asked, demanded }
    enum Shown: CaseIterable { case none, good, ofAnotherAuthority, ofAServer, expired, selfSigned }

    static let other = Result { try CertificateGenerator.makeAuthority(named: "Others", now: TestPKI.now) }

    static func rule(_ rule: Rule) throws -> ClientCertificates {
        let authority = try TestPKI.authority.get().certificate
        return switch rule {
        case .off: .off
        case .asked: .asked([authority])
        case .demanded: .demanded([authority])
        }
    }

    static func identity(_ shown: Shown) throws -> TestCertificate? {
        let authority = try TestPKI.authority.get()
        return switch shown {
        case .none: nil
        case .good: try TestPKI.client("anna", signedBy: authority)
        case .ofAnotherAuthority: try TestPKI.client("anna", signedBy: try other.get())
        case .ofAServer: try TestPKI.client("anna", signedBy: authority, purpose: "serverAuth")
        case .expired: try TestPKI.client("anna", signedBy: authority, seconds: -1)
        case .selfSigned: try TestCertificate.make("anna")
        }
    }

    /// Returns why the handshake fails; nil if it succeeds.
    static func refusal(of shown: Shown, under rule: Rule) -> String? {
        if rule == .off { return nil }
        return switch shown {
        case .none: rule == .asked ? nil : "peer did not return a certificate"
        case .good: nil
        case .ofAnotherAuthority:
            "certificate verify failed: unable to get local issuer certificate"
        case .ofAServer: "certificate verify failed: unsuitable certificate purpose"
        case .expired: "certificate verify failed: certificate has expired"
        case .selfSigned: "certificate verify failed: self-signed certificate"
        }
    }

    @Test(arguments: Rule.allCases, Shown.allCases)
    func clientCertificateRuleIsEnforced(rule: Rule, shown: Shown) throws {
        for (number, _) in TLSSessionTests.versions {
            let identity = try Self.identity(shown)
            let options = TLSTestClient.Options(least: number, most: number, identity: identity)
            let talk = try TLSConversation(clients: try Self.rule(rule), options)
            let (server, _) = talk.performHandshake()
            if let reason = Self.refusal(of: shown, under: rule) {
                #expect(server == .failed(.refused(reason)))
                #expect(talk.server.version == nil)
                continue
            }
            #expect(server == .done)
            let certificate = talk.server.clientCertificate
            #expect((certificate != nil) == (rule != .off && shown == .good))
            if let certificate, let identity {
                #expect(try certificate.subject() == "CN=anna")
                let own = try Certificate.read(pem: identity.chain)[0]
                #expect(try certificate.fingerprint() == own.fingerprint())
            }
        }
    }

    @Test(arguments: TLSSessionTests.versions)
    func resumedSessionKeepsTheClientCertificate(of: (number: Int32, version: TLSSession.Version)) throws {
        let context = try TLSContext(
            identities: [try TestPKI.server.get()], clients: try Self.rule(.demanded),
            tickets: TicketKeys(now: TestPKI.now))
        var options = TLSTestClient.Options(least: of.number, most: of.number)
        options.identity = try Self.identity(.good)
        options.session = try TLSContextTests.session(with: context, options).session
        options.identity = nil
        let talk = try TLSConversation(context, options)
        #expect(talk.performHandshake() == (.done, .done))
        #expect(talk.server.wasResumed == true)
        #expect(try talk.server.clientCertificate?.subject() == "CN=anna")
    }

    // A subject is untrusted and is written to logs: it must not imitate another subject or contain line
    // breaks.
    @Test func subjectsAreEscaped() throws {
        let certificate = try TestCertificate.make("a,CN=root\n\u{e9}\"")
        let subject = try Certificate.read(pem: certificate.chain)[0].subject()
        #expect(subject == #"CN=a\,CN=root\0A\C3\A9\""#)
    }
}
#endif
