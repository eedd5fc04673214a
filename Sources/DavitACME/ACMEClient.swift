#if TLS
internal import DavitHTTP
internal import DavitWebClient

/// Sends requests to an ACME server. Calls block.
protocol ACMETransport: Sendable {
    func send(_ request: ServiceRequest) throws(ServiceFailure) -> ServiceResponse
}

#if ACME
extension HTTPSClient: ACMETransport {}
#endif

/// Signed requests to an ACME server (RFC 8555 §6). Used by one thread at a time.
final class ACMEClient {
    /// Maximum attempts at a request whose nonce is refused (§6.5).
    static let nonceAttempts = 10
    private static let limitBytes = 256 << 10

    let key: ACMEAccountKey
    private let transport: any ACMETransport
    private let now: @Sendable () -> Timestamp
    /// An unused nonce of the last response.
    private var nonce: String?
    /// The URL of the account, after ``ACMEClient/signIn(_:)``.
    private var account: String?

    init(
        key: ACMEAccountKey, transport: any ACMETransport, now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.transport = transport
        self.now = now
    }

    /// Returns the directory.
    func directory(at url: String) throws(ACMEError) -> ACMEDirectory {
        let response = try send(ServiceRequest(url: url, limitBytes: ACMEDirectory.limitBytes))
        guard response.status == 200 else { throw .refused(ACMEProblem(response, now: now())) }
        return try ACMEDirectory(parsing: response.bytes)
    }

    /// Uses an account for all further requests.
    func use(account url: String) { account = url }

    /// Sends a signed request, again if its nonce is refused.
    /// - Parameters:
    ///   - payload: JSON; empty for POST-as-GET (§6.3).
    ///   - newNonce: the URL for nonces.
    /// - Returns: a response with a status of 200 to 299.
    /// - Throws: ``ACMEError/refused(_:)`` for others.
    func post(_ payload: [UInt8] = [], to url: String, newNonce: String) throws(ACMEError) -> ServiceResponse
    {
        var attempt = 1
        while true {
            let content = try JSONWebSignature.make(
                payload, to: url, nonce: try takeNonce(newNonce), key: key,
                by: account.map { .account($0) } ?? .key)
            var request = ServiceRequest(url: url, limitBytes: Self.limitBytes)
            request.content = content
            request.fields = ["Content-Type: application/jose+json"]
            let response = try send(request)
            if 200..<300 ~= response.status { return response }
            let problem = ACMEProblem(response, now: now())
            guard problem.kind == "badNonce", attempt < Self.nonceAttempts else { throw .refused(problem) }
            attempt += 1
        }
    }

    /// Returns the seconds after which the client may ask again; nil if the response does not contain them.
    func retrySeconds(in response: ServiceResponse) -> Int64? {
        response.fields["retry-after"].flatMap { ACMEProblem.seconds(in: $0, now: now()) }
    }

    private func takeNonce(_ url: String) throws(ACMEError) -> String {
        if nonce == nil {
            var request = ServiceRequest(url: url, limitBytes: Self.limitBytes)
            request.isHead = true
            let response = try send(request)
            guard 200..<300 ~= response.status else { throw .refused(ACMEProblem(response, now: now())) }
        }
        guard let taken = nonce.take() else { throw .invalid("the ACME server has sent no nonce") }
        return taken
    }

    private func send(_ request: ServiceRequest) throws(ACMEError) -> ServiceResponse {
        do throws(ServiceFailure) {
            let response = try transport.send(request)
            // §6.5.1: other values must be ignored.
            if let next = response.fields["replay-nonce"], Base64URL.decode(next.utf8) != nil { nonce = next }
            return response
        } catch {
            switch error {
            case .unavailable(let reason): throw .unavailable(reason)
            case .tooLong(let url): throw .invalid("the response of \(url) is too long")
            case .cancelled: throw .cancelled
            }
        }
    }
}
#endif
