#if TLS
import DavitCrypto
import DavitTesting
import Testing

struct TLSIdentityTests {
    static let certificate = Result { try TestCertificate.make("one") }
    static let other = Result { try TestCertificate.make("two") }

    @Test func oneFileCanHoldChainAndKey() throws {
        let certificate = try Self.certificate.get()
        for file in [certificate.chain + certificate.key, certificate.key + certificate.chain] {
            let identity = try TLSIdentity(chain: file, key: file)
            #expect(try identity.certificate.subject() == "CN=one")
        }
    }

    @Test func chainIsSent() throws {
        let certificate = try Self.certificate.get()
        let chain = certificate.chain + (try Self.other.get().chain)
        let identity = try TLSIdentity(chain: chain, key: certificate.key)
        #expect(try identity.chain.map { try $0.subject() } == ["CN=one", "CN=two"])
        let context = try TLSContext(identities: [identity], tickets: TicketKeys(now: TestPKI.now))
        let talk = try TLSConversation(context)
        #expect(talk.performHandshake() == (.done, .done))
        #expect(talk.client.chainCount == 2)
    }

    @Test func keyMustMatchTheCertificate() throws {
        let chain = try Self.certificate.get().chain
        let key = try Self.other.get().key
        #expect(throws: TLSIdentity.Problem.keyDoesNotMatch) { try TLSIdentity(chain: chain, key: key) }
        // A key that belongs to another certificate of the chain is refused, too: the order of the chain is
        // wrong.
        let reversed = chain + (try Self.other.get().chain)
        #expect(throws: TLSIdentity.Problem.keyDoesNotMatch) { try TLSIdentity(chain: reversed, key: key) }
    }

    @Test func encryptedKeyIsRefusedWithoutAPrompt() throws {
        let certificate = try Self.certificate.get()
        #expect(throws: TLSIdentity.Problem.key(.isEncrypted)) {
            try TLSIdentity(chain: certificate.chain, key: try certificate.encryptedKey())
        }
    }

    @Test func filesWithoutCertificateOrKeyAreRefused() throws {
        let certificate = try Self.certificate.get()
        let nothing: [[UInt8]] = [[], Array("hello\n".utf8), certificate.key]
        for chain in nothing {
            #expect(throws: TLSIdentity.Problem.certificate(.none)) {
                try TLSIdentity(chain: chain, key: certificate.key)
            }
        }
        for key in [[], Array("hello\n".utf8), certificate.chain] {
            let problem = #expect(throws: TLSIdentity.Problem.self) {
                try TLSIdentity(chain: certificate.chain, key: key)
            }
            guard case .key(.notReadable) = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
        }
    }

    @Test func partlyBrokenFileIsRefused() throws {
        let certificate = try Self.certificate.get()
        // The second certificate of the chain is truncated, or invalid Base64.
        let other = try Self.other.get().chain
        var scrambled = other
        for index in 100..<140 { scrambled[index] = UInt8(ascii: "*") }
        for broken in [Array(other.dropLast(60)), scrambled] {
            let problem = #expect(throws: TLSIdentity.Problem.self) {
                try TLSIdentity(chain: certificate.chain + broken, key: certificate.key)
            }
            guard case .certificate(.notReadable) = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
        }
    }
}
#endif
