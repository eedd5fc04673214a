/// The path of a resource relative to the root of its share: decoded, normalized, and never outside the
/// share.
///
/// Segments are bytes, because names need not be UTF-8. No segment is empty, `.` or `..`, or contains NUL or
/// a slash.
public struct ResourcePath: Hashable, Sendable {
    /// The segments joined by "/", without leading and trailing slash; empty for the root.
    public let bytes: [UInt8]

    /// - Parameter bytes: bytes in the format of ``bytes``.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The root of the share.
    public static let root = ResourcePath(unchecked: [])

    /// Creates a path from its segments; returns nil if one is empty, is `.` or `..`, or contains a slash or
    /// NUL.
    public init?(segments: some Sequence<some Collection<UInt8>>) {
        var path = ResourcePath.root
        for segment in segments {
            guard let longer = path.appending(segment) else { return nil }
            path = longer
        }
        self = path
    }

    public func hash(into hasher: inout Hasher) {
        // Hash in one call; an array hashes its elements one by one.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Whether this is the root of the share.
    public var isRoot: Bool { bytes.isEmpty }

    /// Whether all names are ASCII, which Unicode normalization leaves unchanged.
    package var isASCII: Bool {
        // Without a branch for each byte, so that the compiler can combine several bytes.
        bytes.reduce(0) { $0 | $1 } < 0x80
    }

    /// The last segment; empty for the root.
    public var name: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The path of the parent collection; nil for the root.
    public var parent: ResourcePath? {
        if isRoot { return nil }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return .root }
        return ResourcePath(unchecked: Array(bytes[..<slash]))
    }

    /// The segments from the root down; empty for the root.
    public var segments: [ArraySlice<UInt8>] { bytes.split(separator: UInt8(ascii: "/")) }

    /// Number of levels below the root; 0 for the root. Linear in the length.
    public var depth: Int {
        if isRoot { return 0 }
        return bytes.reduce(1) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
    }

    /// Whether ``depth`` exceeds a limit. Counts only if the path is long enough to exceed it.
    package func isDeeper(than limit: Int) -> Bool {
        // Each level except the first needs at least two bytes: a slash and a name of one byte.
        bytes.count > 2 * limit && depth > limit
    }

    /// Returns the path of a member; nil if `name` is not a valid segment.
    public func appending(_ name: some Collection<UInt8>) -> ResourcePath? {
        name.withSpan { name in
            guard Self.isSegment(name) else { return nil }
            var longer: [UInt8] = []
            longer.reserveCapacity(bytes.count + 1 + name.count)
            longer.append(contentsOf: bytes)
            if !isRoot { longer.append(UInt8(ascii: "/")) }
            for index in 0..<name.count { longer.append(name[index]) }
            return ResourcePath(unchecked: longer)
        }
    }

    /// Whether `name` is not empty, not a dot segment, and contains neither NUL nor slash.
    private static func isSegment(_ name: borrowing Span<UInt8>) -> Bool {
        if name.isEmpty { return false }
        for index in 0..<name.count where name[index] == 0 || name[index] == UInt8(ascii: "/") {
            return false
        }
        let dot = UInt8(ascii: ".")
        return !(name.count <= 2 && name[0] == dot && name[name.count - 1] == dot)
    }

    /// Whether `other` is this resource or below it.
    public func contains(_ other: ResourcePath) -> Bool {
        if isRoot { return true }
        guard other.bytes.count >= bytes.count, other.bytes.starts(with: bytes) else { return false }
        return other.bytes.count == bytes.count || other.bytes[bytes.count] == UInt8(ascii: "/")
    }

    /// Whether one resource equals or contains the other.
    package func overlaps(_ other: ResourcePath) -> Bool { contains(other) || other.contains(self) }

    /// Whether `collection` is the ``parent`` of this resource.
    public func isMember(of collection: ResourcePath) -> Bool {
        !isRoot && collection.contains(self)
            && bytes.count == name.count + (collection.isRoot ? 0 : collection.bytes.count + 1)
    }

    /// Returns this path with the prefix `old` replaced by `new`; nil if this path is neither `old` nor below
    /// `old`.
    public func rebased(from old: ResourcePath, to new: ResourcePath) -> ResourcePath? {
        guard old.contains(self) else { return nil }
        if self == old { return new }
        let rest = old.isRoot ? bytes[...] : bytes[(old.bytes.count + 1)...]
        if new.isRoot { return ResourcePath(unchecked: Array(rest)) }
        return ResourcePath(unchecked: new.bytes + [UInt8(ascii: "/")] + rest)
    }
}

extension ResourcePath: CustomStringConvertible {
    /// The path for logs and tests; invalid UTF-8 is replaced.
    public var description: String { "/" + String(decoding: bytes, as: UTF8.self) }
}
