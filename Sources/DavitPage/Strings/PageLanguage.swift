internal import DavitHTTP

/// A language that the page speaks.
package enum PageLanguage: String, CaseIterable, Sendable {
    case en, de, fr, es
    case zhHans = "zh-Hans"

    /// All are written from left to right; the markup says so, because names in a listing need not be.
    var direction: StaticString { "ltr" }

    /// Which of the plural forms a number takes (Unicode CLDR, cardinals).
    func form(of count: Int) -> String {
        switch self {
        case .en, .de, .es: count == 1 ? "one" : "other"
        case .fr: count < 2 ? "one" : "other"
        case .zhHans: "other"
        }
    }

    /// The language of a tag (RFC 5646): the one with its first subtag, but Chinese in traditional characters is another
    /// script.
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

    /// What the visitor wants: `?lang=`, else Accept-Language (RFC 9110 §12.5.4), else English.
    init(for request: HTTPRequest) {
        if let asked = request.query["lang"], let language = PageLanguage(tag: asked) {
            self = language
            return
        }
        var best: (language: PageLanguage, weight: Weight)?
        request.forEachElement(of: .acceptLanguage) { element in
            guard let (language, weight) = Self.wish(element) else { return }
            // Of two that are wanted as much, the first.
            if weight > best?.weight ?? .zero { best = (language, weight) }
        }
        self = best?.language ?? .en
    }

    /// `language-range [ ";" "q=" qvalue ]`; nil for a language that there is none of.
    private static func wish(_ element: borrowing Span<UInt8>) -> (PageLanguage, Weight)? {
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
