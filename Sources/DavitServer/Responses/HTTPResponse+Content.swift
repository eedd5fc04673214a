public import DavitHTTP

/// Responses with content in memory.
extension HTTPResponse {
    /// Returns a `text/plain` response in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> HTTPResponse {
        bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Returns a `text/html` response in UTF-8. For untrusted text use ``template(_:_:status:)``, which
    /// escapes it.
    public static func html(_ html: String, status: HTTPStatus = .ok) -> HTTPResponse {
        bytes(Array(html.utf8), type: "text/html; charset=utf-8", status: status)
    }

    /// Returns a response with the given bytes.
    /// - Parameter type: the value of Content-Type.
    public static func bytes(
        _ bytes: [UInt8], type: String = "application/octet-stream", status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, type)
        return HTTPResponse(status: status, fields: fields, body: .bytes(bytes))
    }

    /// Returns this response with a Cache-Control max-age in seconds; with 0, caches must revalidate each
    /// time (RFC 9111 §5.2.2).
    public func cacheAge(_ seconds: Int) -> HTTPResponse {
        var response = self
        response.fields.remove(.cacheControl)
        response.fields.appendCacheAge(seconds)
        return response
    }

    /// Returns this response with a Content-Disposition that makes browsers save it under `name` (RFC 6266);
    /// see ``DavitHTTP/ContentDisposition/attachment(named:)``.
    public func attachment(named name: String) -> HTTPResponse {
        var response = self
        response.fields.remove(.contentDisposition)
        response.fields.append(.contentDisposition, ContentDisposition.attachment(named: name))
        return response
    }
}
