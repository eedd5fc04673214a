extension Depth {
    /// Parses the value of a Depth field (RFC 4918 §10.2), in any case. The `,noroot` that Microsoft's clients
    /// append is accepted and means nothing: the resource itself is always reported.
    /// - Returns: nil for anything else; the server answers 400.
    public static func parse(_ value: Span<UInt8>) -> Depth? {
        if value.count == 1, value[0] == UInt8(ascii: "0") { return .zero }
        let value = FieldText(value).lowercased
        let word = value.hasSuffix(",noroot") ? value.dropLast(7) : value[...]
        return switch word {
        case "0": .zero
        case "1": .one
        case "infinity": .infinity
        default: nil
        }
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
