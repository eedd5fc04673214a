#if TLS
import COpenSSL
import DavitCrypto
import DavitHTTP
import DavitTesting
import Testing

struct TLSContextTests {
    static let lifetime = TicketKeys.lifetimeSeconds

    /// Connects, and returns the session that the client needs to resume.
    static func session(
        with context: TLSContext, _ options: TLSTestClient.Options, now: Timestamp = TestPKI.now
    ) throws -> (session: TLSTestClient.Session, wasResumed: Bool) {
        let talk = try TLSConversation(context, options, now: now)
        #expect(talk.performHandshake() == (.done, .done))
        #expect(try talk.sendFromServer([1, 2, 3]) == [1, 2, 3])
        #expect(talk.server.wasResumed == talk.client.wasResumed)
        return (try talk.client.session(), talk.server.wasResumed)
    }

    // MARK: Tickets

    @Test(arguments: TLSSessionTests.versions)
    func sessionsResumeAfterAReload(of: (number: Int32, version: TLSSession.Version)) throws {
        let tickets = TicketKeys(now: TestPKI.now)
        let before = try TLSContext(identities: [try TestPKI.leaf("localhost")], tickets: tickets)
        var options = TLSTestClient.Options(least: of.number, most: of.number, serverName: "localhost")
        let first = try Self.session(with: before, options)
        #expect(!first.wasResumed)

        // A new certificate and key, and an additional identity.
        let identities = [try TestPKI.leaf("localhost"), try TestPKI.leaf("other")]
        let after = try TLSContext(identities: identities, tickets: tickets)
        options.session = first.session
        let second = try Self.session(with: after, options)
        #expect(second.wasResumed)
        // The session received on resumption can be resumed in turn.
        options.session = second.session
        #expect(try Self.session(with: after, options).wasResumed)
    }

    @Test(arguments: TLSSessionTests.versions)
    func ticketsOfAnotherServerCauseAFullHandshake(of: (number: Int32, version: TLSSession.Version)) throws {
        let identities = [try TestPKI.server.get()]
        var options = TLSTestClient.Options(least: of.number, most: of.number)
        let other = try TLSContext(identities: identities, tickets: TicketKeys(now: TestPKI.now))
        options.session = try Self.session(with: other, options).session
        let context = try TLSContext(identities: identities, tickets: TicketKeys(now: TestPKI.now))
        #expect(try !Self.session(with: context, options).wasResumed)
    }

    static let ages: [(first: Int64, second: Int64, isResumed: Bool)] = [
        (0, 0, true), (0, lifetime - 1, true), (0, lifetime, true), (0, 2 * lifetime - 1, true),
        // The key of the ticket has expired, with or without a connection in between.
        (0, 2 * lifetime, false), (0, 10 * lifetime, false),
        (lifetime - 1, lifetime, true),
        // Setting the clock back slightly has no effect; setting it back further expires the key, as advancing
        // the clock does.
        (0, -1, true), (0, -lifetime, true), (0, -2 * lifetime, false),
    ]

    @Test(arguments: ages, TLSSessionTests.versions)
    func ticketKeysRotate(
        at: (first: Int64, second: Int64, isResumed: Bool),
        of: (number: Int32, version: TLSSession.Version)
    ) throws {
        let context = try TLSContext(
            identities: [try TestPKI.server.get()], tickets: TicketKeys(now: TestPKI.now))
        var options = TLSTestClient.Options(least: of.number, most: of.number)
        options.session = try Self.session(with: context, options, now: TestPKI.now.adding(seconds: at.first))
            .session
        let second = try Self.session(with: context, options, now: TestPKI.now.adding(seconds: at.second))
        #expect(second.wasResumed == at.isResumed)
    }

    /// A session that started under one client certificate rule cannot be resumed under another.
    @Test(arguments: TLSSessionTests.versions)
    func changedClientRuleCausesAFullHandshake(of: (number: Int32, version: TLSSession.Version)) throws {
        let tickets = TicketKeys(now: TestPKI.now)
        let one = try TestPKI.authority.get()
        let other = try CertificateGenerator.makeAuthority(named: "Others", now: TestPKI.now)
        let rules: [ClientCertificates] = [
            .off, .asked([one.certificate]), .demanded([one.certificate]),
            .demanded([one.certificate, other.certificate]),
        ]
        let contexts = try rules.map { rule in
            try TLSContext(identities: [try TestPKI.server.get()], clients: rule, tickets: tickets)
        }
        var options = TLSTestClient.Options(least: of.number, most: of.number)
        options.identity = try TestPKI.client("anna", signedBy: one)
        for before in contexts.indices {
            options.session = nil
            options.session = try Self.session(with: contexts[before], options).session
            for after in contexts.indices {
                #expect(try Self.session(with: contexts[after], options).wasResumed == (before == after))
            }
        }
    }

    // MARK: Choices

    static let names: [(asked: String?, certificate: Int)] = [
        (nil, 0), ("default.example", 0), ("unknown.example", 0), ("a.example", 1), ("A.EXAMPLE", 1),
        ("b.example", 1), ("x.wild.example", 2), ("wild.example", 0), ("x.y.wild.example", 0),
        // An exact name takes precedence over a wildcard that is listed before it.
        ("exact.wild.example", 3),
        // OpenSSL's notation for any subdomain.
        (".example", 0), (".wild.example", 0), ("", 0),
    ]

