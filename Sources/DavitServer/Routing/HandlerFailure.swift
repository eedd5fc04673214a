public import DavitHTTP

/// An unexpected error thrown by a route action, for the log.
public struct HandlerFailure: Sendable {
    /// ``DavitHTTP/HTTPRequest/requestID``. Also sent to the client in the content and in `X-Request-Id`, and
    /// recorded in the access log, except in the formats `common` and `combined`.
    public let requestID: String
    /// The error that the action threw. It may contain data sent by the client.
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

    /// Returns a 500 response that reveals nothing about the error.
    func response(to request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.error(
            .internalServerError, "Internal server error. Request ID: \(requestID).",
            for: request)
        response.fields.append(named: "X-Request-Id", requestID)
        return response
    }
}
