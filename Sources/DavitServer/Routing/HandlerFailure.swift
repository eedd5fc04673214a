public import DavitHTTP

/// An error that an action did not expect, for the log.
public struct HandlerFailure: Sendable {
    /// ``DavitHTTP/HTTPRequest/requestID``; the client gets it in the content and in `X-Request-Id`, and the access
    /// log has it too.
    public let requestID: String
    /// What the action threw. It can hold what the client has sent.
    public let error: any Error
    /// The method of the request.
    public let method: HTTPMethod
    /// The path as sent.
    public let rawPath: [UInt8]

    init(_ error: any Error, _ request: HTTPRequest) {
        requestID = request.requestID
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
