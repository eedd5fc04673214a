/// Numbers the characters of all patterns of a query, so that matching compares numbers instead of characters.
package struct SearchAlphabet: Sendable {
    /// The code of every character that no pattern contains.
    static let unknown: UInt32 = 0
    /// The code of a pattern's character that equals no character of any text.
    static let never = UInt32.max - 1
    /// UTF-8 bytes of the longest character that a pattern can contain. A longer one, with hundreds of combining
    /// marks, matches wildcards only: the cost of comparing it is more than linear.
    static let characterByteLimit = 128
    /// Steps for each byte of a character outside ASCII: finding its end, and looking it up.
    private static let stepsPerByte = 16

    /// Equal for canonically equivalent characters.
    private var codes: [Character: UInt32] = [:]
    private var asciiCodes = [UInt32](repeating: Self.unknown, count: 128)

    /// - Parameter patterns: at most 256 of at most 1024 characters, see ``BodyLimits/operators``.
    package init(_ patterns: [SearchPattern]) {
        for pattern in patterns {
            for case .character(let character) in pattern.elements
            where character.utf8.count <= Self.characterByteLimit && codes[character] == nil {
                codes[character] = UInt32(codes.count + 1)
            }
        }
        // From the table, because three characters outside ASCII are equivalent to one inside.
        for byte in UInt8(0)..<128 {
            asciiCodes[Int(byte)] = codes[Character(Unicode.Scalar(byte))] ?? Self.unknown
        }
    }

    /// The code of a character of a pattern.
    func patternCode(of character: Character) -> UInt32 {
        character.utf8.count <= Self.characterByteLimit ? codes[character] ?? Self.never : Self.never
    }

    /// Appends the code of a character of a text, or the codes of its lower case.
    /// - Returns: the steps that took.
    fileprivate func appendCode(of character: Character, isFolded: Bool, to target: inout [UInt32]) -> Int {
        let bytes = character.utf8
        let count = bytes.count
        if count == 1, let byte = bytes.first {
            let isUpper = isFolded && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            target.append(asciiCodes[Int(isUpper ? byte | 0x20 : byte)])
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

/// A text as the codes of its characters. It is decoded in parts, so that a long text does not hold a thread.
package struct SearchText: Sendable {
    private var characters: String.Iterator
    private let isFolded: Bool
    /// One for each character that has been decoded.
    package private(set) var codes: [UInt32] = []
    /// True when ``codes`` has all characters.
    package private(set) var isComplete = false

    /// - Parameter isFolded: to lower case.
    package init(_ text: String, isFolded: Bool) {
        characters = text.makeIterator()
        self.isFolded = isFolded
        codes.reserveCapacity(min(text.utf8.count, 4096))
    }

    /// Decodes further characters while `steps` is positive, and subtracts what they cost.
    package mutating func decode(with alphabet: SearchAlphabet, steps: inout Int) {
        while steps > 0 {
            guard let character = characters.next() else {
                isComplete = true
                return
            }
            steps -= alphabet.appendCode(of: character, isFolded: isFolded, to: &codes)
        }
    }
}
