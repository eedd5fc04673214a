internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Copies a folder with all its members into an empty one, as far as possible.
///
/// A symbolic link is copied as its target, if that is beneath the root; a folder that is already on the
/// current path is not entered again. Anything that is never served is omitted, or reported if the source is to be
/// removed. The number of descriptors does not grow with the depth, only with the nesting of links to folders.
final class TreeCopy {
    /// The maximum nesting of folders reached through links.
    private static let nestingLimit = 16

    /// The folder that contains the source.
    private let share: SharedFolder
    /// The number of bytes to keep free on the volume of the copy.
    private let keepsFree: Int64?
    private let source: ResourcePath
    /// Selects the members to copy; nil copies all.
    private let filter: (any CopyFilter)?
    /// See ``CopyFilter/replacesSource``.
    private let replacesSource: Bool
    private(set) var failures: [(path: ResourcePath, error: StoreError)] = []
    /// The source, followed by one entry for each folder reached through a link on the current path.
    private var sourceTrees: [SourceTree] = []
    private var target: DirectoryPosition
    private var frames: [Frame] = []
    /// The maximum number of levels below the top of the copy.
    private let heightLimit: Int
    private var isTooDeep = false
    /// Whether the volume of the copy may support shared blocks.
    private var canShare = true

    /// The traversal of the source, or of a folder that a link leads to.
    private final class SourceTree {
        /// The canonical path of the top.
        let start: ResourcePath
        var position: DirectoryPosition
        var names: [[UInt8]] = []

        init(_ start: ResourcePath, at directory: consuming FileDescriptor) throws(SystemError) {
            self.start = start
            position = try DirectoryPosition(at: directory)
        }

        /// Returns the canonical path of a member of the current folder.
        func path(of name: [UInt8]) -> ResourcePath? {
            var path: ResourcePath? = start
            for name in names { path = path?.appending(name) }
            return path?.appending(name)
        }
    }

    private struct Frame {
        /// The name of the source member being copied; the names of all frames form its path.
        var name: [UInt8]
        var pending: [Pending] = []
        var startsPlace: Bool
    }

    private struct Pending {
        var name: [UInt8]
        /// The target, if the member is a link.
        var target: ResourcePath?
    }

    /// - Parameters:
    ///   - source: the canonical path of a collection.
    ///   - target: an empty directory, open for its entries.
    ///   - filter: selects the members to copy; nil copies all.
    ///   - heightLimit: the maximum number of levels below the top of the copy.
    ///   - share: the folder that contains the source.
    ///   - keepsFree: the number of bytes to keep free on the volume of the copy.
    init(
        of source: ResourcePath, to target: consuming FileDescriptor, filter: (any CopyFilter)?,
        heightLimit: Int, in share: SharedFolder, keepingFree keepsFree: Int64?
    ) throws(StoreError) {
        self.share = share
        self.keepsFree = keepsFree
        self.filter = filter
        replacesSource = filter?.replacesSource == true
        self.heightLimit = heightLimit
        self.source = source
        do {
            self.target = try DirectoryPosition(at: target)
            sourceTrees = [
                try SourceTree(source, at: share.directory.open(source.bytes, for: .entries, mayWait: true))
            ]
        } catch {
            throw StoreError(error)
        }
    }

    /// - Throws: `outOfSpace`, `quotaExceeded` and `tooDeep`, which abort the copy; `busy` if it is canceled;
    ///   and errors that prevent the traversal itself.
    func run(includesMembers: Bool) throws(StoreError) {
        frames = [Frame(name: [], startsPlace: true)]
        if includesMembers { try copyMembers() }
        while true {
            if let member = frames[frames.count - 1].pending.popLast() {
                try enter(member)
                continue
            }
            try finishDirectory()
            let frame = frames.removeLast()
            if frames.isEmpty { return }
            try storing { () throws(SystemError) in
                try target.leave()
                if frame.startsPlace {
                    sourceTrees.removeLast()
                } else {
                    try sourceTrees[sourceTrees.count - 1].position.leave()
                    sourceTrees[sourceTrees.count - 1].names.removeLast()
                }
            }
        }
    }

    private var sourceTree: SourceTree { sourceTrees[sourceTrees.count - 1] }

    // MARK: Folders

    private func enter(_ member: Pending) throws(StoreError) {
        do {
            if let link = member.target {
                guard sourceTrees.count <= Self.nestingLimit else { return record(member.name, .loop) }
                let directory = try share.directory.open(link.bytes, for: .entries, mayWait: true)
                // If the folder is already on the current path, the copy would never end.
                let identity = try directory.status().identity
                if sourceTrees.contains(where: { $0.position.path.contains(identity) }) {
                    return leaveOut(member.name)
                }
                sourceTrees.append(try SourceTree(link, at: directory))
            } else {
                try sourceTree.position.enter(member.name)
                sourceTree.names.append(member.name)
            }
        } catch {
            return record(member.name, StoreError(error))
        }
        do {
            try target.directory.makeDirectory(member.name, mode: 0o700)
            try target.enter(member.name)
        } catch {
            if error.endsCopy { throw StoreError(error) }
            record(member.name, StoreError(error))
            return try storing { () throws(SystemError) in
                if member.target != nil {
                    sourceTrees.removeLast()
                } else {
                    try sourceTree.position.leave()
                    sourceTree.names.removeLast()
                }
            }
        }
        frames.append(Frame(name: member.name, startsPlace: member.target != nil))
        try copyMembers()
    }

