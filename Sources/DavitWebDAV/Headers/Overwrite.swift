/// Whether COPY and MOVE may replace the resource at the destination (RFC 4918 §10.6).
public enum Overwrite: Hashable, Sendable {
    /// `T`, or no field.
    case allowed
    /// `F`: 412 if the destination is mapped.
    case forbidden

    /// Parses the value of an Overwrite field, ignoring case.
    /// - Returns: nil for any value except `T` and `F`; the server responds with 400.
    public static func parse(_ value: Span<UInt8>) -> Overwrite? {
        switch FieldText(value).lowercased {
        case "t": .allowed
        case "f": .forbidden
        default: nil
        }
    }
}
