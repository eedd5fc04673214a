#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitWebClient

/// One attempt to get a certificate (RFC 8555 §7.4). Used by one thread; all calls block.
struct ACMEIssuance {
    /// Maximum duration of the validation, and of the issuance, in milliseconds.
    static let limitMilliseconds: Int64 = 5 * 60_000
    /// The time between two requests for a status that may change, in milliseconds: the first, and the greatest. A response can
    /// ask for more.
    private static let firstPause: Int64 = 250
    private static let greatestPause: Int64 = 5_000

    let settings: ACMESettings
    let client: ACMEClient
    let server: CertificateConsumer
    let now: @Sendable () -> Timestamp
    /// Waits for a number of milliseconds; returns false if the server stops.
    let pause: (Int64) -> Bool

    /// Returns a certificate, as PEM with the chain, and its key.
    func run() throws(ACMEError) -> (chain: [UInt8], key: PrivateKey) {
        let directory = try client.directory(at: settings.directory)
        try signIn(directory)
        var (url, order) = try newOrder(directory)
        if order.status == .pending {
            try authorize(order, directory)
            order = try wait(for: url, directory) { $0 != .pending }
        }
        let key = try ACMEAccountKey.crypto { () throws(CryptoError) in try PrivateKey.makeP256() }
        if order.status == .ready {
            let request: [UInt8]
            do throws(CertificateGenerator.Problem) {
                request = try CertificateGenerator.makeRequest(names: settings.domains, key: key)
            } catch { throw .invalid("the request for a certificate cannot be created: \(error)") }
            var writer = JSONWriter()
            writer.object { $0.member("csr", Base64URL.encode(request)) }
            order = try parsed(
                try client.post(writer.bytes, to: order.finalize, newNonce: directory.newNonce))
        }
        if order.status == .processing {
            order = try wait(for: url, directory) { $0 != .processing }
        }
        guard order.status == .valid, let location = order.certificate else {
            throw order.problem.map { .refused($0) }
                ?? .invalid("the order is \(order.status.rawValue) instead of valid")
        }
        url = location
        let chain = try client.post(to: url, newNonce: directory.newNonce).bytes
        try verify(chain, key)
        return (chain, key)
    }

