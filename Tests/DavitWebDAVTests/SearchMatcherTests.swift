import DavitTesting
import DavitWebDAV
import Testing

/// The cost and the results of matching with compiled patterns.
struct SearchMatcherTests {
    /// Matches in parts of `stride` steps.
    ///
    /// - Returns: the result, and the steps of decoding and of matching.
    static func match(
        _ pattern: String, _ text: String, isFolded: Bool = false, stride: Int = 1000
    ) throws -> (matches: Bool, decoding: Int, matching: Int) {
        let parsed = try #require(SearchPattern(pattern))
        let pattern = isFolded ? parsed.lowercased : parsed
        let alphabet = SearchAlphabet([pattern])
        let decoded = SearchText(isFolded: isFolded)
        var decoding = decoded.begin(text, with: alphabet)
        while !decoded.isComplete {
            var steps = stride
            decoded.decode(with: alphabet, steps: &steps)
            decoding += stride - steps
        }
        let matcher = SearchMatcher(pattern, alphabet)
        var progress = SearchMatcher.Progress()
        var matching = 0
        while true {
            var steps = stride
            let result = matcher.advance(&progress, over: decoded.codes, steps: &steps)
            matching += stride - steps
            if let result { return (result, decoding, matching) }
        }
    }

    struct Adversarial: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pattern: String
        let stepsPerCharacter: Int

