/// How much the trash of a share keeps, and for how long. Whatever is over it goes for good, the oldest first.
public struct TrashLimits: Hashable, Sendable {
    /// Days that something is kept, from 1 on.
    public var days = 30
    /// Bytes of content that are kept; nil for as many as the volume has room for.
    public var bytes: Int64?
    /// Seconds in which one version of content is kept, however often the same person overwrites it: an office program
    /// saves every few minutes. 0 keeps every version. What is deleted is always kept.
    public var versionSeconds: Int64 = 300

    /// 30 days, and no other limit.
    public init() {}
}
