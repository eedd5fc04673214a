internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// New content: an unnamed file on the volume of its folder or, where there are none, one under a reserved
/// name.
///
/// `@unchecked`: one task at a time uses it, as ``StagedContent`` asks.
final class StagedFile: StagedContent, @unchecked Sendable {
    /// From this length on it pays to ask for space, and for the right to write, before the bytes come.
    private static let earlyCheckBytes: Int64 = 1 << 16

    private let share: SharedFolder
    var place: Place
    private let file: FileDescriptor
    /// Where the file is as long as it is hidden; nil for an unnamed file.
    private var hidden: HiddenName?
    private(set) var length: Int64 = 0
    private var isSealed = false
    private var isInMemory = false

    /// A member under a reserved name, which goes when this does.
    final class HiddenName {
        let folder: OpenFolder
        let name: ReservedName
        var isOwned = true

        init(_ name: ReservedName, in folder: OpenFolder) {
            self.name = name
            self.folder = folder
        }

        deinit {
            // What stays is swept later.
            if isOwned { try? folder.directory.unlink(name.bytes) }
        }
    }

    init(for place: Place, expectedLength: Int64?, in share: SharedFolder) throws(StoreError) {
        if ReservedName.occurs(in: place.path) { throw .forbidden }
        if place.path.isRoot { throw .wrongKind }
        self.share = share
        self.place = place
        let folder = try share.folder(of: place)
        do throws(SystemError) {
            // The kernel applies the umask, or the folder's default access control list.
            file = try folder.directory.openUnnamed(permissions: 0o666)
        } catch {
            guard error.isUnsupported || error.code == .isDirectory else {
                throw StoreError(error, absent: .missingAncestor)
            }
            let reservation = try Reservation.make(.file, in: folder.directory)
            hidden = HiddenName(reservation.name, in: folder)
            file = reservation.takeFile()
        }
        if expectedLength ?? .max >= Self.earlyCheckBytes { try checkEarly(expectedLength ?? 0, in: folder) }
    }

    /// Refuses now what would be refused after the last byte.
    private func checkEarly(_ expectedLength: Int64, in folder: OpenFolder) throws(StoreError) {
        isInMemory = file.isInMemory
        let space = try storing { () throws(SystemError) in try file.space() }
        if space.available < expectedLength { throw .outOfSpace }
        do {
            try folder.directory.checkWritable(Array(place.path.name))
        } catch {
            if error.code != .noEntry { throw StoreError(error) }
        }
    }

    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) {
        if wait == .never, !isInMemory { throw .wouldBlock }
        try storing { () throws(SystemError) in
            try unsafe buffer.withBytes { bytes throws(SystemError) in try unsafe file.writeAll(bytes) }
        }
        length += Int64(buffer.count)
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try storing { () throws(SystemError) in
            try unsafe buffer.fill { bytes throws(SystemError) in
                unsafe bytes.isEmpty ? 0 : try file.read(at: offset, into: bytes)
            }
        }
    }

    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        if old != nil {
            try takeOver()
        } else if hidden != nil {
            try storing { () throws(SystemError) in try file.setMode(0o666 & ~Umask.bits) }
        }
        while true {
            let info = try storing { () throws(SystemError) in try stamp(modified) }
            if let old, info.entityTag == old.entityTag { continue }
            try share.sync.content(file)
            isSealed = true
            return info
        }
    }

    private func stamp(_ modified: Timestamp?) throws(SystemError) -> ResourceInfo {
        let clock = StampClock.shared
        let time = modified.map { clock.next(within: $0) } ?? clock.next()
        try file.setModified(time)
        let status = try file.status()
        if status.modified != time { Stamp.write(to: file) }
        return ResourceInfo(status, of: file)
    }

    /// Mode, owner, group and extended attributes of what will be replaced. A rename asks nobody for the right
    /// to write to it, so this does.
    private func takeOver() throws(StoreError) {
        let folder = try share.folder(of: place)
        let name = Array(place.path.name)
        do {
            let current = try folder.directory.status(of: name)
            if current.kind == .regular { try takeOver(name, in: folder.directory, status: current) }
        } catch {
            // Gone meanwhile: it is new content then.
            if error.code != .noEntry { throw StoreError(error) }
        }
    }

    private func takeOver(
        _ name: [UInt8], in directory: borrowing FileDescriptor, status current: FileStatus
    ) throws(SystemError) {
        try directory.checkWritable(name)
        let own = try file.status()
        if own.owner != current.owner || own.group != current.group {
            // Who may not give files away keeps at least the group, if it is one of its own.
            if (try? file.setOwner(current.owner, group: current.group)) == nil {
                try? file.setOwner(nil, group: current.group)
            }
        }
        // Not set-user and set-group: they vouch for the old bytes, as write(2) knows.
        let mode = current.mode & 0o777
        if own.mode != mode { try file.setMode(mode) }
        if directory.mayHaveAttributes(name), let old = try? directory.open(name, for: .content) {
            try old.copyAttributes(to: file, except: Stamp.attribute)
        }
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        guard isSealed else { throw .failed(reason: "published before it was sealed") }
        let folder = try share.folder(of: place)
        let name = Array(place.path.name)
        if let hidden {
            if isReplacing {
                try storing(absent: .missingAncestor) { () throws(SystemError) in
                    try hidden.folder.directory.rename(hidden.name.bytes, to: folder.directory, as: name)
                }
            } else {
                try share.rename(
                    hidden.name.bytes, of: hidden.folder.directory, toFree: name, in: folder.directory)
            }
            hidden.isOwned = false
        } else {
            try storing(absent: .missingAncestor) { () throws(SystemError) in
                isReplacing
                    ? try file.linkUnnamed(over: name, in: folder.directory)
                    : try file.linkUnnamed(to: folder.directory, as: name)
            }
        }
        if isReplacing { share.kept.forget(place.path) }
        try share.sync.names(in: folder.directory)
    }
}