    /// Creates the account, or finds it if it exists (§7.3).
    private func signIn(_ directory: ACMEDirectory) throws(ACMEError) {
        if directory.requiresExternalAccount, settings.externalAccount == nil {
            throw .invalid("the ACME server requires an external account")
        }
        let binding = try settings.externalAccount.map { (account) throws(ACMEError) in
            try JSONWebSignature.binding(of: client.key, to: account, url: directory.newAccount)
        }
        var writer = JSONWriter()
        writer.object { object in
            object.member("termsOfServiceAgreed", settings.agreesToTerms)
            if let email = settings.email { object.member("contact", ["mailto:\(email)"]) }
        }
        var payload = writer.bytes
        if let binding {
            // The binding is JSON already.
            payload = payload.dropLast() + Array(#","externalAccountBinding":"#.utf8) + binding + [0x7D]
        }
        let response = try client.post(payload, to: directory.newAccount, newNonce: directory.newNonce)
        guard let url = response.fields["location"], ACMEURL.isUsable(url) else {
            throw .invalid("the ACME server has sent no usable URL of the account")
        }
        client.use(account: url)
    }

    private func newOrder(_ directory: ACMEDirectory) throws(ACMEError) -> (url: String, ACMEOrder) {
        var writer = JSONWriter()
        writer.object { object in
            object.member("identifiers", settings.domains) { item, domain in
                item.member("type", "dns")
                item.member("value", domain.lowercased())
            }
        }
        let response = try client.post(writer.bytes, to: directory.newOrder, newNonce: directory.newNonce)
        guard let url = response.fields["location"], ACMEURL.isUsable(url) else {
            throw .invalid("the ACME server has sent no usable URL of the order")
        }
        return (url, try parsed(response))
    }

    private func parsed(_ response: ServiceResponse) throws(ACMEError) -> ACMEOrder {
        try ACMEOrder(parsing: response.bytes)
    }

    // MARK: Validation

    /// Answers a challenge of each authorization, and waits until the ACME server has validated all (§7.5).
    private func authorize(_ order: ACMEOrder, _ directory: ACMEDirectory) throws(ACMEError) {
        var pending: [(url: String, domain: String, challenge: ACMEChallenge)] = []
        for url in order.authorizations {
            let found = try authorization(url, directory).value
            switch found.status {
            case .valid: continue
            case .pending:
                guard let challenge = found.challenge(prefersHTTP: settings.prefersHTTP) else {
                    throw .invalid(
                        "the ACME server offers no challenge for \(found.domain) that this server can answer; "
                            + "http-01 needs a port for plain HTTP")
                }
                pending.append((url, found.domain, challenge))
            case .invalid, .deactivated, .expired, .revoked:
                throw .notValidated(domain: found.domain, found.problem)
            }
        }
        try answer(pending.map { ($0.domain, $0.challenge) })
        defer { server.answer([:], [:]) }
        for item in pending {
            _ = try client.post(Array("{}".utf8), to: item.challenge.url, newNonce: directory.newNonce)
        }
        for item in pending {
            let end = try poll { () throws(ACMEError) in
                let (value, retry) = try authorization(item.url, directory)
                return (value.status == .pending ? nil : value, retry)
            }
            guard end.status == .valid else { throw .notValidated(domain: item.domain, end.problem) }
        }
    }

    private func answer(_ challenges: [(domain: String, challenge: ACMEChallenge)]) throws(ACMEError) {
        var digests: [String: [UInt8]] = [:]
        var contents: [String: String] = [:]
        for (domain, challenge) in challenges {
            let authorization = client.key.authorization(for: challenge.token)
            switch challenge.kind {
            case .http: contents[challenge.token] = authorization
            case .tls: digests[domain] = try ACMEAccountKey.digest(Array(authorization.utf8))
            }
        }
        server.answer(digests, contents)
    }

    private func authorization(
        _ url: String, _ directory: ACMEDirectory
    ) throws(ACMEError) -> (value: ACMEAuthorization, retry: Int64?) {
        let response = try client.post(to: url, newNonce: directory.newNonce)
        return (try ACMEAuthorization(parsing: response.bytes), client.retrySeconds(in: response))
    }

    /// Waits for an order that is not in a state that will change.
    private func wait(
        for url: String, _ directory: ACMEDirectory, until isFinal: (ACMEOrder.Status) -> Bool
    ) throws(ACMEError) -> ACMEOrder {
        try poll { () throws(ACMEError) in
            let response = try client.post(to: url, newNonce: directory.newNonce)
            let order = try parsed(response)
            return (isFinal(order.status) ? order : nil, client.retrySeconds(in: response))
        }
    }

    /// Calls `ask` until it returns a value, or ``limitMilliseconds`` have passed.
    private func poll<T>(_ ask: () throws(ACMEError) -> (T?, retry: Int64?)) throws(ACMEError) -> T {
        var waited: Int64 = 0
        var next = Self.firstPause
        while true {
            let (value, retry) = try ask()
            if let value { return value }
            let wait = max(next, (retry ?? 0) * 1000)
            waited += wait
            guard waited <= Self.limitMilliseconds else {
                throw .unavailable("the ACME server needs more than 5 minutes")
            }
            guard pause(wait) else { throw .cancelled }
            next = min(2 * next, Self.greatestPause)
        }
    }

    // MARK: The certificate

    /// Checks that the server can use a chain.
    private func verify(_ chain: [UInt8], _ key: PrivateKey) throws(ACMEError) {
        guard let certificates = try? Certificate.read(pem: chain), let first = certificates.first else {
            throw .invalid("the ACME server has sent something other than a certificate")
        }
        guard key.belongs(to: first), settings.domains.allSatisfy({ first.covers($0) }) else {
            throw .invalid("the ACME server has sent the certificate of another server")
        }
        guard let validity = try? first.validity(), now() < validity.upperBound else {
            throw .invalid("the ACME server has sent a certificate that has expired")
        }
    }
}
#endif
