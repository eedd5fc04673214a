/// A compiled pattern of `like` (RFC 5323 §5.14).
///
/// Each part between two `%` has a fixed length, so it is sufficient to find its first occurrence after the
/// previous part; the first and last part are compared at the ends of the text. Each part is found in time
/// linear in the text: with the Knuth-Morris-Pratt algorithm or, if it contains `_`, with one bit per
/// character (Shift-And).
///
/// The parts share a few arrays to save memory, because a pattern can have hundreds of parts, a query can
/// have 256 patterns, and many queries can be pending. A pattern of 1024 characters takes at most 40 KiB.
package final class SearchMatcher: Sendable {
    /// The code that represents `_`.
    static let anyCharacter = UInt32.max
    /// The cost of a text character in a part with `_`, in steps, in addition to one step for each word of
    /// bits.
    private static let maskedSteps = 8

    /// The progress of matching one text.
    package struct Progress: Sendable {
        /// The index of the part being searched; nil until the first and last part have been compared.
        fileprivate var part: Int?
        /// The index of the next character of the text to examine.
        fileprivate var position = 0
        /// In a part without `_`: the number of characters before the position that match its beginning.
        fileprivate var matched = 0
        /// In a part with `_`: bit n is set if the n + 1 characters before the position match its beginning.
        /// Empty before the first character is examined.
        fileprivate var words: [UInt64] = []

        package init() {}
    }

    /// A part between the first and the last `%`; not empty.
    private struct Part {
        /// The range of its characters in `codes`.
        let codes: Range<Int32>
        /// The range of its masks in `masks`.
        var masks: Range<Int32>
        /// The index of its first word in `anyBits`; -1 for a part without `_`.
        var firstWord: Int32 = -1

        var wordCount: Int { (codes.count + 63) / 64 }
    }

    /// The positions in a part with `_`, within one word of bits, that match a character.
    private struct Mask {
        let code: UInt32
        let word: Int32
        var bits: UInt64
    }

    private let first: [UInt32]
    private let last: [UInt32]
    private let parts: [Part]
    /// The codes of the characters of all parts.
    private let codes: [UInt32]
    /// For each prefix of a part without `_`, at the index of its last character in `codes`: the length of
    /// its longest proper prefix that is also its suffix.
    private let borders: [UInt16]
    /// The masks of the parts with `_`, for each part sorted by character and word.
    private let masks: [Mask]
    /// The positions of `_`, which match any character, in each part with `_`.
    private let anyBits: [UInt64]
    private let hasAnyText: Bool
    /// The minimum length of a matching text, in characters.
    private let leastCount: Int

    /// - Parameter alphabet: an alphabet that includes this pattern.
    package init(_ pattern: SearchPattern, _ alphabet: SearchAlphabet) {
        let sections = pattern.elements.split(separator: .anyText, omittingEmptySubsequences: false)
        hasAnyText = sections.count > 1
        leastCount = sections.reduce(0) { $0 + $1.count }
        first = Self.codes(of: sections[0], alphabet)
        last = hasAnyText ? Self.codes(of: sections[sections.count - 1], alphabet) : []
        let inner = sections.dropFirst().dropLast().filter { !$0.isEmpty }
        var compiler = Compiler()
        compiler.parts.reserveCapacity(inner.count)
        compiler.codes.reserveCapacity(inner.reduce(0) { $0 + $1.count })
        for section in inner { compiler.append(Self.codes(of: section, alphabet)) }
        parts = compiler.parts
        codes = compiler.codes
        borders = compiler.borders
        masks = compiler.masks
        anyBits = compiler.anyBits
    }

    private static func codes(
        of elements: ArraySlice<SearchPattern.Element>, _ alphabet: SearchAlphabet
    ) -> [UInt32] {
        elements.map { element in
            if case .character(let character) = element { return alphabet.patternCode(of: character) }
            return anyCharacter
        }
    }

    /// The parts compiled so far; see the properties with the same names.
    private struct Compiler {
        var parts: [Part] = []
        var codes: [UInt32] = []
        var borders: [UInt16] = []
        var masks: [Mask] = []
        var anyBits: [UInt64] = []

        /// Compiles a part.
        mutating func append(_ added: [UInt32]) {
            var part = Part(
                codes: Int32(codes.count)..<Int32(codes.count + added.count),
                masks: Int32(masks.count)..<Int32(masks.count))
            codes += added
            if added.contains(anyCharacter) {
                part.firstWord = Int32(anyBits.count)
                anyBits.append(contentsOf: repeatElement(0, count: part.wordCount))
                appendMasks(of: added, firstWord: Int(part.firstWord))
                part.masks = part.masks.lowerBound..<Int32(masks.count)
            } else {
                appendBorders(of: added, from: Int(part.codes.lowerBound))
            }
            parts.append(part)
        }

        /// - Parameter start: the index of the part in `codes`.
        private mutating func appendBorders(of part: [UInt32], from start: Int) {
            // Also add zeros for preceding parts with `_`, which have no borders.
            borders.append(contentsOf: repeatElement(0, count: start + part.count - borders.count))
            var length = 0
            for index in part.indices.dropFirst() {
                while length > 0, part[length] != part[index] { length = Int(borders[start + length - 1]) }
                if part[length] == part[index] { length += 1 }
                borders[start + index] = UInt16(length)
            }
        }

        /// - Parameter firstWord: the index of the part in `anyBits`.
        private mutating func appendMasks(of part: [UInt32], firstWord: Int) {
            var added: [Mask] = []
            for (index, code) in part.enumerated() {
                let bit = UInt64(1) << UInt64(index % 64)
                if code == anyCharacter {
                    anyBits[firstWord + index / 64] |= bit
                } else {
                    added.append(Mask(code: code, word: Int32(index / 64), bits: bit))
                }
            }
            added.sort { ($0.code, $0.word) < ($1.code, $1.word) }
            let start = masks.count
            for mask in added {
                if masks.count > start, let last = masks.last, last.code == mask.code, last.word == mask.word
                {
                    masks[masks.count - 1].bits |= mask.bits
                } else {
                    masks.append(mask)
                }
            }
        }
    }

    /// Continues matching while `steps` is positive, and subtracts the cost. Each character of the text costs
    /// at most two steps on average or, while a part with `_` is searched, eight steps plus one for every 64
    /// characters of that part.
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
            let part = parts[number]
            let isFound =
                part.firstWord < 0
                ? findLiteral(part, in: text, upTo: end, &progress, steps: &steps)
                : findMasked(part, in: text, upTo: end, &progress, steps: &steps)
            guard let isFound else { return nil }
            if !isFound { return false }
            number += 1
            progress.part = number
            progress.matched = 0
            progress.words = []
        }
        return true
    }

    /// Whether a text, which must be at least as long as the part, begins with the part.
    private static func fits(_ part: [UInt32], _ text: ArraySlice<UInt32>) -> Bool {
        for (expected, code) in zip(part, text) where expected != code && expected != anyCharacter {
            return false
        }
        return true
    }

    /// Searches for a part without `_` from the position of `progress`.
    /// - Returns: true if the part was found, with the position after it; nil if more steps are needed.
    private func findLiteral(
        _ part: Part, in text: [UInt32], upTo end: Int, _ progress: inout Progress, steps: inout Int
    ) -> Bool? {
        let (start, count) = (Int(part.codes.lowerBound), part.codes.count)
        var (index, matched) = (progress.position, progress.matched)
        defer { (progress.position, progress.matched) = (index, matched) }
        while index < end {
            if steps <= 0 { return nil }
            steps -= 1
            if text[index] == codes[start + matched] {
                index += 1
                matched += 1
                if matched == count { return true }
            } else if matched > 0 {
                matched = Int(borders[start + matched - 1])
            } else {
                index += 1
            }
        }
        return false
    }

    /// Searches for a part with `_` from the position of `progress`: one bit for each of its characters
    /// records whether the text matches up to that character.
    /// - Returns: true if the part was found, with the position after it; nil if more steps are needed.
    private func findMasked(
        _ part: Part, in text: [UInt32], upTo end: Int, _ progress: inout Progress, steps: inout Int
    ) -> Bool? {
        let wordCount = part.wordCount
        let lastBit = UInt64(1) << UInt64((part.codes.count - 1) % 64)
        var position = progress.position
        // Moved out of `progress`, so that writing to the words does not copy them.
        var words: [UInt64] = []
        swap(&words, &progress.words)
        if words.isEmpty { words = [UInt64](repeating: 0, count: wordCount) }
        defer {
            progress.position = position
            swap(&words, &progress.words)
        }
        while position < end {
            if steps <= 0 { return nil }
            steps -= Self.maskedSteps + wordCount
            let code = text[position]
            var next = firstMask(of: code, in: part)
            var carry: UInt64 = 1
            for word in 0..<wordCount {
                var fitting = anyBits[Int(part.firstWord) + word]
                if next < part.masks.upperBound {
                    let mask = masks[Int(next)]
                    if mask.code == code, Int(mask.word) == word {
                        fitting |= mask.bits
                        next += 1
                    }
                }
                let before = words[word]
                words[word] = (before << 1 | carry) & fitting
                carry = before >> 63
            }
            position += 1
            if words[wordCount - 1] & lastBit != 0 { return true }
        }
        return false
    }

    /// Returns the index of the first mask of a part whose code is not less than `code`.
    private func firstMask(of code: UInt32, in part: Part) -> Int32 {
        var (low, high) = (part.masks.lowerBound, part.masks.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if masks[Int(middle)].code < code { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
