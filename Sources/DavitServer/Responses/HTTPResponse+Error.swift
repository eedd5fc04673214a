public import DavitHTTP

extension HTTPResponse {
    /// Returns a short error page: HTML if the request accepts `text/html` explicitly, as browsers do, else
    /// plain text.
    ///
    /// - Parameter message: a message for people; escaped where necessary.
    public static func error(
        _ status: HTTPStatus, _ message: String, for request: HTTPRequest
    ) -> HTTPResponse {
        var response = error(status, message, asHTML: request.wantsHTML)
        // RFC 9110 §15.5.16: Accept-Encoding indicates that the coding is unsupported, not the type.
        if status == .unsupportedMediaType, request.contains(.contentEncoding) {
            response.fields.append(.acceptEncoding, ContentCoding.accepted)
        }
        return response
    }

    /// Returns a short error page without regard to a request.
    /// - Parameter asHTML: whether to return HTML instead of plain text.
    package static func error(
        _ status: HTTPStatus, _ message: String, asHTML: Bool = false
    ) -> HTTPResponse {
        var response = asHTML ? page(status, message) : text(message + "\n", status: status)
        if status == .serviceUnavailable { response.fields.append(.retryAfter, 1) }
        return response
    }

    private static func page(_ status: HTTPStatus, _ message: String) -> HTTPResponse {
        let title = "\(status.code) \(status.reasonPhrase)"
        let template = """
            <!DOCTYPE html>
            <html lang="en"><meta charset="utf-8"><title>%title%</title>
            <h1>%title%</h1><p>%message%</p></html>

            """
        return .template(template, ["title": .text(title), "message": .text(message)], status: status)
    }
}

extension HTTPRequest {
    /// Whether the client accepts `text/html` explicitly with a quality above 0 (RFC 9110 §12.5.1). `*/*`
    /// does not count.
    package var wantsHTML: Bool {
        var isWanted = false
        forEachElement(of: .accept) { range in
            guard let type = ContentType(parsing: range), type.essence == "text/html" else { return }
            isWanted = type.parameters["q"].map { Weight(parsing: $0.span) != .zero } ?? true
        }
        return isWanted
    }
}
