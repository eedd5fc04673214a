internal import DavitArchive
internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// Surveys the contents of an archive in advance: their size and, for a small archive, each entry.
///
/// Its calls block. It belongs to one task, which passes it to one thread pool job at a time and waits for
/// that job.
final class ArchiveEstimate: Sendable {
    /// The maximum number of steps in one job, so that it does not occupy a thread for long.
    private static let stepLimit = 2048
    /// The total size in bytes of the paths of the entries that are kept from which no further ones are kept.
    private static let keptPathBytes = 1 << 20

    let traversal: DownloadTraversal
    /// The maximum number of steps, and of entries kept.
    private let limit: Int, keptLimit: Int
    /// Whether to end rather than to drop the entries if there are too many, because an archive is generated from them.
    private let needsEntries: Bool
    private let state: Exclusive<State>

    /// The contents found so far.
    struct State {
        fileprivate(set) var files = 0
        fileprivate(set) var folders = 0
        /// The total length of the content.
        fileprivate(set) var bytes: Int64 = 0
        /// The entries found so far; empty if there are too many.
        fileprivate(set) var entries: ArchiveEntries
        fileprivate(set) var areEntriesKept = true
        fileprivate(set) var report = ArchiveReport()
        /// Whether everything was surveyed.
        fileprivate(set) var isWhole = false
        fileprivate var stepCount = 0

        fileprivate init(_ root: ResourcePath) { entries = ArchiveEntries(root: root) }

        fileprivate mutating func keep(_ found: DownloadTraversal.Found, limit: Int) {
            if entries.count == limit || entries.pathBytes >= ArchiveEstimate.keptPathBytes {
                areEntriesKept = false
                entries.removeAll()
            }
            if areEntriesKept { entries.append(found) }
        }

        /// Whether everything was surveyed and nothing was found.
        var isWithoutMembers: Bool { isWhole && files + folders == 0 }

        /// The value of `Davit-Archive`, a dictionary of RFC 9651.
        var summary: String {
            "files=\(files), folders=\(folders), bytes=\(bytes)" + (isWhole ? "" : ", partial")
        }
    }

    /// - Parameters:
    ///   - root: the canonical path of the archived collection.
    ///   - keptLimit: the maximum number of entries kept; at least `limit` if `needsEntries` is true.
    init(
        _ traversal: DownloadTraversal, of root: ResourcePath, limit: Int, keptLimit: Int, needsEntries: Bool
    ) {
        self.traversal = traversal
        self.limit = limit
        self.keptLimit = keptLimit
        self.needsEntries = needsEntries
        state = Exclusive(State(root))
    }

    /// Returns the contents found so far.
    func current() -> State { state.withValue { $0 } }

    /// Surveys the next entries.
    /// - Returns: whether there is more to do.
    func go() -> Bool {
        state.withValue { state in
            for _ in 0..<Self.stepLimit {
                if state.stepCount == limit { return false }
                if needsEntries, state.entries.pathBytes >= Self.keptPathBytes { return false }
                state.stepCount += 1
                switch traversal.next() {
                case .found(let found):
                    if found.info.isCollection { state.folders += 1 } else { state.files += 1 }
                    state.bytes = state.bytes.addingClamped(found.info.length)
                    state.keep(found, limit: keptLimit)
                case .obstacle(let path, let obstacle): state.report.add(path, obstacle)
                case .end:
                    state.isWhole = true
                    return false
                }
            }
            return true
        }
    }

    /// Opens a limited number of files, beginning at `index`, to update their metadata and to find unreadable
    /// ones, which are reported and removed from the entries.
    /// - Returns: the index to continue with; nil at the end of the entries.
    func open(from index: Int) -> Int? {
        state.withValue { state in
            var index = index
            let end = index + Self.stepLimit / 4
            while index < state.entries.count, index < end {
                let found = state.entries.found(index)
                if found.info.isCollection {
                    index += 1
                    continue
                }
                switch traversal.open(found) {
                case .success(let content):
                    state.bytes = (state.bytes - found.info.length).addingClamped(content.length)
                    state.entries.update(index, content.info)
                    index += 1
                case .failure(let obstacle):
                    state.files -= 1
                    state.bytes -= found.info.length
                    state.report.add(found.path, obstacle)
                    state.entries.remove(at: index)
                }
            }
            return index < state.entries.count ? index : nil
        }
    }
}
