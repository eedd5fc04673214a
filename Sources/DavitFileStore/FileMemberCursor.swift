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
    /// Nil for those who only read.
    private let sweeper: LeftoverSweeper?
    private let path: ResourcePath
    private let directory: FileDescriptor
    @safe @exclusivity(unchecked) private var block = DirectoryBlock(capacity: blockBytes)
    private var limitBytes = firstBytes
    private var leftovers: [ReservedName] = []
    private(set) var linksLeftOut: [[UInt8]] = []

    /// - Parameter sweeper: removes leftovers behind the last member; nil if they stay.
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
                // Content there, or content above it.
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

    /// A member that cannot be looked at is not listed; but a list that is short for want of descriptors or
    /// memory would be a lie.
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
