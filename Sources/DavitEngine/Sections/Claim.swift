package import DavitHTTP
internal import DavitStore

/// What a change needs to be alone with.
package struct Claim: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        /// Others may hold what overlaps, if they share it too.
        case shared
        /// Nobody else may hold what overlaps.
        case exclusive
    }

    /// The claim is for it and all that is below it: the same for all spellings of a path, so that no two of them
    /// are made at a time.
    package let key: ResourcePath
    package let mode: Mode

    /// - Parameter path: canonical.
    package init(path: ResourcePath, mode: Mode) {
        key = path.equivalenceKey
        self.mode = mode
    }

    /// Whether one of the two claims is for what the other is for.
    package func overlaps(_ other: Claim) -> Bool { key.contains(other.key) || other.key.contains(key) }

    /// Whether two askers may hold both at a time.
    package func isCompatible(with other: Claim) -> Bool {
        if mode == .shared, other.mode == .shared { return true }
        return !overlaps(other)
    }
}
