package import DavitHTTP

/// How a share treats the metadata files that macOS creates: `._*` and `.DS_Store` in the folders it visits,
/// and the system folders and files `.Trashes`, `.Spotlight-V100`, `.TemporaryItems`,
/// `.DocumentRevisions-V100`, `.fseventsd` and `.apdisk`.
public enum MacMetadataPolicy: String, CaseIterable, Sendable {
    /// Treat them as ordinary files.
    case keep
    /// Store them in the shared folder and serve them by name, but omit them from listings.
    case hide
    /// Respond with 403 to requests that write them, and do not serve existing ones.
    case refuse
    /// Like `hide`, but store `._*` and `.DS_Store` outside the shared folder, for a limited time.
    case aside
}

/// The names to which a ``MacMetadataPolicy`` applies. All are ASCII and begin with a period.
package enum MacMetadataName {
    private static let folders = [
        ".Trashes", ".Spotlight-V100", ".TemporaryItems", ".DocumentRevisions-V100", ".fseventsd", ".apdisk",
    ].map { Array($0.utf8) }
    private static let view = Array(".DS_Store".utf8)

    package static func matches(_ name: some Collection<UInt8>) -> Bool {
        isSidecar(name) || folders.contains { $0.elementsEqual(name) }
    }

    /// Whether a name is that of a sidecar, which describes its folder or a neighboring file: `._*` or
    /// `.DS_Store`. Other files in the system folders are not sidecars: `.TemporaryItems`, for example, can
    /// contain documents that an application is saving.
    package static func isSidecar(_ name: some Collection<UInt8>) -> Bool {
        // `._` alone is not a sidecar.
        (name.count > 2 && name.starts(with: [UInt8(ascii: "."), UInt8(ascii: "_")]))
            || view.elementsEqual(name)
    }

    /// Returns the path up to and including its first sidecar segment, or nil if there is none.
    package static func sidecar(in path: ResourcePath) -> ResourcePath? {
        var found: ResourcePath?
        path.forEachDottedSegment { segment, end in
            guard isSidecar(segment) else { return true }
            found = ResourcePath(unchecked: Array(path.bytes[..<end]))
            return false
        }
        return found
    }
}

extension ResourcePath {
    /// Calls `body` with each segment that begins with a period and with its end index in ``bytes``, until
    /// `body` returns false.
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
