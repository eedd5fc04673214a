internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Finds names by canonical equivalence on volumes that compare names by bytes.
///
/// The first query for a folder reads it. Later changes are reported by the kernel (`DirectoryWatch`), so
/// that further queries rarely need to read the folder again, however often it changes. Volumes that other
/// machines can change have no such watch; there, a folder is read again unless its timestamps show that it
/// has not changed since it was last read.
final class NameIndexes: Sendable {
    /// The maximum number of folders in the cache.
    static let folderLimit = 64
    /// The maximum number of names in the cache: 13 MB at about 100 bytes each.
    static let nameLimit = 1 << 17

    fileprivate struct State {
        var watch: DirectoryWatch?
        var hasWatchFailed = false
        var folders: [FileStatus.Identity: NameIndex] = [:]
        var watched: [Int32: FileStatus.Identity] = [:]
        var uses: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Returns the spelling under which the folder may contain the name. The caller must check that the name
    /// exists and otherwise call `forget`. May read the entire folder.
    /// - Returns: nil if the folder has no equivalent name or is not readable.
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
            // The names of an unreadable folder can only be accessed by their exact spelling.
            if error.code == .accessDenied { return nil }
            throw error
        }
    }

    private func read(
        _ folder: consuming FileDescriptor, _ status: FileStatus
    ) throws(SystemError) -> (list: [CanonicalName], time: Int64) {
        // Start the watch before reading, so that no change is missed. A change in between is both read and
        // reported, which is harmless.
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
        /// The folder must be read.
        case unread
    }

    mutating func find(_ name: CanonicalName, _ status: FileStatus) -> Answer {
        takeEvents()
        guard let index = folders[status.identity], index.isCurrent(status) else { return .unread }
        uses += 1
        folders[status.identity]?.lastUse = uses
        return .known(index.find(name))
    }

    /// Creates an empty index that collects new names from now on, or keeps an existing one with a watch.
    /// - Parameter folder: the open descriptor of the folder; nil if other machines can change it.
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
        makeRoom()
        return spelling
    }

    mutating func forget(_ identity: FileStatus.Identity) {
        guard let index = folders.removeValue(forKey: identity), let number = index.watch else { return }
        watched[number] = nil
        watch?.unwatch(number)
    }

    /// Removes the least recently used folders until the limits hold, including the newest one if it alone
    /// exceeds a limit.
    private mutating func makeRoom() {
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
