internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Reads a directory block by block, with one `stat` call per member, and more for a link.
final class FileMemberCursor: MemberCursor {
    /// The first block is small, so that the first bytes of a listing are sent early.
    private static let firstBytes = 4096
    private static let blockBytes = 1 << 15
    /// The maximum number of leftovers that one listing removes.
    private static let leftoverBudget = 256

    private let share: SharedFolder
    /// Removes leftovers; nil to leave them in place.
    private let sweeper: LeftoverSweeper?
    private let path: ResourcePath
    private let directory: FileDescriptor
    @safe @exclusivity(unchecked) private var block = DirectoryBlock(capacity: blockBytes)
    private var limitBytes = firstBytes
    private var leftovers: [ReservedName] = []
    private(set) var linksLeftOut: [[UInt8]] = []

    /// - Parameter sweeper: removes the leftovers after the last member has been read; nil to leave them in
    ///   place.
    init(
        _ path: ResourcePath, in share: SharedFolder, sweeper: LeftoverSweeper? = nil
    ) throws(StoreError) {
        self.share = share
        self.sweeper = sweeper
        self.path = path
        do {
            directory = try share.directory.open(path.bytes, for: .entries, mayWait: true)
        } catch {
            if error.code == .notDirectory {
                // Either the path is content, or one of its ancestors is.
                let isContent =
                    (try? share.directory.status(at: path.bytes, acceptsLink: true, mayWait: true))
                throw isContent == nil ? .missingAncestor : .wrongKind
            }
            throw StoreError(error)
        }
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        while true {
            while block.advance() {
                if try take(block.entry, as: &member) { return true }
            }
            let hasMore = try storing { () throws(SystemError) in
                try block.read(from: directory, limitBytes: limitBytes)
            }
            limitBytes = Self.blockBytes
            guard hasMore else {
                sweep()
                return false
            }
        }
    }

    /// - Returns: false if the entry is not listed.
    private func take(
        _ entry: borrowing DirectoryEntry, as member: inout Member
    ) throws(StoreError) -> Bool {
        if entry.kind == .special { return false }
        if entry.startsWithDot, let name = ReservedName(entry.bytes) {
            if sweeper != nil { leftovers.append(name) }
            return false
        }
        do throws(SystemError) {
            let status = try directory.status(of: entry)
            switch status.kind {
            case .regular, .directory:
                entry.copy(to: &member.name)
                member.info = ResourceInfo(status, of: member.name, in: directory)
                member.canonicalPath = nil
                return true
            case .special: return false
            case .symbolicLink: break
            }
        } catch {
            return try leftOut(StoreError(error))
        }
        guard let linked = try linked(entry.bytes) else {
            linksLeftOut.append(entry.bytes)
            return false
        }
        member = linked
        return true
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
            _ = try leftOut(error)
            return nil
        }
    }

    /// Handles a member that cannot be examined: omits it from the listing. If descriptors or memory have run
    /// out, throws the error instead, because the listing would be incomplete.
    private func leftOut(_ error: StoreError) throws(StoreError) -> Bool {
        if error == .busy { throw error }
        return false
    }

    private func sweep() {
        guard let sweeper else { return }
        var budget = Self.leftoverBudget
        for name in leftovers { sweeper.remove(name, in: directory, budget: &budget) }
        leftovers = []
    }
}
