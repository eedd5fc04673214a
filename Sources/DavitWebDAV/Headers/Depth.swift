/// The depth of a method (RFC 4918 §10.2).
public enum Depth: Hashable, Sendable {
    case zero, one, infinity
}
