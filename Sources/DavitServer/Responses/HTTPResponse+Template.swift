public import DavitHTTP

/// The value of a template variable.
public enum TemplateValue: Hashable, Sendable {
    /// Text, which is escaped and therefore cannot become markup.
    case text(String)
    /// Markup, which is inserted unchanged. Never use it for untrusted text.
    case raw(String)
}

extension TemplateValue: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .text(text) }
}

extension HTTPResponse {
    /// Returns a `text/html` response in UTF-8 from a template with variables written as `%name%`.
    ///
    /// Text values are escaped for element content and quoted attribute values. That is not sufficient inside
    /// `script` and `style`, or in attributes that contain URLs or code. Unknown variables are left
    /// unchanged.
    public static func template(
        _ template: String, _ variables: [String: TemplateValue], status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var page: [UInt8] = []
        let source = template.utf8
        var rest = source[...]
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            page.append(contentsOf: rest[..<percent])
            rest = rest[source.index(after: percent)...]
            if let end = rest.firstIndex(of: UInt8(ascii: "%")),
                let value = variables[String(decoding: rest[..<end], as: UTF8.self)]
            {
                append(value, to: &page)
                rest = rest[source.index(after: end)...]
            } else {
                page.append(UInt8(ascii: "%"))
            }
        }
        page.append(contentsOf: rest)
        return bytes(page, type: "text/html; charset=utf-8", status: status)
    }

    private static func append(_ value: TemplateValue, to page: inout [UInt8]) {
        switch value {
        case .text(let text): Markup.appendText(Array(text.utf8), to: &page)
        case .raw(let markup): page.append(contentsOf: markup.utf8)
        }
    }
}
