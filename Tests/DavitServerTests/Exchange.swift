import DavitHTTP
import DavitServer
import Testing

/// Parses a request from its lines, as if received over a connection.
func makeRequest(_ lines: String...) throws -> HTTPRequest {
    let request = HTTPRequest()
    var parser = HeadParser()
    let head = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
    let parsed = try unsafe head.withUnsafeBytes { bytes in
        try unsafe parser.parse(bytes, into: request)
    }
    try #require(parsed == head.count)
    return request
}

/// Responds to every request with 204 and the authenticated account in `ETag`.
struct Greeter: Handler {
    /// Whether the response is pending.
    var waits = false

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        waits
            ? .pending { () async throws(HTTPError) in greeting(for: request) }
            : .ready(greeting(for: request))
    }

    private func greeting(for request: HTTPRequest) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.etag, request.principal ?? "nobody")
        return HTTPResponse(status: .noContent, fields: fields)
    }
}
