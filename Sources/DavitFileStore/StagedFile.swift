internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// New content: an unnamed file on the volume of its folder, or a file under a reserved name for uploads, for
/// replacements, and on volumes without unnamed files.
final class StagedFile: StagedContent {
    /// The minimum length of content for which space and permissions are checked before the bytes arrive.
    /// They are also checked if the length is unknown.
    private static let earlyCheckBytes: Int64 = 1 << 16
    /// The attributes that describe one version of content, and that other content must not have.
    static let ownAttributes = [VersionStamp.attribute, DigestAttribute.name]

    struct State {
        var location: ResourceLocation
        var length: Int64 = 0
        fileprivate var isSealed = false
        fileprivate var isInMemory = false
        /// The metadata of the new file, if known.
        fileprivate let created: FileStatus?

        fileprivate init(location: ResourceLocation, created: FileStatus? = nil) {
            self.location = location
            self.created = created
        }
    }

    let share: SharedFolder
    let file: FileDescriptor
    /// The hidden name of the file until it is published; nil for an unnamed file.
    let hidden: HiddenName?
    let state: Exclusive<State>
    /// Whether the file persists between requests.
    let isKept: Bool

    /// A member under a reserved name, removed when this object is released unless ``disown()`` was called.
    final class HiddenName: Sendable {
        let folder: OpenFolder
        let name: ReservedName
        private let isOwned: Atomic<Bool>

        init(_ name: ReservedName, in folder: OpenFolder, isOwned: Bool = true) {
            self.name = name
            self.folder = folder
            self.isOwned = Atomic(isOwned)
        }

        func disown() { isOwned.store(false, ordering: .relaxed) }

        deinit {
            // If this fails, a sweep removes the file later.
            if isOwned.load(ordering: .relaxed) { try? folder.directory.unlink(name.bytes) }
        }
    }

    /// - Parameter replaces: whether the file is about to replace another one. An unnamed file cannot: it must
    ///   get a hidden name first, which costs more than creating the file under that name.
    init(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool, in share: SharedFolder
    ) throws(StoreError) {
        if ReservedName.occurs(in: location.path) { throw .forbidden }
        if location.path.isRoot { throw .wrongKind }
        self.share = share
        isKept = false
        let folder = try share.folder(of: location)
        if !replaces, let unnamed = try Self.openUnnamed(in: folder) {
            file = unnamed
            hidden = nil
            state = Exclusive(State(location: location))
        } else {
            let reservation = try Reservation.make(.file, in: folder.directory)
            hidden = HiddenName(reservation.name, in: folder)
            state = Exclusive(State(location: location, created: reservation.status))
            file = reservation.takeFile()
        }
        try checkAtStart(expectedLength, in: folder)
    }

    /// Returns nil if the volume has no unnamed files.
    private static func openUnnamed(in folder: OpenFolder) throws(StoreError) -> FileDescriptor? {
        do throws(SystemError) {
            // The kernel applies the umask or the folder's default access control list.
            return try folder.directory.openUnnamed(permissions: 0o666)
        } catch {
            guard error.isUnsupported || error.code == .isDirectory else {
                throw StoreError(error, absent: .missingAncestor)
            }
            return nil
        }
    }

    /// Creates content whose file persists when this object is released.
    init(keptFor location: ResourceLocation, expectedLength: Int64?, in share: SharedFolder)
        throws(StoreError)
    {
        if ReservedName.occurs(in: location.path) { throw .forbidden }
        if location.path.isRoot { throw .wrongKind }
        self.share = share
        state = Exclusive(State(location: location))
        isKept = true
        let folder = try share.folder(of: location)
        let reservation = try Reservation.make(.file, in: folder.directory)
        let hidden = HiddenName(reservation.name, in: folder)
        self.hidden = hidden
        file = reservation.takeFile()
        try checkAtStart(expectedLength, in: folder)
        // Clients must be able to resume the upload after a crash, so the name must be durable.
        try share.sync.names(in: folder.directory)
        hidden.disown()
    }

    /// Reopens content with its existing bytes.
    init(
        kept name: ReservedName, _ identity: ResourceIdentity, for location: ResourceLocation,
        in share: SharedFolder
    ) throws(StoreError) {
        self.share = share
        isKept = true
        let folder = try share.folder(of: location)
        file = try Self.openKept(name, in: folder)
        hidden = HiddenName(name, in: folder, isOwned: false)
        state = Exclusive(State(location: location))
        let status = try storing { () throws(SystemError) in try file.status() }
        guard ResourceInfo(status, stamp: 0).identity == identity else { throw .notFound }
        state.withValue { state in
            state.length = status.length
            state.isInMemory = file.isInMemory
        }
    }

