internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Of which content the trash has lately got a version: who overwrites it again and again leaves one, the one from
/// before. Kept in memory only: after a restart there may be one more.
final class RecentVersions: Sendable {
    /// What is more than that is forgotten, and so kept once more.
    private static let limit = 4096

    private struct Version {
        var principal: String?
        var time: Timestamp
        /// What has been written since, through the server: only that is dropped. Nil for what nobody has just written.
        var content: EntityTag?
    }

    private let versions = Mutex<[ResourcePath: Version]>([:])

    /// Whether the trash need not keep the content at a path.
    /// - Parameter content: which that is: under the same name may stand something else by now, or another program may have
    ///   written to it.
    func hasRecent(
        of content: EntityTag, at path: ResourcePath, by principal: String?, _ limits: TrashLimits,
        now: Timestamp
    ) -> Bool {
        versions.withLock { versions in
            guard let last = versions[path] else { return false }
            guard last.time <= now, now < last.time.adding(seconds: limits.versionSeconds) else {
                versions[path] = nil
                return false
            }
            // What somebody else has written is theirs.
            return last.principal == principal && last.content == content
        }
    }

    /// The trash has got a version.
    /// - Parameter content: what has taken its place.
    func note(
        _ path: ResourcePath, by principal: String?, now: Timestamp, content: EntityTag?
    ) {
        versions.withLock { versions in
            if versions.count >= Self.limit { versions.removeAll(keepingCapacity: true) }
            versions[path] = Version(principal: principal, time: now, content: content)
        }
    }

    /// Whether this content has lately taken the place of a version.
    func contains(_ content: EntityTag, at path: ResourcePath) -> Bool {
        versions.withLock { $0[path]?.content == content }
    }

    /// Other content has taken the place of `old`, which the trash did not keep; or the same has got another time.
    func follow(_ path: ResourcePath, from old: EntityTag, to content: EntityTag?) {
        versions.withLock { versions in
            if versions[path]?.content == old { versions[path]?.content = content }
        }
    }

    /// The version has left the trash: the next one is to be kept.
    func forget(_ path: ResourcePath) { versions.withLock { $0[path] = nil } }
}
