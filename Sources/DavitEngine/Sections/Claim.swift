package import DavitHTTP

/// What a change needs to be alone with.
package struct Claim: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        /// Others may hold what overlaps, if they share it too.
        case shared
        /// Nobody else may hold what overlaps.
        case exclusive
    }

    /// Canonical; the claim is for it and all that is below it.
    package var path: ResourcePath
    package var mode: Mode

    package init(path: ResourcePath, mode: Mode) {
        self.path = path
        self.mode = mode
    }

    /// Whether two askers may hold both at a time.
    package func isCompatible(with other: Claim) -> Bool {
        if mode == .shared, other.mode == .shared { return true }
        return !path.contains(other.path) && !other.path.contains(path)
    }
}
