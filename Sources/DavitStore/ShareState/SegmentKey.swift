package import DavitHTTP

/// One segment as a key: hashed in one step, and looked up without copying it out of its path.
package struct SegmentKey: Hashable {
    package let bytes: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The same bytes in memory of their own, so that a key that stays does not keep a whole path.
    package var detached: SegmentKey { SegmentKey(Array(bytes)[...]) }

    package func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension ResourcePath {
    /// The segment that starts at `offset`, which moves behind it; nil at the end.
    package func nextSegment(at offset: inout Int) -> SegmentKey? {
        guard offset < bytes.count else { return nil }
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
        defer { offset = end + 1 }
        return SegmentKey(bytes[offset..<end])
    }
}
