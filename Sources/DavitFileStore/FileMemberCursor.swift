internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Reads a directory block by block, with one status call for each member.
final class FileMemberCursor: MemberCursor {
    /// The first block is small, so that the first bytes of a listing leave early.
    private static let firstBytes = 4096
    private static let blockBytes = 1 << 15
    /// Files that one listing removes at most, of what crashed changes have left behind.
    private static let leftoverBudget = 256

    private let share: SharedFolder
    private let path: ResourcePath
    private let directory: FileDescriptor
    private var block = DirectoryBlock(capacity: blockBytes)
    private var limitBytes = firstBytes
    private var leftovers: [ReservedName] = []

    init(_ path: ResourcePath, in share: SharedFolder) throws(StoreError) {
        self.share = share
        self.path = path
        do {
            directory = try share.directory.open(path.bytes, for: .entries, mayWait: true)
        } catch {
            if error.code == .notDirectory {
                // Content there, or content above it.
                let isContent =
                    (try? share.directory.status(at: path.bytes, acceptsLink: true, mayWait: true))
                throw isContent == nil ? .missingAncestor : .wrongKind
            }
            throw StoreError(error)
        }
    }

    func next() throws(StoreError) -> [Member] {
        var members: [Member] = []
        while members.isEmpty {
            let hasMore = try storing { () throws(SystemError) in
                try block.read(from: directory, limitBytes: limitBytes)
            }
            limitBytes = Self.blockBytes
            guard hasMore else {
                sweep()
                return []
            }
            try block.scan { entry throws(StoreError) in
                if let member = try member(entry) { members.append(member) }
            }
        }
        return members
    }

    private func member(_ entry: borrowing DirectoryEntry) throws(StoreError) -> Member? {
        if entry.kind == .special { return nil }
        if entry.startsWithDot, let name = ReservedName(entry.bytes) {
            leftovers.append(name)
            return nil
        }
        do throws(SystemError) {
            let status = try directory.status(of: entry)
            switch status.kind {
            case .regular, .directory:
                let name = entry.bytes
                return Member(name: name, info: ResourceInfo(status, of: name, in: directory))
            case .special: return nil
            case .symbolicLink: break
            }
        } catch {
            return try leftOut(StoreError(error))
        }
        return try linked(entry.bytes)
    }

    private func linked(_ name: [UInt8]) throws(StoreError) -> Member? {
        guard let link = path.appending(name) else { return nil }
        do throws(StoreError) {
            guard
                case .found(let target, let status) = try share.resolve(link, last: .followed, wait: .allowed)
            else { return nil }
            let info = try share.info(status, at: target, wait: .allowed)
            return Member(name: name, info: info, canonicalPath: target)
        } catch {
            return try leftOut(error)
        }
    }

    /// A member that cannot be looked at is not listed; but a list that is short for want of descriptors or
    /// memory would be a lie.
    private func leftOut(_ error: StoreError) throws(StoreError) -> Member? {
        if error == .busy { throw error }
        return nil
    }

    private func sweep() {
        var budget = Self.leftoverBudget
        for name in leftovers { share.removeLeftover(name, in: directory, budget: &budget) }
        leftovers = []
    }
}
