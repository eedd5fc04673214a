public import DavitHTTP

/// A pattern for decoded paths: `*` matches any characters within a segment, `**` also slashes. A pattern
/// that ends in `/**` also matches the path before it.
public struct PathGlob: Hashable, Sendable, CustomStringConvertible {
    private enum Element: Hashable, Sendable {
        case byte(UInt8)
        /// Any number of bytes other than slashes.
        case withinSegment
        /// Any number of bytes.
        case anything
    }

    public let description: String
    private let elements: [Element]

    /// The pattern that matches every path.
    public static let all = PathGlob(unchecked: "/**")

    /// - Parameter text: must begin with a slash; nil otherwise.
    public init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        self.init(unchecked: text)
    }

    private init(unchecked text: String) {
        description = text
        var elements: [Element] = []
        for byte in text.utf8 {
            switch (byte, elements.last) {
            case (UInt8(ascii: "*"), .withinSegment): elements[elements.count - 1] = .anything
            case (UInt8(ascii: "*"), .anything): break
            case (UInt8(ascii: "*"), _): elements.append(.withinSegment)
            default: elements.append(.byte(byte))
            }
        }
        self.elements = elements
    }

    /// Whether the pattern matches a decoded path, which has no trailing slash. The cost is at most the
    /// product of both lengths.
    public func matches(_ path: ResourcePath) -> Bool {
        let text = [UInt8(ascii: "/")] + path.bytes
        return matches(text) || !path.isRoot && matches(text + [UInt8(ascii: "/")])
    }

    private func matches(_ text: [UInt8]) -> Bool {
        var (element, index) = (0, 0)
        // Where to continue after a mismatch: the element after a wildcard, and the byte from which the
        // wildcard has not been extended yet.
        var withinSegment: (element: Int, index: Int)?
        var anything: (element: Int, index: Int)?
        while true {
            if element < elements.count {
                switch elements[element] {
                case .anything:
                    element += 1
                    anything = (element, index)
                    withinSegment = nil
                    continue
                case .withinSegment:
                    element += 1
                    withinSegment = (element, index)
                    continue
                case .byte(let byte):
                    if index < text.count, text[index] == byte {
                        element += 1
                        index += 1
                        continue
                    }
                }
            } else if index == text.count {
                return true
            }
            if let last = withinSegment, last.index < text.count, text[last.index] != UInt8(ascii: "/") {
                withinSegment = (last.element, last.index + 1)
                (element, index) = (last.element, last.index + 1)
            } else if let last = anything, last.index < text.count {
                withinSegment = nil
                anything = (last.element, last.index + 1)
                (element, index) = (last.element, last.index + 1)
            } else {
                return false
            }
        }
    }
}
