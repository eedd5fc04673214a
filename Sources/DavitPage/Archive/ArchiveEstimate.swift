internal import DavitArchive
internal import DavitEngine
internal import DavitStore

/// Surveys the contents of an archive in advance: their size and, for a small archive, each entry.
///
/// Its calls block. It belongs to one task, which passes it to one thread pool job at a time and waits for
/// that job; therefore the unchecked conformance is safe.
final class ArchiveEstimate: @unchecked Sendable {
    /// The maximum number of steps in one job, so that it does not occupy a thread for long.
    private static let stepLimit = 2048

    let traversal: TreeTraversal
    /// The maximum number of steps, and of entries kept.
    private let limit: Int, keptLimit: Int
    @safe @exclusivity(unchecked) private(set) var files = 0
    @safe @exclusivity(unchecked) private(set) var folders = 0
    /// The total length of the content.
    @safe @exclusivity(unchecked) private(set) var bytes: Int64 = 0
    /// The entries found so far; empty if there are too many.
    @safe @exclusivity(unchecked) private(set) var entries: [TreeTraversal.Found] = []
    @safe @exclusivity(unchecked) private(set) var areEntriesKept = true
    @safe @exclusivity(unchecked) private(set) var report = ArchiveReport()
    /// Whether everything was surveyed.
    @safe @exclusivity(unchecked) private(set) var isWhole = false
    @safe @exclusivity(unchecked) private var stepCount = 0

    init(_ traversal: TreeTraversal, limit: Int, keptLimit: Int) {
        self.traversal = traversal
        self.limit = limit
        self.keptLimit = keptLimit
    }

    /// Surveys the next entries.
    /// - Returns: whether there is more to do.
    func go() -> Bool {
        for _ in 0..<Self.stepLimit {
            if stepCount == limit { return false }
            stepCount += 1
            switch traversal.next() {
            case .found(let found):
                if found.info.isCollection { folders += 1 } else { files += 1 }
                bytes += found.info.length
                keep(found)
            case .obstacle(let path, let obstacle): report.add(path, obstacle)
            case .end:
                isWhole = true
                return false
            }
        }
        return true
    }

    private func keep(_ found: TreeTraversal.Found) {
        if entries.count == keptLimit {
            areEntriesKept = false
            entries = []
        }
        if areEntriesKept { entries.append(found) }
    }

    /// Opens files from an index on, to find unreadable ones; these are reported and removed from the
    /// entries.
    /// - Returns: the index to continue with; nil at the end.
    func open(from index: Int) -> Int? {
        var index = index
        let end = index + Self.stepLimit / 4
        while index < entries.count, index < end {
            let found = entries[index]
            if found.info.isCollection {
                index += 1
                continue
            }
            switch traversal.open(found) {
            case .success(let content):
                bytes += content.length - found.info.length
                entries[index].info = content.info
                index += 1
            case .failure(let obstacle):
                files -= 1
                bytes -= found.info.length
                report.add(found.path, obstacle)
                entries.remove(at: index)
            }
        }
        return index < entries.count ? index : nil
    }

    /// The value of `Davit-Archive`, a dictionary of RFC 9651.
    var summary: String {
        "files=\(files), folders=\(folders), bytes=\(bytes)" + (isWhole ? "" : ", partial")
    }
}
