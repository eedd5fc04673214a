internal import DavitFileStore
internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// An active journal: the database, the watches, and the names to compare. Used by one thread at a time.
///
/// It must be discarded after an error other than `gone` and `forgotten`, because its state in memory may be
/// ahead of the database.
final class JournalCore {
    let resources: any ResourceStore
    /// The rules that determine what is listed; nil to list everything.
    let rules: ShareRules?
    let database: JournalDatabase
    private let watch: FolderWatch
    let isCancelled: @Sendable () -> Bool
    /// The duration in nanoseconds after which a call of ``advance(_:)`` returns, once it has compared the
    /// current folder.
    private let step: Int64
    var watches: WatchTable
    /// The ids of the folders that have been read since this object was created or ``startOver()`` was
    /// called.
    var visited: Set<Int64> = []
    var pending = PendingFolders()
    var dirty = DirtyNames()
    /// The ids of folders that the system has stopped watching.
    private var lost: [Int64] = []

    /// See ``FolderWatch/mounts``.
    private var mounts: [[UInt8]]

    /// The number of members examined; each costs at least one system call.
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

    /// Processes pending events.
    /// - Returns: whether something has changed or may have changed.
    @discardableResult
    func drain() -> Bool {
        var isOverflow = false
        watch.drain { event in
            guard event.kind != .overflow else {
                isOverflow = true
                return
            }
            guard let folder = watches.folder(of: event.key) else { return }
            record(event, in: folder)
        }
        if isOverflow { startOver() }
        return isOverflow || !dirty.isEmpty || !lost.isEmpty
    }

    private func record(_ event: DirectoryEvent, in folder: Int64) {
        // Do not disclose that a name that is not served exists or has existed.
        if let rules, !event.name.isEmpty, rules.refuses(event.name) || !rules.lists(event.name) { return }
        switch event.kind {
        case .overflow: return
        case .ended: lost += watches.ended(event.key).map { [$0] } ?? []
        case .directory: dirty.record(whole: folder)
        case .arrived: dirty.record(event.name, in: folder, .arrived)
        case .left: dirty.record(event.name, in: folder, event.isDirectory ? [.left, .folder] : .left)
        case .changed: dirty.record(event.name, in: folder, [])
        case .access: dirty.record(event.name, in: folder, .access)
        }
    }

    /// Whether nothing has been read yet, or everything must be read again.
    var startsOver: Bool { visited.isEmpty }

    /// Discards the knowledge of all folders, so that they are read again. Watches remain active.
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

    /// Detects mounts and unmounts on folders, which cause no events.
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

    /// Records the changes reported by events before the state in memory is lost. A resource that was created
    /// and removed again would otherwise never be reported.
    func applyEvents() {
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
            // Compare removed names first, because some clients treat an old and a new spelling as the same
            // name.
            for (name, hints) in hints where hints.isOfRemoval { try compare(name, of: id, path, hints) }
            for (name, hints) in hints where !hints.isOfRemoval { try compare(name, of: id, path, hints) }
            if mayStop, isCancelled() { throw .interrupted }
        }
        for id in whole where visited.contains(id) {
            if let path = try path(of: id) { pending.push(id, path) }
        }
    }

    /// Compares the members within the pass that can change without an event, and schedules the folders
    /// without a watch to be read.
    private func lookAgain(_ pass: JournalPass) throws(JournalError) {
        for (id, path) in watches.unwatched where pass.covers(path) { pending.push(id, path) }
        let names = try rows { () throws(StateError) in try database.volatileEntries(under: pass.path) }
        for (folder, name) in names where visited.contains(folder.id) && pass.covers(folder.path) {
            try compare(name, of: folder.id, folder.path, [])
        }
    }

    /// Schedules the folder of a pass to be read if it was replaced or has not been read yet, whether or not
    /// its ancestors have been read.
    private func reach(_ path: ResourcePath, isNew: Bool) throws(JournalError) {
        let folder = try folder(at: path)
        // Ancestors may have no watch, and may have been replaced.
        guard visited.contains(folder.id) else { return pending.push(folder.id, path) }
        if isNew, try identity(ofFolder: path) != folder.identity { pending.push(folder.id, path) }
    }
}
