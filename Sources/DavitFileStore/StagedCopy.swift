internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// A copy, or a new empty collection, under a reserved name in the destination's folder.
final class StagedCopy: StagedTree {
    private struct State {
        var destination: ResourcePath
        /// Whether this object must remove the resource under the reserved name: the copy, or the resource
        /// that the copy replaced.
        var isOwned = true
        /// The trash location of the replaced resource; nil if it was not moved to the trash.
        var kept: ResourcePath?
    }

    private let share: SharedFolder
    private let source: ResourcePath
    private let state: Exclusive<State>
    private let directory: FileDescriptor
    /// Holds the lock that protects the copy from sweeps.
    private let reservation: Reservation
    let path: ResourcePath
    let info: ResourceInfo
    let failures: [(path: ResourcePath, error: StoreError)]

    /// - Parameters:
    ///   - origin: the folder that contains the source.
    ///   - filter: receives paths in `origin`.
    ///   - share: the folder that contains the destination.
    init(
        of source: ResourcePath, in origin: SharedFolder, for destination: ResourcePath,
        includesMembers: Bool, filter: (any CopyFilter)?, heightLimit: Int, in share: SharedFolder
    ) throws(StoreError) {
        guard
            case .found(let source, let status) = try origin.resolve(source, last: .followed, wait: .allowed)
        else { throw .notFound }
        if ReservedName.occurs(in: destination) { throw .forbidden }
        let directory = try share.openParent(of: destination)
        let reservation = try Reservation.make(
            status.kind == .directory ? .directory : .file, in: directory)
        guard let path = destination.parent?.appending(reservation.name.bytes) else { throw .invalidName }
        do throws(StoreError) {
            if status.kind == .directory {
                let copy = try TreeCopy(
                    of: source, to: reservation.openAgain(), filter: filter, heightLimit: heightLimit,
                    in: origin, keepingFree: share.keepsFree)
                try copy.run(includesMembers: includesMembers)
                failures = copy.failures
                try share.sync.tree(reservation.file)
            } else {
                try Self.copyFile(
                    source, in: origin, to: reservation.file, keepsTime: filter?.replacesSource == true,
                    keepingFree: share.keepsFree)
                failures = []
                try share.sync.content(reservation.file)
            }
            info = try storing { () throws(SystemError) in
                ResourceInfo(try reservation.file.status(), of: reservation.file)
            }
        } catch {
            Self.remove(reservation.name, in: directory)
            throw error
        }
        self.share = share
        self.source = source
        state = Exclusive(State(destination: destination))
        self.directory = directory
        self.reservation = reservation
        self.path = path
    }

    /// Creates an empty collection with the permissions of an ordinary new one.
    init(newCollectionAt destination: ResourcePath, in share: SharedFolder) throws(StoreError) {
        if ReservedName.occurs(in: destination) { throw .forbidden }
        if destination.isRoot { throw .alreadyExists }
        let directory = try share.openParent(of: destination)
        let reservation = try Reservation.make(.directory, in: directory, permissions: 0o777)
        guard let path = destination.parent?.appending(reservation.name.bytes) else { throw .invalidName }
        do throws(StoreError) {
            try share.sync.content(reservation.file)
            info = try storing { () throws(SystemError) in
                ResourceInfo(try reservation.file.status(), of: reservation.file)
            }
        } catch {
            Self.remove(reservation.name, in: directory)
            throw error
        }
        self.share = share
        source = destination
        state = Exclusive(State(destination: destination))
        self.directory = directory
        self.reservation = reservation
        self.path = path
        failures = []
    }

    deinit { destroy() }

    var destination: ResourcePath {
        get { state.withValue { $0.destination } }
        set { state.withValue { $0.destination = newValue } }
    }

    func destroy() {
        state.withValue { state in
            guard state.isOwned else { return }
            state.isOwned = false
            Self.remove(reservation.name, in: directory)
        }
    }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        guard let copy = path.rebased(from: source, to: self.path) else { return nil }
        return try share.identity(at: copy)
    }

    private static func copyFile(
        _ source: ResourcePath, in origin: SharedFolder, to copy: borrowing FileDescriptor,
        keepsTime: Bool, keepingFree bytes: Int64?
    ) throws(StoreError) {
        try storing { () throws(SystemError) in
            let file = try origin.directory.open(source.bytes, for: .content, mayWait: true)
            var canShare = true
            let status = try file.status()
            try copy.checkRoom(for: status.length, keepingFree: bytes)
            try TreeCopy.copyContent(
                of: file, status: status, to: copy, keepsTime: keepsTime, canShare: &canShare)
        }
    }

    private static func remove(_ name: ReservedName, in directory: borrowing FileDescriptor) {
        var removal = TreeRemoval(isOurs: true)
        removal.remove(name.bytes, in: directory)
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            if isReplacing {
                try share.exchange(path, state.destination)
            } else {
                try share.rename(path, toFree: state.destination)
                state.isOwned = false
            }
        }
    }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        let location = trash.location.path
        try state.withValue { state throws(StoreError) in
            try share.rename(path, toFree: location)
            state.isOwned = false
            do throws(StoreError) { try share.exchange(location, state.destination) } catch {
                if (try? share.rename(location, toFree: path)) != nil { state.isOwned = true }
                throw error
            }
            state.kept = location
        }
    }

    func publishOverContent() throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            let destination = state.destination
            try storing { () throws(SystemError) in
                try directory.rename(reservation.name.bytes, to: directory, as: Array(destination.name))
            }
            state.isOwned = false
            share.kept.forget(destination)
            try share.sync.names(in: directory)
        }
    }

    func unpublish(isReplacing: Bool) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            if let kept = state.kept {
                try share.exchange(kept, state.destination)
                try share.rename(kept, toFree: path)
                state.kept = nil
                state.isOwned = true
            } else if isReplacing {
                try share.exchange(path, state.destination)
            } else {
                try share.rename(state.destination, toFree: path)
                state.isOwned = true
            }
        }
    }
}
