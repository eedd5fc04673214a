/// The texts of the page in one language: lines `key = text` in a file that the scripts read too.
package struct PageStrings: Sendable {
    package let language: PageLanguage
    private let texts: [String: String]

    private static let all: [PageLanguage: PageStrings] = {
        let files = PageLanguage.allCases.map { language in
            (language, parse(PageFiles.shared.source(of: "strings/\(language.rawValue).txt") ?? []))
        }
        let english = files.first { $0.0 == .en }?.1 ?? [:]
        return Dictionary(
            uniqueKeysWithValues: files.map { language, texts in
                // Fall back to English for missing texts.
                (language, PageStrings(language: language, texts: english.merging(texts) { $1 }))
            })
    }()

    static func `in`(_ language: PageLanguage) -> PageStrings {
        all[language] ?? PageStrings(language: language, texts: [:])
    }

    /// Parses a file into texts by key: `key = text`, where `\n` is a line break; lines that begin with `#`
    /// are comments. The scripts parse the same files in the same way.
    package static func parse(_ file: [UInt8]) -> [String: String] {
        var texts: [String: String] = [:]
        for line in String(decoding: file, as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let sign = line.firstRange(of: " = ") else { continue }
            texts[String(line[..<sign.lowerBound])] = String(line[sign.upperBound...]).replacing(
                "\\n", with: "\n")
        }
        return texts
    }

    /// Returns a text with its placeholders replaced. Values are not searched for placeholders.
    func text(_ phrase: Phrase, _ values: [String: String] = [:]) -> String {
        Self.fill(texts[phrase.rawValue] ?? phrase.rawValue, values)
    }

    /// Returns the text in the plural form for a number; `{count}` is the number.
    func text(_ phrase: Phrase, count: Int) -> String {
        let key = "\(phrase.rawValue).\(language.form(of: count))"
        let template = texts[key] ?? texts[phrase.rawValue] ?? key
        return Self.fill(template, ["count": "\(count)"])
    }

    private static func fill(_ template: String, _ values: [String: String]) -> String {
        guard !values.isEmpty else { return template }
        var result = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            result += values[String(rest[rest.index(after: open)..<close])] ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}
