/// What is sent in the place of content that was not recorded. A part of it can be told, wherever it comes back.
enum Filler {
    static let pattern = Array("(not recorded) \n".utf8)

    /// `count` bytes of the pattern, from its start.
    static func bytes(_ count: Int) -> [UInt8] {
        Array(repeatElement(pattern, count: count / pattern.count + 1).joined().prefix(count))
    }

    /// True if the bytes are a part of the pattern, repeated.
    static func contains(_ bytes: [UInt8]) -> Bool {
        pattern.indices.contains { start in
            bytes.indices.allSatisfy { bytes[$0] == pattern[(start + $0) % pattern.count] }
        }
    }
}
