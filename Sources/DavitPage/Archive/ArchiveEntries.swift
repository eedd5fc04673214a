internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// The entries that a survey has found, with little memory for each: they are kept until a slow client has received the
/// beginning of the archive.
struct ArchiveEntries: Sendable {
    private struct Record {
        let pathStart: Int
        let pathLength: UInt32
        var isCollection: Bool
        var isExecutable: Bool
        var length: Int64
        var modified: Timestamp

        var path: Range<Int> { pathStart..<(pathStart + Int(pathLength)) }
    }

    /// The canonical path of the archived collection.
    private let root: ResourcePath
    private var paths: [UInt8] = []
    private var records: [Record] = []
    /// The canonical paths of those entries to which links lead, by the start of their path.
    private var targets: [Int: ResourcePath] = [:]
    /// The total size of the paths in bytes.
    private(set) var pathBytes = 0

    init(root: ResourcePath) { self.root = root }

    var count: Int { records.count }

    mutating func append(_ found: DownloadTraversal.Found) {
        if found.target.bytes != target(of: found.path).bytes {
            targets[paths.count] = found.target
            pathBytes += found.target.bytes.count
        }
        let info = found.info
        records.append(
            Record(
                pathStart: paths.count, pathLength: UInt32(found.path.count), isCollection: info.isCollection,
                isExecutable: info.isExecutable, length: info.length, modified: info.modified))
        paths.append(contentsOf: found.path)
        pathBytes += found.path.count
    }

    /// Returns the path of an entry and its metadata, without its identity.
    func resource(_ index: Int) -> (path: [UInt8], info: ResourceInfo) {
        let record = records[index]
        let info = ResourceInfo(
            kind: record.isCollection ? .collection : .content, length: record.length,
            modified: record.modified,
            created: nil, identity: ResourceIdentity(inode: 0, birth: 0), volume: 0,
            isExecutable: record.isExecutable)
        return (Array(paths[record.path]), info)
    }

    /// Returns an entry; its metadata do not contain its identity.
    func found(_ index: Int) -> DownloadTraversal.Found {
        let (path, info) = resource(index)
        return DownloadTraversal.Found(
            path: path, info: info, target: targets[records[index].pathStart] ?? target(of: path))
    }

    /// Replaces the metadata of content.
    mutating func update(_ index: Int, _ info: ResourceInfo) {
        records[index].length = info.length
        records[index].modified = info.modified
        records[index].isExecutable = info.isExecutable
    }

    mutating func remove(at index: Int) { records.remove(at: index) }

    mutating func removeAll() { self = ArchiveEntries(root: root) }

    /// Returns the canonical path of a resource to which no link leads.
    private func target(of path: [UInt8]) -> ResourcePath {
        if path.isEmpty { return root }
        return ResourcePath(unchecked: root.isRoot ? path : root.bytes + [UInt8(ascii: "/")] + path)
    }
}
