#if TLS
import DavitCrypto
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitWebClient
import Synchronization
import Testing

@testable import DavitACME

/// Requests to an ACME server whose responses the test chooses.
struct ACMEIssuanceTests {
    /// Verifies each request like an ACME server: its nonce, its URL and its signature.
    final class FakeAuthority: ACMETransport {
        struct State {
            var nonces: Set<String> = []
            var nonceCount = 0
            /// The number of further nonces to refuse.
            var refused = 0
            /// The responses by URL, in order; the last one is repeated.
            var responses: [String: [ServiceResponse]] = [:]
            var urls: [String] = []
            var faults: [String] = []
        }

        let state = Mutex(State())

        func send(_ request: ServiceRequest) throws(ServiceFailure) -> ServiceResponse {
            state.withLock { state in
                state.urls.append(request.url)
                if let content = request.content, !Self.isValid(content, request.url, &state) {
                    return Self.next(
                        ServiceResponse(
                            status: 400,
                            bytes: Array(#"{"type":"urn:ietf:params:acme:error:badNonce"}"#.utf8)), &state)
                }
                let all = state.responses[request.url] ?? [ServiceResponse(status: 404)]
                if all.count > 1 { state.responses[request.url] = Array(all.dropFirst()) }
                return Self.next(all[0], &state)
            }
        }

        private static func next(_ response: ServiceResponse, _ state: inout State) -> ServiceResponse {
            state.nonceCount += 1
            let nonce = Base64URL.encode(Array("nonce \(state.nonceCount)".utf8))
            state.nonces.insert(nonce)
            var response = response
            response.fields["replay-nonce"] = nonce
            return response
        }

        /// Returns false for a nonce that is refused; records other faults.
        private static func isValid(_ content: [UInt8], _ url: String, _ state: inout State) -> Bool {
            do {
                let parts = try JSONWebSignatureTests.Parts(content)
                let nonce = parts.header.text("nonce") ?? ""
                if state.nonces.remove(nonce) == nil { state.faults.append("unknown nonce \(nonce)") }
                if parts.header.text("url") != url { state.faults.append("another URL than \(url)") }
                if url != "https://a/account", parts.header.text("kid") != "https://a/account/1" {
                    state.faults.append("no account for \(url)")
                }
                if state.refused > 0 {
                    state.refused -= 1
                    return false
                }
            } catch {
                state.faults.append("\(error)")
            }
            return true
        }

        func respond(_ url: String, _ texts: String..., status: Int = 200, fields: [String: String] = [:]) {
            state.withLock {
                $0.responses[url] = texts.map {
                    ServiceResponse(status: status, fields: fields, bytes: Array($0.utf8))
                }
            }
        }

        func count(_ url: String) -> Int { state.withLock { $0.urls.count { $0 == url } } }
        var faults: [String] { state.withLock { $0.faults } }
    }

    private let authority = FakeAuthority()
    private let folder: TemporaryFolder
    private let now = TestPKI.now
    /// What the server was asked to answer, and the waits.
    private final class Records: Sendable {
        let answers = Mutex<[(digests: [String: [UInt8]], contents: [String: String])]>([])
        let waits = Mutex<[Int64]>([])
    }
    private let records = Records()

    init() throws {
        folder = try TemporaryFolder()
        authority.respond(
            "https://a/dir",
            #"{"newNonce":"https://a/nonce","newAccount":"https://a/account","newOrder":"https://a/order"}"#)
        authority.respond("https://a/nonce", "")
        authority.respond("https://a/account", "{}", status: 201, fields: ["location": "https://a/account/1"])
        authority.respond(
            "https://a/order", Self.order("pending"), status: 201, fields: ["location": "https://a/order/1"])
        authority.respond("https://a/auth/1", Self.authorization("pending"), Self.authorization("valid"))
        authority.respond("https://a/tls", "{}")
        authority.respond("https://a/http", "{}")
        authority.respond("https://a/order/1", Self.order("ready"), Self.order("valid"))
        authority.respond("https://a/finalize", Self.order("processing"), fields: ["retry-after": "3"])
    }

    private static func order(_ status: String, _ members: String = #","certificate":"https://a/cert""#)
        -> String
    {
        """
        {"status":"\(status)","authorizations":["https://a/auth/1"],"finalize":"https://a/finalize"\(members)}
        """
    }

    private static func authorization(_ status: String, _ error: String = "") -> String {
        """
        {"status":"\(status)","identifier":{"type":"dns","value":"files.example"},"challenges":[
        {"type":"http-01","url":"https://a/http","token":"t-http"},
        {"type":"tls-alpn-01","url":"https://a/tls","token":"t-tls"\(error)}]}
        """
    }

    private func settings(_ change: (inout ACMESettings) -> Void = { _ in }) -> ACMESettings {
        var settings = ACMESettings(domains: ["files.example"])
        settings.agreesToTerms = true
        settings.directory = "https://a/dir"
        change(&settings)
        return settings
    }

    private func issuance(_ settings: ACMESettings) throws -> ACMEIssuance {
        let now = now
        let records = records
        return ACMEIssuance(
            settings: settings,
            client: ACMEClient(
                key: try JSONWebSignatureTests.key(), transport: authority, now: { now }),
            server: CertificateConsumer(
                answer: { digests, contents in records.answers.withLock { $0.append((digests, contents)) } },
                certificateChanged: {}, report: { _ in }),
            now: { now },
            pause: { wait in
                records.waits.withLock { $0.append(wait) }
                return true
            })
    }

    /// Runs an issuance that must fail, because no test has the key of an ACME server.
    private func failure(_ settings: ACMESettings) throws -> ACMEError {
        let issuance = try issuance(settings)
        do throws(ACMEError) {
            _ = try issuance.run()
        } catch {
            return error
        }
        throw ACMEError.invalid("a certificate was issued")
    }

    @Test func challengeIsAnsweredAndTheCertificateOfAnotherServerRefused() throws {
        let other = try CertificateGenerator.makeSelfSigned(names: ["files.example"], now: now)
        authority.respond("https://a/cert", String(decoding: try other.certificate.pem(), as: UTF8.self))
        #expect(
            try failure(settings())
                == .invalid("the ACME server has sent the certificate of another server"))
        #expect(authority.faults == [])
        #expect(authority.count("https://a/tls") == 1)
        #expect(authority.count("https://a/http") == 0)
        let answers = records.answers.withLock { $0 }
        // RFC 8737 §3: the digest of the key authorization; removed after the validation.
        let authorization = try JSONWebSignatureTests.key().authorization(for: "t-tls")
        #expect(
            try answers.first?.digests == ["files.example": Digest.of(Array(authorization.utf8), .sha256)])
        #expect(answers.first?.contents == [:])
        #expect(answers.count == 2)
        #expect(answers.last?.digests == [:])
    }

    @Test func plainChallengeIsPreferred() throws {
        authority.respond("https://a/cert", "nothing")
        #expect(
            try failure(settings { $0.prefersHTTP = true })
                == .invalid("the ACME server has sent something other than a certificate"))
        #expect(authority.count("https://a/http") == 1)
        #expect(authority.count("https://a/tls") == 0)
        let authorization = try JSONWebSignatureTests.key().authorization(for: "t-http")
        #expect(records.answers.withLock { $0.first?.contents } == ["t-http": authorization])
    }

    @Test func refusedNoncesAreReplaced() throws {
        authority.state.withLock { $0.refused = ACMEClient.nonceAttempts - 1 }
        authority.respond("https://a/cert", "nothing")
        #expect(
            try failure(settings()) == .invalid("the ACME server has sent something other than a certificate")
        )
        #expect(authority.faults == [])
        #expect(authority.count("https://a/account") == ACMEClient.nonceAttempts)
        // Each response contains the next nonce.
        #expect(authority.count("https://a/nonce") == 0)
    }

