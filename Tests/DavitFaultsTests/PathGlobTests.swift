import DavitFaults
import DavitHTTP
import DavitTesting
import Testing

struct PathGlobTests {
    private static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/")))!
    }

    @Test(arguments: [
        ("/**", "/", true), ("/**", "/a/b", true), ("/a", "/a", true), ("/a", "/ab", false),
        ("/a/**", "/a", true), ("/a/**", "/a/b/c", true), ("/a/**", "/ab", false),
        ("/*", "/a", true), ("/*", "/a/b", false), ("/*.txt", "/x.txt", true), ("/*.txt", "/x/y.txt", false),
        ("/**.txt", "/x/y.txt", true), ("/**/b", "/a/b", true), ("/**/b", "/x/y/b", true),
        ("/**/b", "/b", false), ("/a*b*c", "/aXbYbc", true), ("/a*b*c", "/aXcYb", false),
        ("/*/x/**/y*", "/q/x/1/2/y3", true), ("/*/x/**/y*", "/q/z/x/1/y", false), ("/***", "/a/b", true),
    ]) func patternMatches(pattern: String, path: String, matches: Bool) throws {
        #expect(try #require(PathGlob(pattern)).matches(Self.path(path)) == matches, "\(pattern) \(path)")
    }

    @Test func patternBeginsWithASlash() {
        #expect(PathGlob("") == nil && PathGlob("a/b") == nil && PathGlob("*") == nil)
    }

    /// A slow matcher that follows the definition.
    private static func slow(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        guard first == "*" else { return text.first == first && slow(rest, text.dropFirst()) }
        if rest.first == "*" {
            return slow(rest.drop { $0 == "*" }, text) || !text.isEmpty && slow(pattern, text.dropFirst())
        }
        return slow(rest, text) || text.first.map { $0 != "/" } == true && slow(pattern, text.dropFirst())
    }

    @Test func randomPatternsMatchLikeTheDefinition() {
        var random = SeededGenerator(seed: 16)
        for _ in 0..<20_000 {
            func word(_ letters: [Character], _ length: Int) -> String {
                "/"
                    + String(
                        (0..<Int.random(in: 0...length, using: &random)).map { _ in
                            letters.randomElement(using: &random)!
                        })
            }
            let (pattern, text) = (word(["a", "b", "/", "*", "*"], 8), word(["a", "b", "/"], 8))
            let path = Self.path(text)
            let clean = path.description
            let expected =
                Self.slow(Array(pattern)[...], Array(clean)[...])
                || clean != "/" && Self.slow(Array(pattern)[...], Array(clean + "/")[...])
            #expect(PathGlob(pattern)!.matches(path) == expected, "\(pattern) \(clean)")
        }
    }
}
