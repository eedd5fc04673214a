internal import Synchronization

/// A regular expression, compiled once. The dot matches any character, and characters are Unicode scalars.
final class TextPattern: Sendable {
    /// The maximum length of a text that is searched, in bytes: a pattern may need time that grows faster than the
    /// length.
    static let limitBytes = 64 << 10

    /// `Regex` is not Sendable; one thread at a time uses it.
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Returns nil if the text is not a regular expression.
    init?(_ text: String) {
        guard let regex = try? Regex(text) else { return nil }
        self.regex = Mutex(regex.dotMatchesNewlines().matchingSemantics(.unicodeScalar))
    }

    /// Whether the pattern matches anywhere in the text; false for text that is too long.
    func matches(_ text: String) -> Bool {
        guard text.utf8.count <= Self.limitBytes else { return false }
        return regex.withLock { text.firstMatch(of: $0) != nil }
    }
}
