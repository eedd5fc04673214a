package import DavitHTTP

/// What becomes of the files that Macs leave behind in every folder they see: `._*` and `.DS_Store`, and the system's own
/// `.Trashes`, `.Spotlight-V100`, `.TemporaryItems`, `.DocumentRevisions-V100`, `.fseventsd` and `.apdisk`.
public enum LitterPolicy: String, CaseIterable, Sendable {
    /// Ordinary names.
    case keep
    /// Kept in the folder and answered to who asks for them by name; no listing has them.
    case hide
    /// Writing them is 403; those that are there are served to nobody.
    case refuse
    /// As `hide`, but `._*` and `.DS_Store` are kept apart from the folder, and not for ever.
    case aside
}

/// The names that a ``LitterPolicy`` is about. All are ASCII, and begin with a period.
package enum LitterName {
    private static let folders = [
        ".Trashes", ".Spotlight-V100", ".TemporaryItems", ".DocumentRevisions-V100", ".fseventsd", ".apdisk",
    ].map { Array($0.utf8) }
    private static let view = Array(".DS_Store".utf8)

    package static func matches(_ name: some Collection<UInt8>) -> Bool {
        isCompanion(name) || folders.contains { $0.elementsEqual(name) }
    }

    /// What says something about its folder or a neighbour, and nothing by itself: `._*` and `.DS_Store`. What stands in
    /// the system's own folders can be a document on its way.
    package static func isCompanion(_ name: some Collection<UInt8>) -> Bool {
        // `._` alone belongs to nothing.
        (name.count > 2 && name.starts(with: [UInt8(ascii: "."), UInt8(ascii: "_")]))
            || view.elementsEqual(name)
    }

    /// The path down to the first name in it that is a companion; nil if there is none.
    package static func companion(in path: ResourcePath) -> ResourcePath? {
        var found: ResourcePath?
        path.forEachDottedSegment { segment, end in
            guard isCompanion(segment) else { return true }
            found = ResourcePath(unchecked: Array(path.bytes[..<end]))
            return false
        }
        return found
    }
}

extension ResourcePath {
    /// Calls `body` with each segment that begins with a period, and where in ``bytes`` it ends, until that returns false.
    package func forEachDottedSegment(_ body: (ArraySlice<UInt8>, _ end: Int) -> Bool) {
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
            if bytes[start] == UInt8(ascii: "."), !body(bytes[start..<end], end) { return }
            start = end + 1
        }
    }
}
