internal import DavitFileStore
internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// A journal that is awake: the rows, the watches, and what is to be looked at. Used by one thread at a time.
///
/// After an error it is of no use any more: what it has in memory may say more than its rows do.
final class JournalCore {
    let resources: any ResourceStore
    /// What is listed; nil for everything.
    let rules: ShareRules?
    let database: JournalDatabase
    private let watch: FolderWatch
    let isCancelled: @Sendable () -> Bool
    /// How long a call of ``advance(_:)`` goes on, in nanoseconds, where there is more to do.
    private let step: Int64
    var watches: WatchTable
    /// Folders that have been read since the start.
    var visited: Set<Int64> = []
    var pending = PendingFolders()
    var dirty = DirtyNames()
    /// Folders that the system has stopped to watch.
    private var lost: [Int64] = []

    /// See ``FolderWatch/mounts``.
    private var mounts: [[UInt8]]

    /// Members that were looked at, one call of the system each.
    var looks = 0

    init(
        resources: any ResourceStore, rules: ShareRules?, watch: FolderWatch, options: ShareJournal.Options,
        database: JournalDatabase,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.resources = resources
        self.rules = rules
        self.watch = watch
        self.database = database
        self.isCancelled = isCancelled
        step = options.step
        mounts = watch.mounts
        watches = WatchTable(watch, limit: options.watchLimit)
    }

    var position: JournalPosition {
        JournalPosition(journal: database.id, last: database.last, forgotten: database.trimmed)
    }

    // MARK: Events

    /// Takes the events that have happened.
    /// - Returns: true if something has changed, or may have.
    @discardableResult
    func drain() -> Bool {
        var isOverflow = false
        watch.drain { event in
            guard event.kind != .overflow else {
                isOverflow = true
                return
            }
            guard let folder = watches.folder(of: event.key) else { return }
            note(event, in: folder)
        }
        if isOverflow { startOver() }
        return isOverflow || !dirty.isEmpty || !lost.isEmpty
    }

    private func note(_ event: DirectoryEvent, in folder: Int64) {
        // Nobody may hear that there is, or was, something of that name.
        if let rules, !event.name.isEmpty, rules.refuses(event.name) || !rules.lists(event.name) { return }
        switch event.kind {
        case .overflow: return
        case .ended: lost += watches.ended(event.key).map { [$0] } ?? []
        case .directory: dirty.note(whole: folder)
        case .arrived: dirty.note(event.name, in: folder, .arrived)
        case .left: dirty.note(event.name, in: folder, event.isDirectory ? [.left, .folder] : .left)
        case .changed: dirty.note(event.name, in: folder, [])
        case .access: dirty.note(event.name, in: folder, .access)
        }
    }

    /// Nothing has been read, or nothing of it counts any more.
    var startsOver: Bool { visited.isEmpty }

    /// Nothing is known to be as it was. What is watched stays watched.
    func startOver() {
        visited = []
        dirty.removeAll()
        pending.removeAll()
    }

    // MARK: A pass

    /// See ``ChangeJournal/advance(_:)``.
    func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        drain()
        let isNew = pass.begin()
        if isNew { lookAtMounts() }
        let isDone = try database.transaction { () throws(JournalError) in
            try compareDirty()
            if isNew { try lookAgain(pass) }
            try reach(pass.path, isNew: isNew)
            return try read(pass)
        } mapping: {
            .state($0)
        }
        switch isDone {
        case .more: return nil
        case .gone: throw .gone
        case .done: return position
        }
    }

    /// A volume that covers a folder, or no longer does, causes no event.
    private func lookAtMounts() {
        let mounts = watch.mounts
        guard mounts != self.mounts else { return }
        self.mounts = mounts
        startOver()
    }

    private enum Progress { case more, gone, done }

    private func read(_ pass: JournalPass) throws(JournalError) -> Progress {
        let end = Clock.now() + step
        var isOver = false
        while let folder = pending.pop(for: pass) {
            if isOver {
                pending.push(folder.id, folder.path)
                return .more
            }
            try visit(folder.id, folder.path)
            if isCancelled() { throw .interrupted }
            isOver = Clock.now() > end
        }
        guard let folder = try rows({ () throws(StateError) in try database.folder(at: pass.path) }),
            visited.contains(folder.id)
        else { return .gone }
        return .done
    }

    /// Records what events have told, before all that is in memory is lost: what has come and is gone at the next start
    /// would else never be told of.
    func settleEvents() {
        drain()
        try? database.transaction { () throws(JournalError) in
            try compareDirty(mayStop: false)
        } mapping: {
            .state($0)
        }
    }

    private func compareDirty(mayStop: Bool = true) throws(JournalError) {
        for id in lost {
            guard visited.contains(id), let path = try path(of: id) else { continue }
            watches.lose(id, at: path)
        }
        lost = []
        let (names, whole) = dirty.take()
        for (id, hints) in names where visited.contains(id) {
            guard let path = try path(of: id) else { continue }
            // First what is gone: to some clients the name that it has now is the same one.
            for (name, hints) in hints where hints.isOfRemoval { try compare(name, of: id, path, hints) }
            for (name, hints) in hints where !hints.isOfRemoval { try compare(name, of: id, path, hints) }
            if mayStop, isCancelled() { throw .interrupted }
        }
        for id in whole where visited.contains(id) {
            if let path = try path(of: id) { pending.push(id, path) }
        }
    }

    /// What can change without an event, as far as the pass asks about it.
    private func lookAgain(_ pass: JournalPass) throws(JournalError) {
        for (id, path) in watches.unwatched where pass.covers(path) { pending.push(id, path) }
        let names = try rows { () throws(StateError) in try database.volatileEntries(under: pass.path) }
        for (folder, name) in names where visited.contains(folder.id) && pass.covers(folder.path) {
            try compare(name, of: folder.id, folder.path, [])
        }
    }

    /// Has the folder itself read, also where those above it were not yet.
    private func reach(_ path: ResourcePath, isNew: Bool) throws(JournalError) {
        let folder = try folder(at: path)
        // Folders above it may have no watch, and one of them may be another one by now.
        guard visited.contains(folder.id) else { return pending.push(folder.id, path) }
        if isNew, try identity(ofFolder: path) != folder.identity { pending.push(folder.id, path) }
    }
}
