public import DavitHTTP

/// What a variable of a template stands for.
public enum TemplateValue: Hashable, Sendable {
    /// Any text; it cannot become markup.
    case text(String)
    /// Markup that goes in as it is: never text from elsewhere.
    case raw(String)
}

extension TemplateValue: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .text(text) }
}

extension HTTPResponse {
    /// `text/html` in UTF-8 from a template in which `%name%` stands for a variable.
    ///
    /// Texts are escaped for content and for quoted attribute values; inside `script` and `style`, and in attributes
    /// that hold addresses or code, that is not enough. What stands between two `%` and is no variable stays as it is.
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
