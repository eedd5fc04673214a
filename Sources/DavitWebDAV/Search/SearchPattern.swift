/// The pattern of `like` (RFC 5323 §5.14): `%` is any text, `_` any character, and `\` takes the meaning of the next one
/// of the three away.
public struct SearchPattern: Hashable, Sendable {
    private enum Element: Hashable {
        case anyText, anyCharacter
        case character(Character)
    }

    /// More is a game: matching takes the product of both lengths at worst.
    private static let limit = 1024

    private let elements: [Element]

    /// Nil for a `\` in front of anything else, and for more than 1024 characters.
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

    /// The same in lower case, for text in lower case.
    public var lowercased: SearchPattern {
        var folded: [Element] = []
        for element in elements {
            guard case .character(let character) = element else {
                folded.append(element)
                continue
            }
            // Some letters become two.
            folded += character.lowercased().map { .character($0) }
        }
        return SearchPattern(folded)
    }

    /// True if all of the text fits. Characters are compared as Unicode does it, composed or not.
    public func matches(_ text: String) -> Bool {
        let characters = Array(text)
        var (place, index) = (0, 0)
        // Behind the last `%`, and what of the text that one has taken: only it can take more, because the ones
        // before have found their earliest place.
        var retry: (place: Int, index: Int)?
        while index < characters.count {
            if place < elements.count {
                switch elements[place] {
                case .anyText:
                    place += 1
                    retry = (place, index)
                    continue
                case .anyCharacter:
                    (place, index) = (place + 1, index + 1)
                    continue
                case .character(let character) where character == characters[index]:
                    (place, index) = (place + 1, index + 1)
                    continue
                case .character: break
                }
            }
            guard let last = retry else { return false }
            retry = (last.place, last.index + 1)
            (place, index) = (last.place, last.index + 1)
        }
        return elements[place...].allSatisfy { $0 == .anyText }
    }
}