    /// Copies the mode and attributes of the current folder to its copy, after all members have been copied.
    private func finishDirectory() throws(StoreError) {
        do {
            let status = try sourceTree.position.directory.status()
            let own = try target.directory.status()
            try sourceTree.position.directory.copyAttributes(to: target.directory)
            // The set-group-ID bit of a folder is inherited from its parent, as for any new folder.
            try target.directory.setMode(status.mode & 0o777 | own.mode & 0o2000)
            if replacesSource { try target.directory.setModified(status.modified) }
        } catch {
            if error.endsCopy { throw StoreError(error) }
            record(nil, StoreError(error))
        }
    }

    // MARK: Members

    private func copyMembers() throws(StoreError) {
        var block = DirectoryBlock(capacity: 1 << 15)
        let sourceTree = sourceTree
        do throws(SystemError) {
            while !isTooDeep, try block.read(from: sourceTree.position.directory) {
                var names: [(name: [UInt8], kind: DirectoryEntry.Kind)] = []
                block.scan { entry in names.append((entry.bytes, entry.kind)) }
                for (name, kind) in names where ReservedName(name) == nil {
                    try copyMember(name, kind: kind)
                }
            }
        } catch {
            if error.endsCopy { throw StoreError(error) }
            record(nil, StoreError(error))
        }
        if isTooDeep { throw .tooDeep }
    }

    /// - Throws: only errors that abort the copy.
    private func copyMember(_ name: [UInt8], kind: DirectoryEntry.Kind) throws(SystemError) {
        try LongWork.checkpoint()
        if filter?.omits(name, at: sourceTree.path(of: name)) == true { return }
        guard frames.count <= heightLimit else {
            isTooDeep = true
            return
        }
        do throws(SystemError) {
            let directory = frames.count - 1
            switch kind {
            case .special: leaveOut(name)
            case .directory: frames[directory].pending.append(Pending(name: name))
            case .regular: try copyMemberFile(name)
            case .symbolicLink: try copyLinked(name)
            case .unknown:
                switch try sourceTree.position.directory.status(of: name).kind {
                case .special: leaveOut(name)
                case .directory: frames[directory].pending.append(Pending(name: name))
                case .regular:
                    try copyMemberFile(name)
                case .symbolicLink: try copyLinked(name)
                }
            }
        } catch {
            if error.endsCopy { throw error }
            // Ignore a member that was removed in the meantime.
            if error.code != .noEntry { record(name, StoreError(error)) }
        }
    }

    private func copyMemberFile(_ name: [UInt8]) throws(SystemError) {
        try copyFile(name, at: sourceTree.path(of: name)) { () throws(SystemError) in
            try sourceTree.position.directory.open(name, for: .content)
        }
    }

    private func copyLinked(_ name: [UInt8]) throws(SystemError) {
        guard let link = sourceTree.path(of: name),
            case .found(let target, let status)? = try? share.resolve(link, last: .followed, wait: .allowed)
        else { return leaveOut(name) }
        if filter?.omits(target: target) == true { return leaveOut(name) }
        if status.kind == .directory {
            frames[frames.count - 1].pending.append(Pending(name: name, target: target))
        } else if filter?.omits(content: Array(target.name)) != true {
            try copyFile(name, at: target) { () throws(SystemError) in
                try share.directory.open(target.bytes, for: .content, mayWait: true)
            }
        }
    }

    /// - Parameters:
    ///   - path: the canonical path of the content.
    ///   - open: opens the content.
    private func copyFile(
        _ name: [UInt8], at path: @autoclosure () -> ResourcePath?,
        _ open: () throws(SystemError) -> FileDescriptor
    ) throws(SystemError) {
        if let filter {
            if filter.omits(content: name) { return }
            switch filter.admission(at: path()) {
            case .copy: break
            case .omit: return
            case .fail: return record(name, .forbidden)
            }
        }
        let file = try open()
        let status = try file.status()
        guard status.kind == .regular else { return leaveOut(name) }
        let copy = try target.directory.open(name, for: .newContent, permissions: 0o600)
        do {
            try copy.checkRoom(for: status.length, keepingFree: keepsFree)
            try Self.copyContent(
                of: file, status: status, to: copy, keepsTime: replacesSource, canShare: &canShare)
        } catch {
            try? target.directory.unlink(name)
            throw error
        }
    }

    /// Copies bytes, mode and attributes.
    /// - Parameter keepsTime: whether the copy has the modification time of the file, in whole seconds; otherwise it is new,
    ///   as for every resource that COPY creates (RFC 4918 §15.7).
    static func copyContent(
        of file: borrowing FileDescriptor, status: FileStatus, to copy: borrowing FileDescriptor,
        keepsTime: Bool, canShare: inout Bool
    ) throws(SystemError) {
        try file.copyContent(to: copy, status: status, canShare: &canShare)
        try copy.setMode(status.mode & 0o777)
        try file.copyAttributes(to: copy, except: StagedFile.ownAttributes)
        if keepsTime {
            let time = Timestamp(nanoseconds: status.modified)
            _ = try VersionStamp.renew(copy, within: Timestamp(seconds: time.seconds), unlike: nil)
        } else {
            try copy.setModified(UniqueTimeClock.shared.next())
        }
    }

    /// Reports a member that cannot be copied, if it would be lost.
    private func leaveOut(_ name: [UInt8]) {
        if replacesSource { record(name, .forbidden) }
    }

    /// - Parameter name: a member of the current folder; nil for the folder itself.
    private func record(_ name: [UInt8]?, _ error: StoreError) {
        var path = source
        for name in frames.dropFirst().map(\.name) + (name.map { [$0] } ?? []) {
            path = path.appending(name) ?? path
        }
        failures.append((path, error))
    }
}

extension SystemError {
    /// Whether the error aborts the copy: out of space, or canceled.
    fileprivate var endsCopy: Bool { isDiskFull || code == .cancelled }
}
