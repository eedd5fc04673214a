internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Finds names by canonical equivalence, where a volume finds them by their bytes only.
///
/// The first such question about a folder reads it; what comes and goes afterwards is told by the kernel
/// (`DirectoryWatch`), so that the next ones cost no reading, however often the folder changes. Volumes that others change
/// as well have no such watch: there the folder's times must say that nothing has come, and that long enough ago.
final class NameIndexes: Sendable {
    /// Folders that are remembered.
    static let folderLimit = 64
    /// Names that are remembered in all of them: at some 100 bytes each, 13 MiB.
    static let nameLimit = 1 << 17

    fileprivate struct State {
        var watch: DirectoryWatch?
        var hasWatchFailed = false
        var folders: [FileStatus.Identity: NameIndex] = [:]
        var watched: [Int32: FileStatus.Identity] = [:]
        var uses: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many folders are remembered.
    var count: Int { state.withLock { $0.folders.count } }

    /// A spelling of the name under which the folder may have it: whoever uses it looks at it, and forgets the folder if
    /// it is not there. May read the whole folder.
    /// - Returns: nil if no name there is equivalent.
    func spelling(
        of name: CanonicalName, in folder: borrowing FileDescriptor
    ) throws(SystemError) -> [UInt8]? {
        let status = try folder.status()
        switch state.withLock({ $0.find(name, status) }) {
        case .known(let spelling): return spelling
        case .unread: break
        }
        do {
            let names = try read(folder.open([UInt8(ascii: ".")], for: .entries), status)
            return state.withLock { $0.complete(status, names.list, at: names.time, asked: name) }
        } catch {
            // Names that nobody may read are known to who asks for them.
            if error.code == .accessDenied { return nil }
            throw error
        }
    }

    private func read(
        _ folder: consuming FileDescriptor, _ status: FileStatus
    ) throws(SystemError) -> (list: [CanonicalName], time: Int64) {
        // First the watch, then the reading: what comes in between is told by both.
        let number = folder.isOnLocalVolume ? folder.rawValue : nil
        state.withLock { $0.begin(status.identity, number) }
        let time = Clock.wallNow()
        return (try Self.names(in: folder), time)
    }

    func forget(_ folder: borrowing FileDescriptor) {
        guard let identity = try? folder.status().identity else { return }
        state.withLock { $0.forget(identity) }
    }

    private static func names(in entries: borrowing FileDescriptor) throws(SystemError) -> [CanonicalName] {
        var names: [CanonicalName] = []
        var block = DirectoryBlock(capacity: 1 << 15)
        while try block.read(from: entries) {
            block.scan { entry in
                if !entry.isASCII, let name = CanonicalName(entry.bytes) { names.append(name) }
            }
        }
        return names
    }
}

extension NameIndexes.State {
    enum Answer {
        case known([UInt8]?)
        /// The folder has to be read.
        case unread
    }

    mutating func find(_ name: CanonicalName, _ status: FileStatus) -> Answer {
        takeEvents()
        guard let index = folders[status.identity], index.isCurrent(status) else { return .unread }
        uses += 1
        folders[status.identity]?.lastUse = uses
        return .known(index.find(name))
    }

    /// Makes an empty index, which gathers what comes from now on; or leaves the one that does already.
    /// - Parameter folder: its open descriptor; nil where others than this machine change it.
    mutating func begin(_ identity: FileStatus.Identity, _ folder: Int32?) {
        takeEvents()
        if folders[identity]?.watch != nil { return }
        if folder != nil, watch == nil, !hasWatchFailed {
            watch = try? .ofNames()
            hasWatchFailed = watch == nil
        }
        let key = folder.flatMap { try? watch?.watch(descriptor: $0) }
        if let key { watched[key] = identity }
        folders[identity] = NameIndex(watch: key)
    }

    mutating func complete(
        _ status: FileStatus, _ names: [CanonicalName], at time: Int64, asked: CanonicalName
    ) -> [UInt8]? {
        takeEvents()
        var index = folders.removeValue(forKey: status.identity) ?? NameIndex(watch: nil)
        index.complete(with: names, status: status, at: time)
        uses += 1
        index.lastUse = uses
        let spelling = index.find(asked)
        folders[status.identity] = index
        makeRoom(for: status.identity)
        return spelling
    }

    mutating func forget(_ identity: FileStatus.Identity) {
        guard let index = folders.removeValue(forKey: identity), let number = index.watch else { return }
        watched[number] = nil
        watch?.unwatch(number)
    }

    /// Forgets what was not used for longest; also the newest one, if that alone is too large.
    private mutating func makeRoom(for newest: FileStatus.Identity) {
        var total = folders.values.reduce(0) { $0 + $1.names.count }
        while folders.count > NameIndexes.folderLimit || total > NameIndexes.nameLimit {
            guard let oldest = folders.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
            total -= oldest.value.names.count
            forget(oldest.key)
        }
    }

    private mutating func takeEvents() {
        guard !watched.isEmpty else { return }
        var events: [DirectoryEvent] = []
        watch?.drain { event in
            if event.name.isEmpty || event.name.contains(where: { $0 >= 0x80 }) { events.append(event) }
        }
        for event in events { apply(event) }
    }

    private mutating func apply(_ event: DirectoryEvent) {
        switch event.kind {
        case .arrived:
            guard let identity = watched[event.key], let name = CanonicalName(event.name) else { return }
            folders[identity]?.insert(name)
        case .left:
            guard let identity = watched[event.key], let name = CanonicalName(event.name) else { return }
            folders[identity]?.remove(name)
        case .ended:
            guard let identity = watched.removeValue(forKey: event.key) else { return }
            folders[identity] = nil
        case .overflow:
            for identity in Array(folders.keys) { forget(identity) }
        case .changed, .access, .directory: return
        }
    }
}
