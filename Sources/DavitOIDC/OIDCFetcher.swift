/// Sends requests to a provider. Calls block.
protocol OIDCFetcher: Sendable {
    /// - Throws: ``OIDCError`` if there is no complete response.
    func fetch(_ request: OIDCRequest) throws(OIDCError) -> OIDCResponse
}

/// A request to a provider: GET, or POST with a form.
struct OIDCRequest: Hashable, Sendable {
    let url: String
    /// The content of a POST request; nil for GET.
    var form: [UInt8]?
    /// The value of Authorization; nil without one.
    var authorization: String?
    /// Maximum length of the content of the response.
    let limitBytes: Int
}

struct OIDCResponse: Hashable, Sendable {
    let status: Int
    let bytes: [UInt8]
}
