/// The pattern of `like` (RFC 5323 §5.14): `%` matches any text, `_` any character, and `\` escapes any of
/// these three.
public struct SearchPattern: Hashable, Sendable {
    enum Element: Hashable {
        case anyText, anyCharacter
        case character(Character)
    }

    /// The maximum number of characters in a pattern, including wildcards.
    private static let limit = 1024

    let elements: [Element]

    /// Parses a pattern; returns nil if `\` precedes any other character or ends the pattern, or if there are
    /// more than 1024 characters.
    public init?(_ text: String) {
        var elements: [Element] = []
        var isEscaped = false
        for character in text {
            if isEscaped {
                guard "%_\\".contains(character) else { return nil }
                elements.append(.character(character))
                isEscaped = false
                continue
            }
            switch character {
            case "\\": isEscaped = true
            case "%": if elements.last != .anyText { elements.append(.anyText) }
            case "_": elements.append(.anyCharacter)
            default: elements.append(.character(character))
            }
        }
        guard !isEscaped, elements.count <= Self.limit else { return nil }
        self.elements = elements
    }

    private init(_ elements: [Element]) { self.elements = elements }

    /// The pattern in lower case, for texts in lower case.
    public var lowercased: SearchPattern {
        var folded: [Element] = []
        for element in elements {
            guard case .character(let character) = element else {
                folded.append(element)
                continue
            }
            // The lowercase form of some letters has two characters.
            folded += character.lowercased().map { .character($0) }
        }
        return SearchPattern(folded)
    }

    /// Whether the entire text matches. Characters are compared by canonical equivalence.
    ///
    /// Compiles the pattern in each call. A search compiles its patterns only once; see `SearchMatcher`.
    public func matches(_ text: String) -> Bool {
        let alphabet = SearchAlphabet([self])
        let decoded = SearchText(isFolded: false)
        _ = decoded.begin(text, with: alphabet)
        var steps = Int.max
        decoded.decode(with: alphabet, steps: &steps)
        var progress = SearchMatcher.Progress()
        return SearchMatcher(self, alphabet).advance(&progress, over: decoded.codes, steps: &steps) ?? false
    }
}
