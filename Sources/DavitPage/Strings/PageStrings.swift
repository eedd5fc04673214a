/// What the page says in one language: lines `key = text` in a file that the scripts read too.
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
                // Better in English than not at all.
                (language, PageStrings(language: language, texts: english.merging(texts) { $1 }))
            })
    }()

    static func `in`(_ language: PageLanguage) -> PageStrings {
        all[language] ?? PageStrings(language: language, texts: [:])
    }

    /// The texts of a file by their keys: `key = text`, where `\n` is a line end; `#` begins a line that is none. The scripts
    /// read the same files in the same way.
    package static func parse(_ file: [UInt8]) -> [String: String] {
        var texts: [String: String] = [:]
        for line in String(decoding: file, as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let sign = line.firstRange(of: " = ") else { continue }
            texts[String(line[..<sign.lowerBound])] = String(line[sign.upperBound...]).replacing(
                "\\n", with: "\n")
        }
        return texts
    }

    /// A phrase with its places filled. What fills them is not looked at for places again.
    func text(_ phrase: Phrase, _ values: [String: String] = [:]) -> String {
        Self.fill(texts[phrase.rawValue] ?? phrase.rawValue, values)
    }

    /// A phrase in the form that a number takes; `{count}` is the number.
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
