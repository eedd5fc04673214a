/// How a restore handles a name that is already in use.
enum RestoreConflictPolicy: String, Sendable {
    /// Restores under a numbered name: `name (1).txt`.
    case rename
    /// Moves the existing resource to the trash.
    case replace
    /// Refuses with 412; the entry remains in the trash.
    case refuse
}
