import DavitWebDAV
import Testing

/// RFC 5323 §5.14.
struct SearchPatternTests {
    static let rows: [(pattern: String, text: String, matches: Bool)] = [
        ("", "", true), ("", "a", false), ("%", "", true), ("%", "abc", true), ("%%", "a", true),
        ("_", "", false),
        ("_", "a", true), ("_", "ab", false), ("a%", "abc", true), ("%c", "abc", true), ("%b%", "abc", true),
        ("a%c%e", "abcde", true), ("a%c%e", "abcdef", false), ("%ab", "aab", true), ("%aab", "aaaab", true),
        ("_%_", "a", false), ("_%_", "ab", true), ("\\%", "%", true), ("\\%", "a", false), ("\\_", "_", true),
        ("\\_", "a", false), ("\\\\", "\\", true), ("a\\%%", "a%b", true), ("\\\\%", "\\b", true),
        // A character is the same in composed and decomposed form.
        ("_", "e\u{301}", true), ("\u{e9}", "e\u{301}", true), ("_", "👨‍👩‍👧", true),
    ]

    @Test(arguments: rows)
    func resultsMatchTheTable(pattern: String, text: String, matches: Bool) throws {
        #expect(try #require(SearchPattern(pattern)).matches(text) == matches)
    }

    @Test(arguments: ["\\", "a\\", "\\a", "\\\\\\"])
    func invalidPatternsAreRefused(pattern: String) { #expect(SearchPattern(pattern) == nil) }

    @Test func lowercasePatternMayBeLonger() throws {
        #expect(try #require(SearchPattern("İ%")).lowercased.matches("İx".lowercased()))
    }

    /// A simple, slow reference implementation.
    static func oracle(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "%": return (0...text.count).contains { oracle(rest, text.dropFirst($0)) }
        case "_": return !text.isEmpty && oracle(rest, text.dropFirst())
        default: return text.first == first && oracle(rest, text.dropFirst())
        }
    }

    /// Returns every text of at most `limit` of these characters.
    static func texts(of alphabet: [Character], upTo limit: Int) -> [[Character]] {
        var all: [[Character]] = [[]]
        var longest = all
        for _ in 0..<limit {
            longest = longest.flatMap { text in alphabet.map { text + [$0] } }
            all += longest
        }
        return all
    }

    @Test func everyShortPatternMatchesTheOracle() throws {
        let texts = Self.texts(of: ["a", "b"], upTo: 5)
        for pattern in Self.texts(of: ["a", "b", "%", "_"], upTo: 4) {
            let parsed = try #require(SearchPattern(String(pattern)))
            for text in texts {
                let expected = Self.oracle(pattern[...], text[...])
                if parsed.matches(String(text)) != expected { Issue.record("wrong: \(pattern), \(text)") }
            }
        }
    }
}
