/// The position of a character in a file, for messages.
package struct YAMLPosition: Hashable, Sendable {
    /// From 1.
    package let line: Int
    /// In characters, from 1.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// A value in a YAML file. Scalars are texts, because the reader of a value knows its type.
package struct YAMLNode: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// - Parameter isPlain: whether the scalar has no quotes and is not a block.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([YAMLMember])
        /// A value that has been reported as a problem, such as an alias.
        case invalid
    }

    package let content: Content
    package let position: YAMLPosition

    /// Returns a text of a file for a message: without control characters, and not longer than a line.
    package static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(60).map { $0.value < 32 || $0.value == 127 ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars)) + (text.unicodeScalars.count > 60 ? "…" : "")
    }
}

/// A key and its value.
package struct YAMLMember: Hashable, Sendable {
    package let key: String
    package let position: YAMLPosition
    package let value: YAMLNode
}

/// A mistake in a YAML file.
package struct YAMLProblem: Error, Hashable, Sendable {
    /// Nil for a problem of the whole file.
    package let position: YAMLPosition?
    package let message: String

    package init(_ position: YAMLPosition?, _ message: String) {
        self.position = position
        self.message = message
    }
}

/// Limits on what a file can make the reader remember.
package enum YAMLLimits {
    /// Bytes of a file: enough for several thousand shares.
    package static let fileBytes = 4 << 20
    /// Lists and mappings inside each other.
    package static let depth = 16
    /// Values of all kinds, with keys.
    package static let nodes = 200_000
    /// Problems that are reported; the others are only counted.
    package static let problems = 100
}