        init(_ description: String, _ pattern: String, _ stepsPerCharacter: Int) {
            testDescription = description
            self.pattern = pattern
            self.stepsPerCharacter = stepsPerCharacter
        }
    }

    static let adversarial = [
        // A literal part costs at most two steps per character.
        Adversarial("%a…b%", "%" + String(repeating: "a", count: 1000) + "b%", 2),
        Adversarial(
            "%a…ba…%",
            "%" + String(repeating: "a", count: 500) + "b" + String(repeating: "a", count: 500) + "%",
            2),
        Adversarial("%ab…", String(repeating: "%ab", count: 300), 2),
        Adversarial("%a…%b%", String(repeating: "%a", count: 400) + "%b%", 2),
        Adversarial("%a…b", "%" + String(repeating: "a", count: 1000) + "b", 2),
        Adversarial("a…b%", String(repeating: "a", count: 1000) + "b%", 2),
        // A part with `_` costs at most eight steps per character of the text, plus one for every 64
        // characters of the part.
        Adversarial("%a_b%", "%a_b%", 9),
        Adversarial("%a{62}_b%", "%" + String(repeating: "a", count: 62) + "_b%", 9),
        Adversarial("%a{63}_b%", "%" + String(repeating: "a", count: 63) + "_b%", 10),
        Adversarial("%_a…b%", "%_" + String(repeating: "a", count: 1000) + "b%", 24),
        Adversarial("%a_…b%", "%" + String(repeating: "a_", count: 300) + "b%", 18),
        Adversarial("%a_…%b%", String(repeating: "%a_", count: 300) + "%b%", 9),
    ]

    @Test(arguments: adversarial)
    func stepsAreLinearInTheText(row: Adversarial) throws {
        let (pattern, stepsPerCharacter) = (row.pattern, row.stepsPerCharacter)
        for count in [2000, 4000, 20_000] {
            let text = String(repeating: "a", count: count)
            let result = try Self.match(pattern, text)
            #expect(!result.matches)
            #expect(result.decoding == count)
            #expect(result.matching <= stepsPerCharacter * count + 1100, "\(result.matching) for \(count)")
        }
    }

    /// The work between two checks is independent of the length of the text and the pattern.
    @Test func matchingStopsAtTheStepLimit() throws {
        let pattern = try #require(SearchPattern("%ab%a_b%"))
        let alphabet = SearchAlphabet([pattern])
        let decoded = SearchText(isFolded: false)
        #expect(decoded.begin(String(repeating: "a", count: 5000), with: alphabet) == 0)
        var steps = 100
        decoded.decode(with: alphabet, steps: &steps)
        #expect(steps == 0)
        #expect(decoded.codes.count == 100)
        #expect(!decoded.isComplete)
        steps = Int.max
        decoded.decode(with: alphabet, steps: &steps)
        #expect(decoded.codes.count == 5000)
        let matcher = SearchMatcher(pattern, alphabet)
        var progress = SearchMatcher.Progress()
        var calls = 0
        while true {
            steps = 100
            let result = matcher.advance(&progress, over: decoded.codes, steps: &steps)
            #expect(steps > -10)
            calls += 1
            if let result {
                #expect(!result)
                break
            }
        }
        #expect(calls >= 50)
    }

    /// Texts that are decoded immediately and texts that are not, one after another in the same memory.
    @Test func decodedTextsDoNotAffectEachOther() throws {
        let pattern = try #require(SearchPattern("%é%b"))
        let alphabet = SearchAlphabet([pattern])
        let matcher = SearchMatcher(pattern, alphabet)
        let decoded = SearchText(isFolded: false)
        let long = String(repeating: "a", count: 600)
        #expect(decoded.begin([0x61, 0xFF], with: alphabet) == nil && decoded.codes.isEmpty)
        for (text, count, cost) in [
            ("aéb", 3, 0), ("ab", 2, 2), ("", 0, 0), ("a\r\nb", 3, 0), ("e\u{301}b", 2, 0), (long, 600, 0),
            ("b", 1, 1), ("é" + long + "b", 602, 0), (String(repeating: "b", count: 512), 512, 512),
        ] {
            #expect(decoded.begin(text, with: alphabet) == cost)
            #expect(decoded.hasBegun && decoded.isComplete == (cost > 0 || text.isEmpty))
            while !decoded.isComplete {
                var steps = 100
                decoded.decode(with: alphabet, steps: &steps)
            }
            #expect(decoded.codes.count == count)
            var progress = SearchMatcher.Progress()
            var steps = Int.max
            let isMatch = matcher.advance(&progress, over: decoded.codes, steps: &steps)
            #expect(isMatch == text.wholeMatch(of: /(?s).*é.*b/).map { _ in true } ?? false)
            decoded.end()
            #expect(decoded.codes.isEmpty && !decoded.hasBegun && !decoded.isComplete)
            // As bytes, only texts that are decoded immediately are begun.
            #expect(
                decoded.begin(Array(text.utf8), with: alphabet) == (cost > 0 || text.isEmpty ? cost : nil))
            #expect(
                decoded.hasBegun == decoded.isComplete
                    && decoded.codes.count == (decoded.hasBegun ? count : 0))
            decoded.end()
        }
    }

    static let rows: [(pattern: String, text: String, isFolded: Bool, matches: Bool)] = [
        ("", "", false, true), ("", "", true, true), ("%", "", false, true), ("%_%", "", false, false),
        ("__", "ab", false, true), ("__", "abc", false, false), ("__%", "abc", false, true),
        ("%__", "abc", false, true), ("%__%", "a", false, false), ("%_%_%", "ab", false, true),
        ("ab%ba", "aba", false, false), ("ab%ba", "abba", false, true), ("a%a%a", "aa", false, false),
        ("%a_c%d", "aacabcd", false, true), ("%a_c%", "acabac", false, false), ("%_b_%", "ab", false, false),
        ("\\%\\_\\\\", "%_\\", false, true), ("%\\%%", "100% a", false, true), ("%\\_", "ab", false, false),
        // Case folding: letters that become two letters, and scripts other than Latin; `_` matches one
        // character of the folded text.
        ("ABC", "abc", true, true), ("ABC", "abc", false, false), ("stra%", "STRASSE", true, true),
        ("ÄÖ_", "äöx", true, true), ("İ%", "i\u{307}x", true, true), ("ΣΑΣ", "σασ", true, true),
        ("%É%", "cafe\u{301}!", true, true), ("\u{212A}", "k", true, true),
        // Characters of several scalars, composed or decomposed; three characters outside ASCII are
        // equivalent to one in ASCII.
        ("caf_", "cafe\u{301}", false, true), ("%\u{e9}%", "ae\u{301}b", false, true),
        ("e%", "e\u{301}", false, false), ("%\u{301}", "e\u{301}", false, false),
        ("_%_", "🇩🇪🇫🇷", false, true), ("%🇪🇫%", "🇩🇪🇫🇷", false, false), ("a_b", "a\r\nb", false, true),
        ("K", "\u{212A}", false, true), ("\u{212A}", "K", false, true), ("%;%", "a\u{37E}", false, true),
        ("한%", "\u{1112}\u{1161}\u{11AB}국", false, true),
    ]

    @Test(arguments: rows)
    func resultsMatchTheTable(pattern: String, text: String, isFolded: Bool, matches: Bool) throws {
        for stride in [1, 3, 1000] {
            #expect(
                try Self.match(pattern, text, isFolded: isFolded, stride: stride).matches == matches)
        }
    }

    /// A character with more bytes than any script needs matches wildcards only.
    @Test func longCharacterMatchesOnlyWildcards() throws {
        let long = "a" + String(repeating: "\u{301}", count: 100)
        #expect(try Self.match("_", long).matches)
        #expect(try Self.match("%", long).matches)
        #expect(try !Self.match(long, long).matches)
        #expect(try !Self.match("%" + long + "%", long).matches)
    }

    /// Random patterns and texts over few characters, some of which are canonically equivalent.
    @Test(arguments: [5323, 4918, 2026] as [UInt64])
    func randomPatternsMatchTheOracle(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let characters: [Character] = ["a", "b", "\u{e9}", "e\u{301}", "👍🏽"]
        for _ in 0..<1500 {
            let isLong = Bool.random(using: &generator)
            let pattern = (0..<Int.random(in: 0...(isLong ? 9 : 5), using: &generator)).map { _ in
                (characters + ["%", "%", "_", "_"]).randomElement(using: &generator) ?? "a"
            }
            let text = (0..<Int.random(in: 0...(isLong ? 12 : 6), using: &generator)).map { _ in
                characters.randomElement(using: &generator) ?? "a"
            }
            let expected = SearchPatternTests.oracle(pattern[...], text[...])
            let stride = Int.random(in: 1...40, using: &generator)
            let result = try Self.match(String(pattern), String(text), stride: stride).matches
            if result != expected { Issue.record("wrong: \(String(pattern)), \(String(text))") }
        }
    }

    /// Parts of more than 64 characters, in texts that almost contain them.
    @Test func longPartsWithWildcardsMatchTheOracle() throws {
        var generator = SeededGenerator(seed: 64)
        for _ in 0..<60 {
            let count = [63, 64, 65, 127, 128, 129, 200].randomElement(using: &generator) ?? 64
            var part = (0..<count).map { _ in Bool.random(using: &generator) ? "a" : "b" as Character }
            let filler = (0..<20).map { _ in Bool.random(using: &generator) ? "a" : "b" as Character }
            let isPresent = Bool.random(using: &generator)
            let text = String(filler + part + filler)
            part[Int.random(in: 0..<count, using: &generator)] = "_"
            if !isPresent { part[Int.random(in: 0..<count, using: &generator)] = "c" }
            #expect(try Self.match("%" + String(part) + "%", text).matches == isPresent)
        }
    }

    /// Characters of up to 128 bytes are compared. A longer one matches only wildcards, and not even an
    /// identical character.
    @Test func comparedCharactersAreLimited() throws {
        for (marks, isEqual) in [(63, true), (64, false)] {
            let text = "\u{E9}" + String(repeating: "\u{301}", count: marks)
            #expect(text.count == 1 && text.utf8.count == 2 + 2 * marks)
            #expect(try #require(SearchPattern(text)).matches(text) == isEqual)
            #expect(try #require(SearchPattern("_")).matches(text))
        }
    }
}