    private static func openKept(
        _ name: ReservedName, in folder: OpenFolder
    ) throws(StoreError) -> FileDescriptor {
        do throws(SystemError) {
            // A FIFO or a device must never be opened.
            guard try folder.directory.status(of: name.bytes).kind == .regular else { throw .absent }
            let file = try folder.directory.open(name.bytes, for: .update)
            // Protects the file from sweeps as long as it is open.
            _ = file.tryLockIfPossible()
            return file
        } catch {
            throw StoreError(error, absent: .notFound)
        }
    }

    private func checkAtStart(_ expectedLength: Int64?, in folder: OpenFolder) throws(StoreError) {
        if expectedLength ?? .max >= Self.earlyCheckBytes {
            try checkEarly(expectedLength ?? 0, in: folder)
        } else {
            try checkRoom(for: expectedLength ?? 0)
        }
    }

    /// Detects errors now that would otherwise occur after the last byte.
    private func checkEarly(_ expectedLength: Int64, in folder: OpenFolder) throws(StoreError) {
        state.withValue { $0.isInMemory = file.isInMemory }
        try storing { () throws(SystemError) in
            try file.checkRoom(for: expectedLength, keepingFree: share.keepsFree ?? 0)
        }
        do {
            try folder.directory.checkWritable(Array(location.path.name))
        } catch {
            if error.code != .noEntry { throw StoreError(error) }
        }
    }

    /// Checks the available space if a reserve is configured; otherwise the write itself reports a full
    /// volume.
    func checkRoom(for length: Int64) throws(StoreError) {
        try storing { () throws(SystemError) in
            try file.checkRoom(for: length, keepingFree: share.keepsFree)
        }
    }

    var length: Int64 { state.withValue { $0.length } }

