/// A compiled pattern of `like` (RFC 5323 §5.14).
///
/// Each part between two `%` has a fixed length, so it is sufficient to find its first occurrence after the
/// previous part; the first and last part are compared at the ends of the text. Each part is found in time
/// linear in the text: with the Knuth-Morris-Pratt algorithm or, if it contains `_`, with one bit per
/// character (Shift-And).
package struct SearchMatcher: Sendable {
    /// Represents `_`.
    static let anyCharacter = UInt32.max

    /// The progress of matching one text.
    package struct Progress: Sendable {
        /// The index of the part being searched; nil until the first and last part have been compared.
        fileprivate var part: Int?
        /// The index of the next character of the text to examine.
        fileprivate var position = 0
        fileprivate var state = SearchPart.State()

        package init() {}
    }

    private let first: [UInt32]
    private let last: [UInt32]
    /// The parts between the first and the last `%`.
    private let parts: [SearchPart]
    private let hasAnyText: Bool
    /// The minimum length of a matching text, in characters.
    private let leastCount: Int

    /// - Parameter alphabet: an alphabet that includes this pattern.
    package init(_ pattern: SearchPattern, _ alphabet: SearchAlphabet) {
        let sections = pattern.elements.split(separator: .anyText, omittingEmptySubsequences: false).map {
            $0.map { element -> UInt32 in
                if case .character(let character) = element { return alphabet.patternCode(of: character) }
                return Self.anyCharacter
            }
        }
        hasAnyText = sections.count > 1
        first = sections[0]
        last = hasAnyText ? sections[sections.count - 1] : []
        parts = sections.dropFirst().dropLast().filter { !$0.isEmpty }.map { SearchPart($0) }
        leastCount = sections.reduce(0) { $0 + $1.count }
    }

    /// Continues matching while `steps` is positive, and subtracts the cost: at most two steps per character
    /// of the text; for a part of `n` characters that contains `_`, ``SearchPart/maskedSteps`` plus one for
    /// each 64 characters of the part.
    ///
    /// - Parameter text: the complete text, decoded with the alphabet of this pattern.
    /// - Returns: whether the text matches; nil if more steps are needed.
    package func advance(_ progress: inout Progress, over text: [UInt32], steps: inout Int) -> Bool? {
        var number = progress.part ?? 0
        if progress.part == nil {
            steps -= 1 + first.count + last.count
            guard hasAnyText ? text.count >= leastCount : text.count == leastCount,
                Self.fits(first, text[...]), Self.fits(last, text.suffix(last.count))
            else { return false }
            progress.part = 0
            progress.position = first.count
        }
        let end = text.count - last.count
        while number < parts.count {
            let isFound = parts[number].find(
                in: text, from: &progress.position, upTo: end, &progress.state, steps: &steps)
            guard let isFound else { return nil }
            if !isFound { return false }
            number += 1
            progress.part = number
            progress.state = SearchPart.State()
        }
        return true
    }

    /// Whether the text, which is long enough, begins with a part.
    private static func fits(_ part: [UInt32], _ text: ArraySlice<UInt32>) -> Bool {
        for (expected, code) in zip(part, text) where expected != code && expected != anyCharacter {
            return false
        }
        return true
    }
}

/// A part of a pattern without `%`.
enum SearchPart: Sendable {
    /// The state of a search.
    struct State: Sendable {
        /// The number of characters before the position that match the beginning of the part.
        var matched = 0
        /// Bit n is set if the n + 1 characters before the position match the beginning of the part; empty at
        /// the start.
        var words: [UInt64] = []
    }

    /// The cost of one text character in steps, in addition to one step for each word of bits.
    static let maskedSteps = 8

    case literal([UInt32], borders: [Int])
    case masked(MaskedPart)

    /// - Parameter codes: at least one code.
    init(_ codes: [UInt32]) {
        if codes.contains(SearchMatcher.anyCharacter) {
            self = .masked(MaskedPart(codes))
        } else {
            self = .literal(codes, borders: Self.borders(of: codes))
        }
    }

    /// Returns, for each prefix of the part, the length of its longest proper prefix that is also its suffix.
    private static func borders(of codes: [UInt32]) -> [Int] {
        var borders = [Int](repeating: 0, count: codes.count + 1)
        var length = 0
        for index in codes.indices.dropFirst() {
            while length > 0, codes[length] != codes[index] { length = borders[length] }
            if codes[length] == codes[index] { length += 1 }
            borders[index + 1] = length
        }
        return borders
    }

    /// Searches from `position`.
    /// - Returns: true if the part was found, with `position` after it; nil if more steps are needed.
    func find(
        in text: [UInt32], from position: inout Int, upTo end: Int, _ state: inout State, steps: inout Int
    ) -> Bool? {
        switch self {
        case .masked(let part):
            return part.find(in: text, from: &position, upTo: end, &state.words, steps: &steps)
        case .literal(let codes, let borders):
            var (index, matched) = (position, state.matched)
            defer { (position, state.matched) = (index, matched) }
            while index < end {
                if steps <= 0 { return nil }
                steps -= 1
                if text[index] == codes[matched] {
                    index += 1
                    matched += 1
                    if matched == codes.count { return true }
                } else if matched > 0 {
                    matched = borders[matched]
                } else {
                    index += 1
                }
            }
            return false
        }
    }
}

/// A part with `_`: one bit for each of its characters records whether the text matches up to that character.
struct MaskedPart: Sendable {
    /// The bits of one word.
    private struct Entry {
        let word: Int
        var bits: UInt64
    }

    /// The positions of `_`, which match any character.
    private var anyBits: [UInt64]
    /// The positions that match a character, by its code; words without bits are omitted.
    private var bits: [UInt32: [Entry]] = [:]
    private let lastBit: UInt64

    init(_ codes: [UInt32]) {
        anyBits = [UInt64](repeating: 0, count: (codes.count + 63) / 64)
        lastBit = 1 << UInt64((codes.count - 1) % 64)
        for (index, code) in codes.enumerated() {
            let (word, bit) = (index / 64, UInt64(1) << UInt64(index % 64))
            if code == SearchMatcher.anyCharacter {
                anyBits[word] |= bit
                continue
            }
            var entries = bits[code] ?? []
            if let last = entries.indices.last, entries[last].word == word {
                entries[last].bits |= bit
            } else {
                entries.append(Entry(word: word, bits: bit))
            }
            bits[code] = entries
        }
    }

    func find(
        in text: [UInt32], from position: inout Int, upTo end: Int, _ words: inout [UInt64],
        steps: inout Int
    ) -> Bool? {
        if words.isEmpty { words = [UInt64](repeating: 0, count: anyBits.count) }
        while position < end {
            if steps <= 0 { return nil }
            steps -= SearchPart.maskedSteps + words.count
            let entries = bits[text[position]] ?? []
            var next = 0
            var carry: UInt64 = 1
            for word in words.indices {
                var fitting = anyBits[word]
                if next < entries.count, entries[next].word == word {
                    fitting |= entries[next].bits
                    next += 1
                }
                let before = words[word]
                words[word] = (before << 1 | carry) & fitting
                carry = before >> 63
            }
            position += 1
            if words[words.count - 1] & lastBit != 0 { return true }
        }
        return false
    }
}
