/// The values of the variables that transcripts refer to as `${NAME}`.
struct Variables {
    private var values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    subscript(_ name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Returns the text with each variable replaced by its value. Unknown variables are left unchanged.
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

/// A regular expression of a transcript: matches anywhere in the text, and the dot matches any character.
enum Pattern {
    /// Finds the first match.
    ///
    /// - Returns: the match with its groups; nil if there is none.
    /// - Throws: an error if the pattern is not a regular expression.
    static func match(_ pattern: String, in text: String) throws -> [Substring?]? {
        let regex = try Regex(pattern).dotMatchesNewlines().matchingSemantics(.unicodeScalar)
        guard let match = text.firstMatch(of: regex) else { return nil }
        return match.output.map { $0.substring }
    }
}
