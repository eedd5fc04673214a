internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Resolves a path with symbolic links, component by component, beneath the root.
///
/// The kernel could follow links beneath the root (RESOLVE_BENEATH), but it does not return the canonical
/// path and refuses absolute link targets. A link is followed if each step of its target stays beneath the
/// root, or leaves the root upwards and returns along the root's real path. If another process moves
/// directories in the meantime, the result is an error or another location beneath the root, never one
/// outside, because every step is relative to a descriptor.
struct LinkResolver: ~Copyable {
    /// The same limit as in Linux.
    private static let linkLimit = 40

    private let share: SharedFolder
    private let asked: ResourcePath
    private let last: SymlinkMode
    private var base: FileDescriptor
    private var canonical: [[UInt8]] = []
    /// While the walk is above the root: the number of segments of the root's real path that lead to the
    /// current directory.
    private var above: Int?
    /// Remaining components of link targets; the next component is the last element.
    private var linkRest: [[UInt8]] = []
    /// Remaining components of the requested path.
    private var rest: ArraySlice<[UInt8]>
    private var linkCount = 0
    /// The link in the last segment, if the link itself was requested.
    private var link: (path: ResourcePath, status: FileStatus)?

    init(_ path: ResourcePath, last: SymlinkMode, in share: SharedFolder) throws(SystemError) {
        self.share = share
        asked = path
        self.last = last
        rest = path.segments.map { Array($0) }[...]
        base = try share.directory.open([], for: .base, mayWait: true)
    }

    mutating func run() throws(SystemError) -> Resolution {
        while true {
            let isFromLink = !linkRest.isEmpty
            guard let name = linkRest.popLast() ?? rest.popFirst() else { break }
            let isLast = linkRest.isEmpty && rest.isEmpty
            if let depth = above {
                guard try climb(name, from: depth) else { return nowhere }
            } else if name == Self.parentName {
                try goUp()
            } else if isFromLink, ReservedName(name) != nil {
                return nowhere
            } else {
                let resolution = try step(name, isLast: isLast, isFromLink: isFromLink)
                if let resolution { return resolution }
            }
        }
        if above != nil { return nowhere }
        return found(try base.status())
    }

    /// Processes one component beneath the root; returns the result if the walk ends with it.
    private mutating func step(
        _ name: [UInt8], isLast: Bool, isFromLink: Bool
    ) throws(SystemError) -> Resolution? {
        guard let (name, status) = try share.member(name, of: base) else {
            guard isLast, !isFromLink, let path = path(appending: name) else { return nowhere }
            return .unmapped(path)
        }
        switch status.kind {
        case .symbolicLink:
            if isLast, !isFromLink, last == .notFollowed, let path = path(appending: name) {
                link = (path, status)
            }
            try follow(base.readLink(name))
            return nil
        case .directory:
            canonical.append(name)
            if isLast { return found(status) }
            base = try base.open(name, for: .base)
            return nil
        case .regular where isLast:
            canonical.append(name)
            return found(status)
        case .regular, .special: return nowhere
        }
    }

    private mutating func follow(_ text: [UInt8]) throws(SystemError) {
        linkCount += 1
        if linkCount > Self.linkLimit { throw .tooManyLinks }
        let components = text.split(separator: UInt8(ascii: "/")).filter { $0 != [UInt8(ascii: ".")] }
        linkRest.append(contentsOf: components.reversed().map { Array($0) })
        if text.first == UInt8(ascii: "/") { try enter(depth: 0) }
    }

    private mutating func goUp() throws(SystemError) {
        if canonical.popLast() == nil { return try enter(depth: max(share.rootSegments.count - 1, 0)) }
        let path = Array(canonical.joined(separator: [UInt8(ascii: "/")]))
        base = try share.directory.open(path, for: .base, mayWait: true)
    }

    /// Processes one component above the root; returns false if it leaves the root's real path.
    private mutating func climb(_ name: [UInt8], from depth: Int) throws(SystemError) -> Bool {
        if name == Self.parentName {
            above = max(depth - 1, 0)
            return true
        }
        guard name == share.rootSegments[depth] else { return false }
        try enter(depth: depth + 1)
        return true
    }

    /// Moves to the directory that the first `depth` segments of the root's real path lead to: the root
    /// itself, if these are all segments.
    private mutating func enter(depth: Int) throws(SystemError) {
        above = depth
        guard depth == share.rootSegments.count else { return }
        above = nil
        canonical = []
        base = try share.directory.open([], for: .base, mayWait: true)
    }

    private static let parentName = Array("..".utf8)

    private func path(appending name: [UInt8]) -> ResourcePath? {
        ResourcePath(segments: canonical)?.appending(name)
    }

    private func found(_ status: FileStatus) -> Resolution {
        if let link { return .found(link.path, link.status) }
        return .found(ResourcePath(segments: canonical) ?? asked, status)
    }

    /// The result for a missing ancestor, a dangling link, a link to a reserved name or out of the share, a
    /// special file, or a file in place of a directory.
    private var nowhere: Resolution {
        rest.isEmpty ? .unservable(link?.path ?? asked) : .missingAncestor(asked)
    }
}
