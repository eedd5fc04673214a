/// A compiled pattern of `like` (RFC 5323 §5.14).
///
/// The parts between two `%` have a fixed length each, so it is enough to find the first occurrence of each one after
/// the part before it; the first and the last part are compared in place. Each part is searched for in time linear in the
/// text: by Knuth, Morris and Pratt, or, where it contains `_`, by a bit for each of its characters (Shift-And).
package struct SearchMatcher: Sendable {
    /// Stands for `_`.
    static let anyCharacter = UInt32.max

    /// How far matching one text has come.
    package struct Progress: Sendable {
        /// Which part is searched for; nil before the first and the last one have been compared.
        fileprivate var part: Int?
        /// Of the text, the next character to be looked at.
        fileprivate var position = 0
        fileprivate var state = SearchPart.State()

        package init() {}
    }

    private let first: [UInt32]
    private let last: [UInt32]
    /// Those between the first `%` and the last one.
    private let parts: [SearchPart]
    private let hasAnyText: Bool
    /// Characters of the shortest text that can match.
    private let leastCount: Int

    /// - Parameter alphabet: made of this pattern, perhaps among others.
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

    /// Goes on matching while `steps` is positive, and subtracts what that costs: at most two for each character of the
    /// text; with `_` in a part that has `n` characters, ``SearchPart/maskedSteps`` and one for each 64 of them.
    ///
    /// - Parameter text: all of it, decoded with the alphabet of this pattern.
    /// - Returns: whether the text matches; nil if `steps` was not enough to know.
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

    /// Whether the text begins with a part. It is long enough.
    private static func fits(_ part: [UInt32], _ text: ArraySlice<UInt32>) -> Bool {
        for (expected, code) in zip(part, text) where expected != code && expected != anyCharacter {
            return false
        }
        return true
    }
}

/// A part of a pattern without `%`, which is searched for in a text.
enum SearchPart: Sendable {
    /// What a search remembers of the characters it has passed.
    struct State: Sendable {
        /// So many characters before the position are the beginning of the part.
        var matched = 0
        /// Bit n is set if n + 1 characters before the position are the beginning of the part; empty at the start.
        var words: [UInt64] = []
    }

    /// Steps for a character of the text, apart from one for each word of bits.
    static let maskedSteps = 8

    case literal([UInt32], borders: [Int])
    case masked(MaskedPart)

    /// - Parameter codes: at least one.
    init(_ codes: [UInt32]) {
        if codes.contains(SearchMatcher.anyCharacter) {
            self = .masked(MaskedPart(codes))
        } else {
            self = .literal(codes, borders: Self.borders(of: codes))
        }
    }

    /// For each number of characters, the longest beginning of the part that these end with, but for themselves.
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

    /// Searches from `position` on.
    /// - Returns: true if the part was found, with `position` behind it; nil if `steps` was not enough.
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

/// A part with `_`: for each of its characters a bit that says whether the text fits so far.
struct MaskedPart: Sendable {
    /// Bits of one word.
    private struct Entry {
        let word: Int
        var bits: UInt64
    }

    /// Where any character fits.
    private var anyBits: [UInt64]
    /// Where a character fits, by its code; the words that are zero are left out.
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
