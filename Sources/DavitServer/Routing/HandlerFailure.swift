public import DavitHTTP

/// An error that an action did not expect, for the log.
public struct HandlerFailure: Sendable {
    /// Sixteen hexadecimal digits, new for each failure; the client gets them in the content and in `X-Request-Id`.
    public let requestID: String
    public let error: any Error
    public let method: HTTPMethod
    /// The path as sent.
    public let rawPath: [UInt8]

    init(_ error: any Error, _ request: HTTPRequest) {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        requestID = String(repeating: "0", count: 16 - digits.count) + digits
        self.error = error
        method = request.method
        rawPath = request.fullRawPath
    }

    /// 500 without a word about the error.
    func response(to request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.error(
            .internalServerError, "Something went wrong. The number of this request is \(requestID).",
            for: request)
        response.fields.append(named: "X-Request-Id", requestID)
        return response
    }
}
