/// Limits of a share's trash. Entries that exceed them are permanently removed, oldest first.
public struct TrashLimits: Hashable, Sendable {
    /// Number of days to keep an entry; at least 1.
    public var days = 30
    /// Maximum bytes of content to keep; nil if only the space on the volume limits it. A file that is larger is not kept.
    public var bytes: Int64?
    /// Maximum number of entries to keep, because those without content need space, too.
    package var entries = 100_000
    /// Seconds within which only one version of content is kept, even if the same user overwrites it
    /// repeatedly: office programs save every few minutes. 0 keeps every version. Deleted resources are not
    /// affected.
    public var versionSeconds: Int64 = 300

    /// Creates limits of 30 days, without a size limit.
    public init() {}
}
