internal import DavitHTTP

/// A language of the page.
package enum PageLanguage: String, CaseIterable, Sendable {
    case en, de, fr, es
    case zhHans = "zh-Hans"

    /// All languages of the page are written from left to right. The page specifies this direction, because
    /// names in a listing may be written from right to left.
    var direction: StaticString { "ltr" }

    /// Returns the plural form for a number (Unicode CLDR, cardinals).
    func form(of count: Int) -> String {
        switch self {
        case .en, .de, .es: count == 1 ? "one" : "other"
        case .fr: count < 2 ? "one" : "other"
        case .zhHans: "other"
        }
    }

    /// Returns the language with the first subtag of a tag (RFC 5646); nil if unsupported. Traditional
    /// Chinese is unsupported.
    init?(tag: String) {
        let parts = tag.lowercased().split(separator: "-")
        guard let first = parts.first else { return nil }
        if first == "zh" {
            let others: Set<Substring> = ["hant", "tw", "hk", "mo"]
            if !others.isDisjoint(with: parts) && !parts.contains("hans") { return nil }
            self = .zhHans
        } else {
            self.init(rawValue: String(first))
        }
    }

    /// Selects the language of a response: `?lang=`, else Accept-Language (RFC 9110 §12.5.4), else English.
    init(for request: HTTPRequest) {
        if let asked = request.query["lang"], let language = PageLanguage(tag: asked) {
            self = language
            return
        }
        var best: (language: PageLanguage, weight: Weight)?
        request.forEachElement(of: .acceptLanguage) { element in
            guard let (language, weight) = Self.preferredLanguage(element) else { return }
            // Of two with the same weight, the first wins.
            if weight > best?.weight ?? .zero { best = (language, weight) }
        }
        self = best?.language ?? .en
    }

    /// Parses `language-range [ ";" "q=" qvalue ]`; nil for an unsupported language.
    private static func preferredLanguage(_ element: borrowing Span<UInt8>) -> (PageLanguage, Weight)? {
        let text = String(decoding: [UInt8](copying: element), as: UTF8.self)
        let parts = text.split(separator: ";", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
        guard let tag = parts.first, let language = PageLanguage(tag: tag) else { return nil }
        guard parts.count > 1 else { return (language, .full) }
        guard parts[1].lowercased().hasPrefix("q="),
            let weight = Weight(parsing: Array(parts[1].utf8.dropFirst(2)).span)
        else { return nil }
        return (language, weight)
    }
}
