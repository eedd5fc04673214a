/// A path segment as a dictionary key: hashed in one step, and looked up without copying it from its path.
package struct SegmentKey: Hashable {
    package let bytes: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A copy of the bytes in their own memory, so that a stored key does not keep a whole path alive.
    package var detached: SegmentKey { SegmentKey(Array(bytes)[...]) }

    package func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension ResourcePath {
    /// Returns the segment that starts at `offset` and advances `offset` past it; nil at the end.
    package func nextSegment(at offset: inout Int) -> SegmentKey? {
        guard offset < bytes.count else { return nil }
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
        defer { offset = end + 1 }
        return SegmentKey(bytes[offset..<end])
    }
}
