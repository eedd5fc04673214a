package import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Records the paths at which content was overwritten and its previous version moved to the trash recently:
/// if the content is overwritten again, the trash does not keep another version. Stored in memory only, so
/// the trash may keep one more version after a restart.
package final class RecentVersions: Sendable {
    /// Maximum number of recorded paths. When the limit is exceeded, all paths are dropped, so the trash may
    /// keep one more version of each.
    package static let limit = 4096

    private struct Version {
        var principal: String?
        var time: Timestamp
        /// The content that replaced the version; only this content may be discarded without keeping a
        /// version. Nil if the content was not just written.
        var content: EntityTag?
    }

    private let versions = Mutex<[ResourcePath: Version]>([:])

    package init() {}

    /// Whether the trash can skip the content at a path, because a recent version exists.
    /// - Parameter content: Entity tag of the content. If it differs from the recorded tag, the path now refers
    ///   to another resource, or another program has written to the file.
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
            // Always keep content written by another user.
            return last.principal == principal && last.content == content
        }
    }

    /// Records that a version was moved to the trash.
    /// - Parameter content: Entity tag of the content that replaced it; nil if the trash must keep that content
    ///   when it is replaced in turn.
    package func record(
        _ path: ResourcePath, by principal: String?, now: Timestamp, content: EntityTag?
    ) {
        versions.withLock { versions in
            if versions.count >= Self.limit { versions.removeAll(keepingCapacity: true) }
            versions[path] = Version(principal: principal, time: now, content: content)
        }
    }

    /// Whether this content has recently replaced a version.
    package func contains(_ content: EntityTag, at path: ResourcePath) -> Bool {
        versions.withLock { $0[path]?.content == content }
    }

    /// Records that `old` was replaced without being kept in the trash, or that its modification time was
    /// changed.
    func follow(
        _ path: ResourcePath, from old: @autoclosure () -> EntityTag,
        to content: @autoclosure () -> EntityTag?
    ) {
        versions.withLock { versions in
            guard let known = versions[path]?.content, known == old() else { return }
            versions[path]?.content = content()
        }
    }

    /// Records that the version has left the trash, so that the next one is kept.
    func forget(_ path: ResourcePath) {
        versions.withLock { versions in
            if !versions.isEmpty { versions[path] = nil }
        }
    }
}