    var location: ResourceLocation {
        get { state.withValue { $0.location } }
        set { state.withValue { $0.location = newValue } }
    }

    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            if wait == .never, !state.isInMemory { throw .wouldBlock }
            // The announced length may have been too small, and other programs use space, too.
            try checkRoom(for: Int64(buffer.count))
            let length = state.length
            do throws(SystemError) {
                try unsafe buffer.withBytes { bytes throws(SystemError) in
                    try unsafe file.writeAll(bytes, at: length)
                }
            } catch {
                // Discard a partially written buffer, because a later write at this position may be shorter.
                try? file.setLength(length)
                throw StoreError(error)
            }
            state.length += Int64(buffer.count)
        }
    }

    func truncate(to length: Int64) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            try storing { () throws(SystemError) in try file.setLength(length) }
            state.length = length
        }
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try storing { () throws(SystemError) in
            let count = try unsafe buffer.fill { bytes throws(SystemError) in
                unsafe bytes.isEmpty ? 0 : try file.read(at: offset, into: bytes)
            }
            try LongWork.checkpoint(bytes: count)
            return count
        }
    }

    var needsSync: Bool { !share.sync.isOff }

    func sync() throws(StoreError) { try share.sync.content(file) }

    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        try state.withValue { state throws(StoreError) in
            let isLikeOld = old != nil ? try takeOver(state) : false
            if !isLikeOld, hidden != nil {
                try storing { () throws(SystemError) in try file.setMode(0o666 & ~Umask.bits) }
            }
            let info = try storing { () throws(SystemError) in
                try VersionStamp.renew(file, within: modified, unlike: old)
            }
            try share.sync.content(file)
            state.isSealed = true
            return info
        }
    }

    func record(_ digests: [ContentDigest], of info: ResourceInfo) -> Bool {
        DigestAttribute.write(digests, of: info, to: file)
    }

    /// Copies the mode, owner, group and extended attributes of the content to be replaced. Also checks that
    /// the content to be replaced is writable, because a rename does not require write permission.
    /// - Returns: false if the content to be replaced was removed in the meantime.
    private func takeOver(_ state: State) throws(StoreError) -> Bool {
        let folder = try share.folder(of: state.location)
        let name = Array(state.location.path.name)
        do {
            let current = try folder.directory.status(of: name)
            guard current.kind == .regular else { return false }
            try takeOver(name, in: folder.directory, status: current, created: state.created)
            return true
        } catch {
            if error.code != .noEntry { throw StoreError(error) }
            return false
        }
    }

    private func takeOver(
        _ name: [UInt8], in directory: borrowing FileDescriptor, status current: FileStatus,
        created: FileStatus?
    ) throws(SystemError) {
        // The owner and the mode are not enough: the access control lists of Apple systems, security modules, and
        // FUSE and network volumes can refuse it, too.
        try directory.checkWritable(name)
        let own = if let created { created } else { try file.status() }
        if own.owner != current.owner || own.group != current.group {
            // A process that may not change the owner can still set a group that it belongs to.
            if (try? file.setOwner(current.owner, group: current.group)) == nil {
                try? file.setOwner(nil, group: current.group)
            }
        }
        // Set the mode last: until the file has its group and its access control list, a file with a hidden name
        // must be accessible only to its owner.
        if directory.mayHaveAttributes(name), let old = try? directory.open(name, for: .content) {
            try old.copyAttributes(to: file, except: Self.ownAttributes)
        }
        // Do not copy the set-user-ID and set-group-ID bits, which were granted to the old bytes; write(2)
        // clears them as well.
        let mode = current.mode & 0o777
        if own.mode != mode { try file.setMode(mode) }
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        try state.withValue { state throws(StoreError) in try publish(state, isReplacing: isReplacing) }
    }

    private func publish(_ state: State, isReplacing: Bool) throws(StoreError) {
        guard state.isSealed else { throw .failed(reason: "content published before it was sealed") }
        let location = state.location
        let folder = try share.folder(of: location)
        let name = Array(location.path.name)
        if let hidden {
            if isReplacing {
                try storing(absent: .missingAncestor) { () throws(SystemError) in
                    try hidden.folder.directory.rename(hidden.name.bytes, to: folder.directory, as: name)
                }
            } else {
                try share.rename(
                    hidden.name.bytes, of: hidden.folder.directory, toFree: name, in: folder.directory)
            }
            hidden.disown()
        } else {
            try storing(absent: .missingAncestor) { () throws(SystemError) in
                isReplacing
                    ? try file.linkUnnamed(over: name, in: folder.directory)
                    : try file.linkUnnamed(to: folder.directory, as: name)
            }
        }
        if isReplacing { share.kept.forget(location.path) }
        try share.sync.names(in: folder.directory)
    }

    /// Publishes the file: it first gets a name in the trash and is then exchanged with the old file, so that
    /// both names always refer to one of the two. If the volume cannot exchange names, the old file gets a
    /// second hard link, in the trash, before the new file replaces it.
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        try state.withValue { state throws(StoreError) in try publish(state, keepingReplacedAt: trash) }
    }

    private func publish(_ state: State, keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        guard state.isSealed else { throw .failed(reason: "content published before it was sealed") }
        let location = state.location
        let folder = try share.folder(of: location)
        let kept = try share.folder(of: trash.location)
        let (name, newName) = (Array(location.path.name), Array(trash.location.path.name))
        guard trash.canExchange else {
            do throws(SystemError) {
                try folder.directory.link(name, to: kept.directory, as: newName)
            } catch {
                guard error.isPermissionDenied || error.isUnsupported || error.code == .crossVolume else {
                    throw StoreError(error, absent: .missingAncestor)
                }
                try publish(state, isReplacing: true)
                return false
            }
            do throws(StoreError) {
                try share.sync.names(in: kept.directory)
                try publish(state, isReplacing: true)
            } catch {
                try? kept.directory.unlink(newName)
                throw error
            }
            return true
        }
        do throws(StoreError) {
            if let hidden {
                try share.rename(
                    hidden.name.bytes, of: hidden.folder.directory, toFree: newName, in: kept.directory)
                hidden.disown()
            } else {
                try storing(absent: .missingAncestor) { () throws(SystemError) in
                    try file.linkUnnamed(to: kept.directory, as: newName)
                }
            }
        } catch {
            // A part of the volume has a separate quota, or the trash belongs to another user.
            guard error == .crossVolume || error == .forbidden else { throw error }
            try publish(state, isReplacing: true)
            return false
        }
        do throws(StoreError) {
            try storing(absent: .missingAncestor) { () throws(SystemError) in
                try kept.directory.exchange(newName, with: folder.directory, name)
            }
        } catch {
            try? kept.directory.unlink(newName)
            throw error
        }
        share.kept.forget(location.path)
        try share.sync.names(to: folder.directory, from: kept.directory)
        return true
    }
}