    @Test(arguments: names, TLSSessionTests.versions)
    func certificateMatchesTheServerName(
        of: (asked: String?, certificate: Int), over: (number: Int32, version: TLSSession.Version)
    ) throws {
        let context = try Self.named.get()
        var options = TLSTestClient.Options(least: over.number, most: over.number)
        options.serverName = of.asked
        let talk = try TLSConversation(context, options)
        #expect(talk.performHandshake() == (.done, .done))
        let shown = try talk.client.serverCertificate().fingerprint()
        #expect(try shown == Self.identities.get()[of.certificate].certificate.fingerprint())
        #expect(talk.server.serverName == (of.asked == "" ? nil : of.asked))
    }

    static let identities = Result {
        [
            try TestPKI.leaf("default.example"), try TestPKI.leaf("a.example", "b.example"),
            try TestPKI.leaf("*.wild.example"), try TestPKI.leaf("exact.wild.example"),
        ]
    }
    static let named = Result {
        try TLSContext(identities: try identities.get(), tickets: TicketKeys(now: TestPKI.now))
    }

    static let offers: [(protocols: [String], chosen: String?)] = [
        ([], nil), (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"),
        (["http/1.1", "h2"], "http/1.1"), (["http/1.0", "spdy/3", "http/1.1"], "http/1.1"),
        (["http/1.0"], "http/1.0"), (["h2", "http/1.0", "http/1"], "http/1.0"),
    ]

    @Test(arguments: offers)
    func preferredProtocolIsChosen(protocols: [String], chosen: String?) throws {
        let talk = try TLSConversation(.init(protocols: protocols))
        #expect(talk.performHandshake() == (.done, .done))
        #expect(talk.server.applicationProtocol == chosen)
    }

    // RFC 7301 §3.2.
    @Test(arguments: [["h2"], ["http/0.9", "http/1"], ["http/1.11"], ["HTTP/1.1"]])
    func unknownProtocolsAreRefused(protocols: [String]) throws {
        let talk = try TLSConversation(.init(protocols: protocols))
        let (server, client) = talk.performHandshake()
        #expect(client == .failed("tlsv1 alert no application protocol"))
        guard case .failed(.refused) = server else {
            Issue.record("\(server)")
            return
        }
    }

    static let ciphers: [(offered: (String, String), version: Int32, chosen: String)] = [
        (("ALL", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"), TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"),
        // A client without AES in hardware prefers ChaCha20.
        (
            ("ALL", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"), TLS1_3_VERSION,
            "TLS_CHACHA20_POLY1305_SHA256"
        ),
        (("ALL", "TLS_AES_256_GCM_SHA384"), TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384"),
        (
            (
                "AES128-SHA:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256",
                "TLS_AES_128_GCM_SHA256"
            ),
            TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"
        ),
    ]

    @Test(arguments: ciphers)
    func serverChoosesTheCipher(offered: (String, String), version: Int32, chosen: String) throws {
        let talk = try TLSConversation(.init(least: version, most: version, ciphers: offered))
        #expect(talk.performHandshake() == (.done, .done))
        #expect(talk.server.cipher == chosen)
    }

    // RFC 9325 §3.1.1 and §4.1.
    @Test(arguments: [
        ("ECDHE-ECDSA-AES128-SHA", TLS1_1_VERSION), ("ECDHE-ECDSA-AES128-SHA", TLS1_VERSION),
        ("ECDHE-ECDSA-AES128-SHA", TLS1_2_VERSION), ("AES128-GCM-SHA256", TLS1_2_VERSION),
        ("ECDHE-ECDSA-NULL-SHA", TLS1_2_VERSION), ("AECDH-AES128-SHA", TLS1_2_VERSION),
    ])
    func oldVersionsAndCiphersAreRefused(cipher: String, version: Int32) throws {
        let options = TLSTestClient.Options(
            least: TLS1_VERSION, most: version, ciphers: ("\(cipher):@SECLEVEL=0", "TLS_AES_128_GCM_SHA256"))
        let (server, client) = try TLSConversation(options).performHandshake()
        let isOld = version < TLS1_2_VERSION
        #expect(server == .failed(.refused(isOld ? "unsupported protocol" : "no shared cipher")))
        #expect(
            client == .failed(isOld ? "tlsv1 alert protocol version" : "sslv3 alert handshake failure"))
    }

    @Test func identityIsRequired() throws {
        let tickets = TicketKeys(now: TestPKI.now)
        #expect(throws: TLSContext.Problem.noIdentity) { try TLSContext(identities: [], tickets: tickets) }
        let identities = [try TestPKI.server.get()]
        for clients in [ClientCertificates.asked([]), .demanded([])] {
            #expect(throws: TLSContext.Problem.noAuthority) {
                try TLSContext(identities: identities, clients: clients, tickets: tickets)
            }
        }
    }

    @Test func rsaIsReportedAsSlowAndMustBeLongEnough() throws {
        let tickets = TicketKeys(now: TestPKI.now)
        let long = try TestCertificate.make("long", kind: .rsa(bits: 2048))
        let identity = try TLSIdentity(chain: long.chain, key: long.key)
        let quick = try TestPKI.server.get()
        #expect(try TLSContext(identities: [quick, identity], tickets: tickets).handshakesSlowly)
        #expect(try !TLSContext(identities: [quick], tickets: tickets).handshakesSlowly)
        let talk = try TLSConversation(TLSContext(identities: [identity], tickets: tickets))
        #expect(talk.performHandshake() == (.done, .done))

        let short = try TestCertificate.make("short", kind: .rsa(bits: 1024))
        let weak = try TLSIdentity(chain: short.chain, key: short.key)
        let reason = CryptoError(call: "SSL_CTX_use_certificate", reason: "ee key too small")
        #expect(throws: TLSContext.Problem.refused(reason)) {
            try TLSContext(identities: [weak], tickets: tickets)
        }
    }
}
#endif
