internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The readers, the collections they watch, and their pending events.
struct ChangeEventSubscribers {
    struct Reader {
        let client: ClientKey
        var scopes: [ChangeEventScope]
        let filter: EventFilter
        /// The rights of the client when it joined. Event ids refer to them, so that a client that reconnects after a change
        /// of its rights reads everything again.
        var view: UInt64?
        var pending = PendingChangeEvents()
        /// The number of the last change that the reader knows or that ``ChangeEventFeed/catchUp(_:_:)`` sends to it.
        var known: Int64
        /// The number in the last event id that was sent.
        var notified: Int64?
        var waiting: CheckedContinuation<Void, Never>?
        /// Whether the stream ends after the pending events.
        var isFinished = false

        /// Whether the client may know of a change.
        func mayReport(_ change: ResourceChange) -> Bool {
            filter.mayReport(change.path, isRemoval: change.kind == .removed)
        }

        /// Whether the client may know of the locks of a resource.
        func mayReport(locksOf path: ResourcePath) -> Bool { filter.mayReport(path, isRemoval: false) }
    }

    /// A scope watched by a reader.
    private struct Watch: Hashable {
        let reader: Int
        let scope: ChangeEventScope
    }

    private(set) var all: [Int: Reader] = [:]
    /// The number of readers of each client; no entry for 0.
    private var counts: [ClientKey: Int] = [:]
    private var next = 0
    private var watches: [ResourcePath: Set<Watch>] = [:]
    /// The number of watches at or below each path; no entry for 0.
    private var weights: [ResourcePath: Int] = [:]
    private var deepCount = 0
    /// The readers whose pending events have changed since the last call of ``takeWoken()``.
    private var touched: Set<Int> = []

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    func count(of client: ClientKey) -> Int { counts[client] ?? 0 }

    /// The watched collections, without duplicates.
    var folders: WatchedFolders {
        var folders = WatchedFolders()
        for (path, watches) in watches {
            if watches.contains(where: \.scope.isDeep) {
                folders.deep.insert(path)
            } else {
                folders.flat.insert(path)
            }
        }
        return folders
    }

    // MARK: Adding and removing readers

    mutating func add(
        _ scopes: [ChangeEventScope], of client: ClientKey, known: Int64, view: UInt64? = nil,
        filter: EventFilter
    ) -> Int {
        next += 1
        all[next] = Reader(client: client, scopes: scopes, filter: filter, view: view, known: known)
        counts[client, default: 0] += 1
        for scope in scopes { add(Watch(reader: next, scope: scope)) }
        return next
    }

    /// - Returns: the continuation of the reader, if it is waiting.
    mutating func remove(_ id: Int) -> CheckedContinuation<Void, Never>? {
        guard let reader = all.removeValue(forKey: id) else { return nil }
        counts[reader.client] = count(of: reader.client) == 1 ? nil : count(of: reader.client) - 1
        for scope in reader.scopes { remove(Watch(reader: id, scope: scope)) }
        return reader.waiting
    }

    private mutating func add(_ watch: Watch) {
        guard watches[watch.scope.path, default: []].insert(watch).inserted else { return }
        if watch.scope.isDeep { deepCount += 1 }
        weigh(watch.scope.path, 1)
    }

    private mutating func remove(_ watch: Watch) {
        let path = watch.scope.path
        guard watches[path]?.remove(watch) != nil else { return }
        if watches[path]?.isEmpty == true { watches[path] = nil }
        if watch.scope.isDeep { deepCount -= 1 }
        weigh(path, -1)
    }

    private mutating func weigh(_ path: ResourcePath, _ weight: Int) {
        var path: ResourcePath? = path
        while let here = path {
            let sum = weights[here, default: 0] + weight
            weights[here] = sum == 0 ? nil : sum
            path = here.parent
        }
    }

    // MARK: Updating readers

    @discardableResult
    mutating func withReader<R>(_ id: Int, _ body: (inout Reader) -> R) -> R? {
        guard let index = all.index(forKey: id) else { return nil }
        return body(&all.values[index])
    }

