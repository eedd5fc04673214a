/// The content sent in place of content that was not recorded. A replay recognizes any part of it in a
/// response.
enum PlaceholderContent {
    static let pattern = Array("(not recorded) \n".utf8)

    /// Returns `count` bytes of the repeated pattern, from its start.
    static func bytes(_ count: Int) -> [UInt8] {
        Array(repeatElement(pattern, count: count / pattern.count + 1).joined().prefix(count))
    }

    /// Whether the bytes are a part of the repeated pattern.
    static func contains(_ bytes: [UInt8]) -> Bool {
        pattern.indices.contains { start in
            bytes.indices.allSatisfy { bytes[$0] == pattern[(start + $0) % pattern.count] }
        }
    }
}
