public import DavitHTTP

extension HTTPResponse {
    /// A short page that says what is wrong: HTML for who asks for it, as browsers do, else text.
    ///
    /// - Parameter message: for people; shown as text, whatever is in it.
    public static func error(
        _ status: HTTPStatus, _ message: String, for request: HTTPRequest
    ) -> HTTPResponse {
        var response = error(status, message, asHTML: request.wantsHTML)
        // RFC 9110 §15.5.16: it is the coding that is not supported.
        if status == .unsupportedMediaType, request.contains(.contentEncoding) {
            response.fields.append(.acceptEncoding, ContentCoding.accepted)
        }
        return response
    }

    /// - Parameter asHTML: else text.
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
    /// Whether a page is wanted: `text/html` by its name, and not with the quality 0 (RFC 9110 §12.5.1). `*/*` is no wish
    /// for HTML.
    package var wantsHTML: Bool {
        var isWanted = false
        forEachElement(of: .accept) { range in
            guard let type = ContentType(parsing: range), type.essence == "text/html" else { return }
            isWanted = type.parameters["q"].map { Weight(parsing: $0.span) != .zero } ?? true
        }
        return isWanted
    }
}