    /// Updates the pending events of all readers.
    mutating func forAll(_ body: (inout PendingChangeEvents) -> Void) {
        for id in all.keys { record(id, body) }
    }

    /// Resets all readers.
    /// - Parameter number: the number of the last change in the journal, which may have replaced an earlier journal.
    mutating func reset(through number: Int64) {
        for id in all.keys {
            withReader(id) { $0.known = number }
            record(id) { $0.reset() }
        }
    }

    private mutating func record(_ id: Int, _ body: (inout PendingChangeEvents) -> Void) {
        withReader(id) { body(&$0.pending) }
        touched.insert(id)
    }

    /// Removes and returns the continuations of the waiting readers that now have pending events or have finished.
    mutating func takeWoken() -> [CheckedContinuation<Void, Never>] {
        var woken: [CheckedContinuation<Void, Never>] = []
        for id in touched {
            let waiting = withReader(id) { reader -> CheckedContinuation<Void, Never>? in
                guard !reader.pending.isEmpty || reader.isFinished else { return nil }
                defer { reader.waiting = nil }
                return reader.waiting
            }
            if let waiting, let waiting { woken.append(waiting) }
        }
        touched = []
        return woken
    }

    // MARK: Changes

    mutating func record(_ change: ResourceChange) {
        // Unless a collection has merely changed, watched collections at or below this path are gone or replaced.
        if change.kind != .changed || !change.isCollection, weights[change.path] != nil {
            record(gone: change.path, change.number)
        }
        guard let parent = change.path.parent else { return }
        forEachWatch(above: parent) { readers, watch in
            guard let reader = readers.all[watch.reader], reader.known < change.number,
                reader.mayReport(change)
            else { return }
            readers.record(watch.reader) { $0.record(change, in: watch.scope) }
        }
    }

    /// Ends all watches of a path and of everything below it.
    /// - Parameter number: the number of the change; readers that already know it are unaffected. Nil to end the
    ///   watches of all readers.
    mutating func record(gone path: ResourcePath, _ number: Int64? = nil) {
        for (folder, watches) in watches where path.contains(folder) {
            for watch in watches {
                guard let known = all[watch.reader]?.known, known < number ?? .max else { continue }
                remove(watch)
                withReader(watch.reader) { reader in
                    reader.scopes.removeAll { $0 == watch.scope }
                    reader.pending.record(gone: watch.scope)
                    if reader.scopes.isEmpty { reader.isFinished = true }
                }
                touched.insert(watch.reader)
            }
        }
    }

    /// Notifies the readers of a lock that was created or removed.
    mutating func record(_ lock: Lock) {
        let slash = lock.rootHref.last == UInt8(ascii: "/") ? [UInt8(ascii: "/")] : []
        let root = lock.root
        for watch in watches[root] ?? [] where all[watch.reader]?.mayReport(locksOf: root) == true {
            record(watch.reader) { $0.record(locksOf: watch.scope.href) }
        }
        if let parent = root.parent {
            forEachWatch(above: parent) { readers, watch in
                guard readers.all[watch.reader]?.mayReport(locksOf: root) == true else { return }
                readers.record(watch.reader) { $0.record(locksOf: watch.scope.href(of: root) + slash) }
            }
        }
        // The lock also covers watched collections below its root.
        guard lock.depth == .infinity, weights[root] != nil else { return }
        for (folder, watches) in watches where folder != root && root.contains(folder) {
            for watch in watches where all[watch.reader]?.mayReport(locksOf: folder) == true {
                record(watch.reader) { $0.record(locksOf: watch.scope.href) }
            }
        }
    }

    /// Calls `body` for each watch that includes the members of a folder.
    private mutating func forEachWatch(
        above folder: ResourcePath, _ body: (inout ChangeEventSubscribers, Watch) -> Void
    ) {
        for watch in watches[folder] ?? [] { body(&self, watch) }
        guard deepCount > 0 else { return }
        var folder = folder.parent
        while let here = folder {
            for watch in watches[here] ?? [] where watch.scope.isDeep { body(&self, watch) }
            folder = here.parent
        }
    }
}
