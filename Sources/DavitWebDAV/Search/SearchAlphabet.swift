/// Assigns codes to the characters of all patterns of a query, so that matching compares integers instead of
/// characters.
package struct SearchAlphabet: Sendable {
    /// The code of all characters that occur in no pattern.
    static let unknown: UInt32 = 0
    /// The code of a pattern character that matches no text.
    static let never = UInt32.max - 1
    /// The maximum length of a pattern character in UTF-8 bytes. A longer one, with dozens of combining
    /// marks, is matched by wildcards only, because comparing it costs more than linear time.
    static let characterByteLimit = 128
    /// The cost, in steps per byte, of a character outside ASCII: finding its end and looking it up.
    private static let stepsPerByte = 16

    /// The codes of pattern characters; canonically equivalent characters are equal keys.
    private var codes: [Character: UInt32] = [:]
    private var asciiCodes = [UInt32](repeating: Self.unknown, count: 128)

    /// - Parameter patterns: at most 256 patterns of at most 1024 characters, see ``BodyLimits/operators``.
    package init(_ patterns: [SearchPattern]) {
        for pattern in patterns {
            for case .character(let character) in pattern.elements
            where character.utf8.count <= Self.characterByteLimit && codes[character] == nil {
                codes[character] = UInt32(codes.count + 1)
            }
        }
        // Look up ASCII characters in the table as well, because three non-ASCII characters are canonically
        // equivalent to ASCII characters.
        for byte in UInt8(0)..<128 {
            asciiCodes[Int(byte)] = codes[Character(Unicode.Scalar(byte))] ?? Self.unknown
        }
    }

    /// Returns the code of a pattern character.
    func patternCode(of character: Character) -> UInt32 {
        character.utf8.count <= Self.characterByteLimit ? codes[character] ?? Self.never : Self.never
    }

    /// Returns the code of an ASCII character, or of its lowercase form.
    fileprivate func code(of byte: UInt8, isFolded: Bool) -> UInt32 {
        let isUpper = isFolded && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
        return asciiCodes[Int(isUpper ? byte | 0x20 : byte)]
    }

    /// Appends the codes of characters that are single bytes, up to the first other one.
    fileprivate func appendCodes(
        of bytes: UnsafeBufferPointer<UInt8>, isFolded: Bool, to target: inout [UInt32]
    ) {
        target.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices {
                let byte = unsafe bytes[index]
                guard byte < 0x80, byte != UInt8(ascii: "\r") else { return }
                output.append(code(of: byte, isFolded: isFolded))
            }
        }
    }

    /// Appends the code of a text character, or the codes of its lowercase form.
    /// - Returns: the cost in steps.
    fileprivate func appendCode(of character: Character, isFolded: Bool, to target: inout [UInt32]) -> Int {
        let bytes = character.utf8
        let count = bytes.count
        if count == 1, let byte = bytes.first {
            target.append(code(of: byte, isFolded: isFolded))
            return 1
        }
        if count > Self.characterByteLimit {
            target.append(Self.unknown)
        } else if isFolded {
            for folded in character.lowercased() { target.append(codes[folded] ?? Self.unknown) }
        } else {
            target.append(codes[character] ?? Self.unknown)
        }
        return count * Self.stepsPerByte
    }
}

/// A text as the codes of its characters, decoded incrementally so that a long text does not occupy a thread. Used by one task
/// at a time, for one text after another.
package final class SearchText {
    /// The maximum length of a text that is decoded at a time, in bytes.
    private static let shortBytes = 512

    private let isFolded: Bool
    /// The rest of the text; nil if all of it was decoded immediately.
    @safe @exclusivity(unchecked) private var characters: String.Iterator?
    /// The rest of a text whose characters are single bytes; nil for other texts.
    @safe @exclusivity(unchecked) private var bytes: String.UTF8View.SubSequence?
    @safe @exclusivity(unchecked) private var decoded: [UInt32] = []
    @safe @exclusivity(unchecked) private var progress = Progress.none

    private enum Progress { case none, begun, complete }

    /// The codes of the characters decoded so far.
    package var codes: [UInt32] { decoded }
    /// Whether a text was begun, and not ended.
    package var hasBegun: Bool { progress != .none }
    /// Whether ``codes`` contains all characters.
    package var isComplete: Bool { progress == .complete }

    /// - Parameter isFolded: whether to convert texts to lower case.
    package init(isFolded: Bool) { self.isFolded = isFolded }

    /// Begins a text, and decodes it entirely if it is short and its characters are single bytes, as those of most names are.
    /// - Returns: the cost in steps.
    package func begin(_ text: String, with alphabet: SearchAlphabet) -> Int {
        let count = text.utf8.count
        if count <= Self.shortBytes {
            var text = text
            if text.withUTF8({ unsafe begin($0, with: alphabet) }) { return count }
        }
        progress = .begun
        characters = text.makeIterator()
        bytes = Self.hasOnlySingleBytes(text) ? text.utf8[...] : nil
        // Growing the array step by step would temporarily need up to three times its memory. Reserved pages
        // that are never used take no physical memory.
        decoded.reserveCapacity(count)
        return 0
    }

    /// Begins a text in UTF-8, as ``begin(_:with:)-(String,_)`` does, if that decodes it entirely.
    /// - Returns: the cost in steps; nil, without having begun, if it does not.
    package func begin(_ text: [UInt8], with alphabet: SearchAlphabet) -> Int? {
        guard text.count <= Self.shortBytes else { return nil }
        let isComplete = unsafe text.withUnsafeBufferPointer { unsafe begin($0, with: alphabet) }
        return isComplete ? text.count : nil
    }

    private func begin(_ text: UnsafeBufferPointer<UInt8>, with alphabet: SearchAlphabet) -> Bool {
        unsafe alphabet.appendCodes(of: text, isFolded: isFolded, to: &decoded)
        if decoded.count == text.count {
            progress = .complete
            return true
        }
        decoded.removeAll(keepingCapacity: true)
        return false
    }

    /// Ends a text. Keeps only the memory of a short one.
    package func end() {
        guard hasBegun else { return }
        progress = .none
        if decoded.capacity > 2 * Self.shortBytes {
            decoded = []
        } else {
            decoded.removeAll(keepingCapacity: true)
        }
        if characters != nil { (characters, bytes) = (nil, nil) }
    }

    /// Whether every byte is a character: in ASCII, only CR LF is a character of two bytes.
    private static func hasOnlySingleBytes(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\r") }
    }

    /// Decodes characters while `steps` is positive, and subtracts their cost.
    package func decode(with alphabet: SearchAlphabet, steps: inout Int) {
        if let rest = bytes {
            let next = rest.prefix(min(max(0, steps), rest.count))
            for byte in next { decoded.append(alphabet.code(of: byte, isFolded: isFolded)) }
            steps -= next.count
            bytes = rest[next.endIndex...]
            // As below, the end of the text is detected only if there are steps left.
            if steps > 0 { progress = .complete }
            return
        }
        while steps > 0 {
            guard let character = characters?.next() else {
                progress = .complete
                return
            }
            steps -= alphabet.appendCode(of: character, isFolded: isFolded, to: &decoded)
        }
    }
}