    @Test func noncesAreNotRefusedForever() throws {
        authority.state.withLock { $0.refused = .max }
        guard case .refused(let problem) = try failure(settings()) else { return #expect(Bool(false)) }
        #expect(problem.kind == "badNonce")
        #expect(authority.count("https://a/account") == ACMEClient.nonceAttempts)
    }

    @Test func failedValidationStatesItsReason() throws {
        let error = #","error":{"type":"urn:ietf:params:acme:error:connection","detail":"refused"}"#
        authority.respond(
            "https://a/auth/1", Self.authorization("pending"), Self.authorization("invalid", error))
        #expect(
            try failure(settings()).text
                == "files.example could not be validated: the ACME server cannot connect to this server: "
                + "refused (connection)")
        #expect(authority.count("https://a/finalize") == 0)
        // The answer is removed.
        #expect(records.answers.withLock { $0.last?.digests } == [:])
    }

    @Test func validatedDomainIsNotValidatedAgain() throws {
        authority.respond("https://a/auth/1", Self.authorization("valid"))
        authority.respond("https://a/cert", "nothing")
        _ = try failure(settings())
        #expect(authority.count("https://a/tls") == 0)
        #expect(authority.count("https://a/finalize") == 1)
    }

    @Test func retryAfterIsObserved() throws {
        authority.respond("https://a/cert", "nothing")
        authority.respond(
            "https://a/order/1", Self.order("ready"), Self.order("processing"), Self.order("valid"),
            fields: ["retry-after": "7"])
        _ = try failure(settings())
        #expect(records.waits.withLock { $0 } == [7_000])
    }

    @Test func waitIsLimited() throws {
        authority.respond("https://a/auth/1", Self.authorization("pending"))
        #expect(try failure(settings()) == .unavailable("the ACME server needs more than 5 minutes"))
        let waits = records.waits.withLock { $0 }
        #expect(waits.prefix(6) == [250, 500, 1000, 2000, 4000, 5000])
        #expect(waits.reduce(0, +) <= ACMEIssuance.limitMilliseconds)
    }

