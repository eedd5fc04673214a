#if OIDC
internal import DavitWebClient

/// Sends requests to a provider with libcurl.
struct OIDCClient: OIDCFetcher {
    private let client: HTTPSClient

    /// - Parameters:
    ///   - authorities: a file with authorities in PEM; nil for those of the system.
    ///   - allowsPlain: whether http URLs are allowed.
    init(authorities: String?, allowsPlain: Bool) {
        // Two requests must fit into the deadline for an answer.
        client = HTTPSClient(
            authorities: authorities, allowsPlain: allowsPlain, connectMilliseconds: 3_000,
            totalMilliseconds: 4_500)
    }

    func fetch(_ request: OIDCRequest) throws(OIDCError) -> OIDCResponse {
        var sent = ServiceRequest(url: request.url, limitBytes: request.limitBytes)
        sent.content = request.form
        sent.fields = ["Accept: application/json"]
        if let authorization = request.authorization { sent.fields.append("Authorization: \(authorization)") }
        do throws(ServiceFailure) {
            let response = try client.send(sent)
            return OIDCResponse(status: response.status, bytes: response.bytes)
        } catch {
            switch error {
            case .unavailable(let reason): throw .unavailable(reason)
            case .tooLong(let url): throw .invalid("the response of \(url) is too long")
            case .cancelled: throw .unavailable("the request was cancelled")
            }
        }
    }
}
#endif
