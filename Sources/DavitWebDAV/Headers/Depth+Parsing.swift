extension Depth {
    /// Parses the value of a Depth field (RFC 4918 §10.2), ignoring case. The `,noroot` suffix that
    /// Microsoft's clients append is accepted; see ``excludesRoot(_:)``.
    /// - Returns: nil for any other value; the server responds with 400.
    public static func parse(_ value: Span<UInt8>) -> Depth? {
        if value.count == 1, value[0] == UInt8(ascii: "0") { return .zero }
        let value = FieldText(value).lowercased
        let word = value.hasSuffix(noRoot) ? value.dropLast(noRoot.count) : value[...]
        return switch word {
        case "0": .zero
        case "1": .one
        case "infinity": .infinity
        default: nil
        }
    }

    private static let noRoot = ",noroot"

    /// Whether a Depth field ends in `,noroot`, which requests the members without the collection itself.
    public static func excludesRoot(_ value: Span<UInt8>) -> Bool {
        // Most values are a single character; the length rules them out without a conversion.
        value.count > noRoot.utf8.count && FieldText(value).lowercased.hasSuffix(noRoot)
    }

    /// The value in a Depth field or a `depth` element (§14.4).
    public var text: StaticString {
        switch self {
        case .zero: "0"
        case .one: "1"
        case .infinity: "infinity"
        }
    }
}
