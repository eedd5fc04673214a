extension Depth {
    /// Parses the value of a Depth field (RFC 4918 §10.2), in any case. The `,noroot` that Microsoft's clients
    /// append is accepted; ``excludesRoot(_:)`` tells it.
    /// - Returns: nil for anything else; the server answers 400.
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

    /// Whether a Depth field ends in `,noroot`: the members are asked for, and not the collection itself.
    public static func excludesRoot(_ value: Span<UInt8>) -> Bool {
        // No depth has more letters than `infinity`, and most have one.
        value.count > noRoot.utf8.count && FieldText(value).lowercased.hasSuffix(noRoot)
    }

    /// As it stands in a Depth field and in a `depth` element (§14.4).
    public var text: StaticString {
        switch self {
        case .zero: "0"
        case .one: "1"
        case .infinity: "infinity"
        }
    }
}