    @Test func rateLimitNamesTheTimeOfTheNextAttempt() throws {
        authority.respond(
            "https://a/order", #"{"type":"urn:ietf:params:acme:error:rateLimited","detail":"x"}"#,
            status: 429,
            fields: ["retry-after": "9000"])
        let error = try failure(settings())
        #expect(error.retrySeconds == 9000)
        #expect(error.text.contains("too many requests"))
    }

    @Test func externalAccountIsRequired() throws {
        authority.respond(
            "https://a/dir",
            #"{"newNonce":"https://a/nonce","newAccount":"https://a/account","newOrder":"https://a/order","#
                + #""meta":{"externalAccountRequired":true}}"#)
        #expect(try failure(settings()) == .invalid("the ACME server requires an external account"))
        #expect(authority.count("https://a/account") == 0)
    }

    // MARK: The state folder

    @Test func accountKeyIsKept() throws {
        let store = ACMEStore(folder: folder.path + "/acme")
        let key = try store.accountKey()
        #expect(try store.accountKey().thumbprint == key.thumbprint)
        #expect(try SmallFile(reading: store.folder + "/account-key.pem").mode == 0o600)
        // It is not replaced, because an account can have limits and an external account.
        try SmallFile.write(Array("broken".utf8), to: store.folder + "/account-key.pem", mode: 0o600)
        #expect(throws: ACMEError.self) { try store.accountKey() }
    }

    private func issuer(_ change: (inout ACMESettings) -> Void = { _ in }) -> ACMEIssuer {
        let now = now
        return ACMEIssuer(settings(change), transport: authority, now: { now })
    }

    @Test func storedCertificateIsUsedUntilItIsDue() throws {
        let store = ACMEStore(folder: folder.path + "/acme")
        let made = try CertificateGenerator.makeSelfSigned(names: ["files.example"], now: now)
        #expect(try store.certificate() == nil)
        #expect(issuer().renewal(in: store) == nil)
        try store.store(try made.certificate.pem(), made.key, directory: "https://a/dir")
        #expect(try SmallFile(reading: store.folder + "/certificate.pem").mode == 0o600)
        let stored = try #require(try store.certificate())
        #expect(stored.directory == "https://a/dir")
        #expect(try stored.identity.certificate.fingerprint() == made.certificate.fingerprint())
        let digest = try made.certificate.fingerprint()
        let due = RenewalSchedule.renewal(
            of: try made.certificate.validity(), jitter: UInt16(digest[0]) << 8 | UInt16(digest[1]))
        #expect(issuer().renewal(in: store) == due)
        #expect(now < due)
        // The certificate of another directory or for other domains is due.
        #expect(issuer { $0.directory = "https://a/dir2" }.renewal(in: store) == nil)
        #expect(issuer { $0.domains.append("www.example") }.renewal(in: store) == nil)
        // It is used nevertheless.
        #expect(try issuer { $0.domains.append("www.example") }.certificate(in: store.folder) != nil)
        try SmallFile.write(Array("broken".utf8), to: store.folder + "/certificate.pem", mode: 0o600)
        #expect(throws: CertificateIssuerError.self) { try issuer().certificate(in: store.folder) }
        #expect(issuer().renewal(in: store) == nil)
    }

    @Test func failedRenewalKeepsTheStoredCertificate() throws {
        let store = ACMEStore(folder: folder.path + "/acme")
        let made = try CertificateGenerator.makeSelfSigned(names: ["other.example"], now: now)
        try store.store(try made.certificate.pem(), made.key, directory: "https://a/dir")
        let before = try SmallFile(reading: store.folder + "/certificate.pem").bytes
        authority.respond("https://a/cert", "nothing")
        let failures = Latch(count: 1)
        let events = Mutex<[CertificateConsumer.Event]>([])
        let consumer = CertificateConsumer(
            answer: { _, _ in },
            certificateChanged: { events.withLock { $0.append(.issued(until: Timestamp(seconds: 0))) } },
            report: { event in
                events.withLock { $0.append(event) }
                failures.countDown()
            })
        let issuer = issuer()
        issuer.start(in: store.folder, for: consumer)
        failures.wait()
        issuer.stop()
        #expect(try SmallFile(reading: store.folder + "/certificate.pem").bytes == before)
        let reported = events.withLock { $0 }
        guard reported.count == 1, case .failed(let reason, let seconds) = reported[0] else {
            return #expect(Bool(false), "\(reported)")
        }
        #expect(reason == "the ACME server has sent something other than a certificate")
        #expect(300...330 ~= seconds)
        // It can be started again.
        issuer.start(in: store.folder, for: consumer)
        issuer.stop()
    }
}
#endif
