/// Names and what they stand for: `${NAME}`.
struct Variables {
    private var values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    subscript(_ name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The text with every name replaced. A name that stands for nothing stays.
    func filled(_ text: String) -> String {
        guard text.contains("${") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            result += rest[..<start.lowerBound]
            let behind = rest[start.upperBound...]
            guard let end = behind.firstIndex(of: "}"), let value = values[String(behind[..<end])] else {
                result += "${"
                rest = behind
                continue
            }
            result += value
            rest = behind[behind.index(after: end)...]
        }
        return result + rest
    }
}

/// A regular expression of a transcript: searched for anywhere, and the dot is any character.
enum Pattern {
    /// - Returns: the first match with its groups; nil without one.
    /// - Throws: for what is no regular expression.
    static func match(_ pattern: String, in text: String) throws -> [Substring?]? {
        let regex = try Regex(pattern).dotMatchesNewlines().matchingSemantics(.unicodeScalar)
        guard let match = text.firstMatch(of: regex) else { return nil }
        return match.output.map { $0.substring }
    }
}
