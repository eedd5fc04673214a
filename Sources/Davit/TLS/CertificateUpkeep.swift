#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// The answers to the challenges of an ACME server, on the TLS port and on the port for plain HTTP.
final class ChallengeAnswers: Sendable {
    let challenges = TLSChallenges()
    /// Key authorizations by token.
    private let contents = Mutex<[String: String]>([:])

    /// Returns the key authorization of a token; nil if there is none.
    func content(for token: String) -> String? { contents.withLock { $0[token] } }

    /// Replaces all answers; see ``CertificateConsumer/answer``.
    func set(_ digests: [String: [UInt8]], _ contents: [String: String], now: Timestamp) throws(CryptoError) {
        self.contents.withLock { $0 = contents }
        var pairs: [String: CertificateGenerator.Pair] = [:]
        for (name, digest) in digests {
            do throws(CertificateGenerator.Problem) {
                pairs[name] = try CertificateGenerator.makeSelfSigned(
                    names: [name], acmeIdentifier: digest, now: now)
            } catch {
                if case .failed(let reason) = error { throw reason }
                throw CryptoError(call: "makeSelfSigned", reason: error.text)
            }
        }
        try challenges.set(pairs)
    }
}

/// Lets an issuer renew the certificate of a server while the server runs.
final class CertificateUpkeep: LifecycleObserver {
    private let issuer: any CertificateIssuer
    private let folder: String
    private let answers: ChallengeAnswers
    private let log: Log
    private let change = Mutex<(@Sendable () -> Void)?>(nil)

    /// Returns nil without an issuer.
    init?(_ certificates: ServerCertificates, log: Log) throws(ServerError) {
        guard let issuer = certificates.issuer else { return nil }
        guard let folder = certificates.issuerFolder else { throw .noStateFolder }
        self.issuer = issuer
        self.folder = folder
        answers = certificates.answers
        self.log = log
    }

    /// Sets the action that reads the certificates again.
    func onChange(_ action: @escaping @Sendable () -> Void) { change.withLock { $0 = action } }

    func serverDidStart() {
        let (answers, log) = (answers, log)
        let names = issuer.domains.joined(separator: " ")
        issuer.start(
            in: folder,
            for: CertificateConsumer(
                answer: { digests, contents in
                    do throws(CryptoError) {
                        try answers.set(digests, contents, now: Timestamp(nanoseconds: Clock.wallNow()))
                    } catch {
                        log.error(
                            "cannot answer the challenges of the ACME server",
                            ["call": error.call, "reason": error.reason])
                    }
                },
                certificateChanged: { [weak self] in self?.change.withLock { $0 }?() },
                report: { event in
                    switch event {
                    case .issued(let until):
                        log.info(
                            "certificate issued",
                            [
                                "names": names,
                                "until": String(decoding: HTTPDate.iso8601(until), as: UTF8.self),
                            ])
                    case .failed(let reason, let seconds):
                        log.error(
                            "certificate request failed; keeping the current certificate",
                            ["names": names, "reason": reason, "retry-seconds": "\(seconds)"])
                    }
                }))
    }

    func serverWillStop() { issuer.stop() }
}
#endif
