package import DavitHTTP
internal import DavitStore

/// A request for exclusive or shared access to a path and everything below it.
package struct PathLockRequest: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        /// Compatible with overlapping shared requests.
        case shared
        /// Not compatible with any overlapping request.
        case exclusive
    }

    /// The path, normalized so that all spellings of it are equal and therefore exclude each other.
    package let key: ResourcePath
    package let mode: Mode
    /// The canonical path if ``key`` may differ from it.
    private let spelling: ResourcePath?

    /// The canonical path.
    package var path: ResourcePath { spelling ?? key }

    /// - Parameter path: Canonical path.
    package init(path: ResourcePath, mode: Mode) {
        let isNormal = path.isASCII
        key = isNormal ? path : path.equivalenceKey
        spelling = isNormal ? nil : path
        self.mode = mode
    }

    /// Whether one path equals or contains the other.
    package func overlaps(_ other: PathLockRequest) -> Bool { key.overlaps(other.key) }

    /// Whether two owners may hold both at the same time.
    package func isCompatible(with other: PathLockRequest) -> Bool {
        if mode == .shared, other.mode == .shared { return true }
        return !overlaps(other)
    }
}
