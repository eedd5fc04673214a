internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
package import DavitStore
internal import Synchronization

/// Measures the entries of a trash and removes those that exceed its limits.
package final class TrashMaintenance: Sendable {
    private let trash: TrashCan
    private let resources: any ResourceStore
    private let state: any ShareState
    private let pathLocks: PathLocks
    private let work: BlockingWork
    private let audit: ShareAudit?
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (String) -> Void
    /// The ids of entries of collections that have not been measured.
    private let unmeasured = Mutex<[String]>([])
    /// Limits the search for expired entries to once an hour.
    private let checks = HourlyTimer()

    init(
        _ trash: TrashCan, _ resources: any ResourceStore, _ state: any ShareState, _ pathLocks: PathLocks,
        _ work: BlockingWork, _ audit: ShareAudit?, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.trash = trash
        self.resources = resources
        self.state = state
        self.pathLocks = pathLocks
        self.work = work
        self.audit = audit
        self.now = now
        self.report = report
    }

    func recordUnmeasured(_ entry: TrashEntry) {
        if entry.length == nil { unmeasured.withLock { $0.append(entry.id) } }
    }

    /// Returns and clears the ids of collections that have not been measured.
    private func takeUnmeasured() -> [String] {
        unmeasured.withLock { unmeasured in
            defer { unmeasured = [] }
            return unmeasured
        }
    }

    /// Adds the ids of the trash entries of a change to the response. If the trash is too large, first removes entries that
    /// exceed its limits.
    func finish(
        kept entries: [TrashEntry], _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if entries.isEmpty { return }
        for entry in entries { recordUnmeasured(entry) }
        // Collections are measured later, in the background. Until then, they do not count toward the size
        // limit.
        guard isTooLarge else { return response.addRestoreHint(kept: entries) }
        let state = state
        let left = await work.cleanUpTree(for: context.client) {
            self.trim()
            return entries.filter { (try? state.trashEntry($0.id)) != nil }
        }
        response.addRestoreHint(kept: left ?? [])
    }

    /// Same as the other overload, for one entry or none.
    func finish(
        kept entry: TrashEntry?, _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if let entry { await finish(kept: [entry], &response, for: context) }
    }

    private var isTooLarge: Bool {
        guard let limits = trash.limits else { return false }
        let totals = state.trashTotals
        return totals.count > limits.entries || totals.bytes > limits.bytes ?? .max
    }

    /// Measures new entries in the trash and removes those that exceed its limits. May block, for as long as
    /// the removal of many files takes.
    package func run() {
        guard trash.limits != nil else { return }
        measure()
        if isTooLarge || checks.isDue(now: now()) { trim() }
    }

    func measure() {
        for id in takeUnmeasured() {
            guard let entry = try? state.trashEntry(id), entry.length == nil else { continue }
            let isDone =
                (try? resources.measure(entry.location)).map { length in
                    withTrashed(entry) { entry in
                        entry.length != nil
                            || (try? state.commit([.measureTrash(entry, length: length)])) != nil
                    }
                } ?? false
            // Retry later if measuring failed or another request holds a path lock on the entry.
            if !isDone { recordUnmeasured(entry) }
        }
    }

    /// Purges the oldest entries until the remaining ones are within the limits of number, size and age.
    func trim() {
        guard let limits = trash.limits else { return }
        let end = now().subtracting(days: limits.days)
        // Entries on volumes that are not mounted stay, and other entries do not make room for them.
        var unavailable: (count: Int, bytes: Int64) = (0, 0)
        purge { entry in
            let totals = state.trashTotals
            let isTooLarge =
                totals.count - unavailable.count > limits.entries
                || limits.bytes.map { totals.bytes - unavailable.bytes > $0 } ?? false
            guard entry.deleted < end || isTooLarge else { return false }
            if isUnavailable(entry) {
                unavailable.count += 1
                unavailable.bytes += entry.length ?? 0
            }
            return true
        }
    }

    /// Purges entries, oldest first, until `isWanted` returns false. Keeps entries that another request is
    /// about to restore or whose volume is not mounted, and skips entries whose time is in the future because of a wrong
    /// clock.
    /// - Returns: The number of purged entries.
    @discardableResult
    package func purge(while isWanted: (TrashEntry) -> Bool) -> Int {
        var count = 0
        let now = now()
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                guard isWanted(entry) else { return entry.deleted > now }
                if !isUnavailable(entry), purge(entry) { count += 1 }
                return true
            }
        } catch {
            report("reading the entries of the trash failed: \(error.text)")
        }
        return count
    }

    private func isUnavailable(_ entry: TrashEntry) -> Bool {
        (try? resources.isTrashUnavailable(of: entry)) == true
    }

    /// Permanently removes the file of an entry.
    /// - Returns: false if the entry no longer exists, another change holds a path lock on it, the removal failed, or it
    ///   cannot be recorded in the audit log.
    func purge(_ entry: TrashEntry) -> Bool {
        var tree: (any DetachedTree)?
        let isDone = withTrashed(entry) { entry in
            do throws(StoreError) {
                if let audit, (try? audit.admitChange()) == nil { return false }
                tree = try trash.takeOut(entry)
                audit?.record(AuditEvent(purgeOf: entry, from: "server"))
                return true
            } catch {
                report("removing from the trash failed: \(error.text)")
                return false
            }
        }
        _ = tree?.destroy()
        return isDone
    }

    /// Runs `body` with the current entry, unless the entry no longer exists or its path locks are held by
    /// another change.
    @discardableResult
    private func withTrashed(_ entry: TrashEntry, _ body: (TrashEntry) -> Bool) -> Bool {
        let result = pathLocks.withPathLockIfFree(TrashCan.pathLockRequests(on: entry)) { () -> Bool? in
            guard let current = try? state.trashEntry(entry.id) else { return false }
            return body(current)
        }
        return result ?? false
    }
}

extension HTTPResponse {
    /// Adds the ids of trash entries to the response.
    mutating func addRestoreHint(kept entries: [TrashEntry]) {
        if entries.isEmpty { return }
        // A collection removed member by member may have many entries; limit the length of the field.
        let ids = entries.prefix(32).map(\.id).joined(separator: ", ")
        fields.append(.davitTrash, ids)
    }
}
