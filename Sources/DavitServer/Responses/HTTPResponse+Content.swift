public import DavitHTTP

/// Responses from values.
extension HTTPResponse {
    /// `text/plain` in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> HTTPResponse {
        bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// `text/html` in UTF-8. Text from elsewhere belongs in a ``template(_:_:status:)``, which escapes it.
    public static func html(_ html: String, status: HTTPStatus = .ok) -> HTTPResponse {
        bytes(Array(html.utf8), type: "text/html; charset=utf-8", status: status)
    }

    /// - Parameter type: the value of Content-Type.
    public static func bytes(
        _ bytes: [UInt8], type: String = "application/octet-stream", status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, type)
        return HTTPResponse(status, fields: fields, body: .bytes(bytes))
    }

    /// This response, to be kept by caches for so many seconds; 0 has them ask each time (RFC 9111 §5.2.2).
    public func cacheAge(_ seconds: Int) -> HTTPResponse {
        var response = self
        response.fields.remove(.cacheControl)
        response.fields.appendCacheAge(seconds)
        return response
    }

    /// This response, to be saved under a name instead of shown (RFC 6266); see
    /// ``DavitHTTP/ContentDisposition/attachment(named:)``.
    public func attachment(named name: String) -> HTTPResponse {
        var response = self
        response.fields.remove(.contentDisposition)
        response.fields.append(.contentDisposition, ContentDisposition.attachment(named: name))
        return response
    }
}
