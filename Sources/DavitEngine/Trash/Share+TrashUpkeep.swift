internal import DavitHTTP
internal import DavitServer
package import DavitStore
internal import Synchronization

/// What remains to be done about the trash of a share when nobody waits for it.
final class TrashCare: Sendable {
    /// How often the age of what is kept is looked at, while there are requests.
    private static let intervalSeconds: Int64 = 3600

    private let unmeasured = Mutex<[String]>([])
    private let lastLook = Mutex<Timestamp?>(nil)
    private let lastFailure = Mutex<Timestamp?>(nil)

    /// Whether a failure is to be told: what does not work once will not work again and again.
    func isFailureDue(now: Timestamp) -> Bool { Self.isDue(now: now, lastFailure) }

    func noteUnmeasured(_ entry: TrashEntry) {
        if entry.length == nil { unmeasured.withLock { $0.append(entry.id) } }
    }

    /// The ids of collections that nobody has measured, each once.
    func takeUnmeasured() -> [String] {
        unmeasured.withLock { unmeasured in
            defer { unmeasured = [] }
            return unmeasured
        }
    }

    /// Whether the oldest entry is to be looked at.
    func isDue(now: Timestamp) -> Bool { Self.isDue(now: now, lastLook) }

    private static func isDue(now: Timestamp, _ last: borrowing Mutex<Timestamp?>) -> Bool {
        last.withLock { last in
            if let last, last <= now, now < last.adding(seconds: intervalSeconds) { return false }
            last = now
            return true
        }
    }
}

extension Share {
    /// Tells the client what is kept of what it has taken away, and keeps the trash within its limits.
    func settle(
        kept entries: [TrashEntry], _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if entries.isEmpty { return }
        for entry in entries { trashCare.noteUnmeasured(entry) }
        // Collections are measured when nobody waits, and count then.
        guard isTrashTooLarge else { return response.tell(kept: entries) }
        let state = state
        let left = await work.runLong(for: context.request.client, .cleansUp) {
            self.trimTrash()
            return entries.filter { (try? state.trashEntry($0.id)) != nil }
        }
        response.tell(kept: left ?? [])
    }

    /// The same for one entry, or none.
    func settle(
        kept entry: TrashEntry?, _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if let entry { await settle(kept: [entry], &response, for: context) }
    }

    private var isTrashTooLarge: Bool {
        guard let limit = configuration.trash?.bytes else { return false }
        return state.trashTotals.bytes > limit
    }

    /// Measures what is new in the trash, and lets go what is over its limits. May block, and take as long as the
    /// removal of many files does.
    package func tendTrash() {
        guard configuration.trash != nil else { return }
        measureTrash()
        if isTrashTooLarge || trashCare.isDue(now: now()) { trimTrash() }
    }

    func measureTrash() {
        for id in trashCare.takeUnmeasured() {
            guard let entry = try? state.trashEntry(id), entry.length == nil else { continue }
            let isDone =
                (try? resources.measure(entry.place)).map { length in
                    withTrashed(entry) { entry in
                        entry.length != nil
                            || (try? state.commit([.measureTrash(entry, length: length)])) != nil
                    }
                } ?? false
            // Somebody is at work there.
            if !isDone { trashCare.noteUnmeasured(entry) }
        }
    }

    /// Purges the oldest entries until the others are few enough, and young enough.
    func trimTrash() {
        guard let limits = configuration.trash else { return }
        let end = now().subtracting(days: limits.days)
        purge { entry in entry.deleted < end || self.isTrashTooLarge }
    }

    /// Purges entries, the oldest first, until `isWanted` says no. One that somebody is about to restore stays, and one of a
    /// time that is still to come, which a clock was wrong about, is passed over.
    /// - Returns: how many went.
    @discardableResult
    package func purge(while isWanted: (TrashEntry) -> Bool) -> Int {
        var count = 0
        let now = now()
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                guard isWanted(entry) else { return entry.deleted > now }
                if purge(entry) { count += 1 }
                return true
            }
        } catch {
            report("the trash could not be read: \(error)")
        }
        return count
    }

    /// Removes what an entry keeps, for good.
    /// - Returns: false if it is gone, or somebody is about to restore it.
    func purge(_ entry: TrashEntry) -> Bool {
        var tree: (any DetachedTree)?
        let isDone = withTrashed(entry) { entry in
            do throws(StoreError) {
                tree = try takeOut(entry)
                return true
            } catch {
                report("something could not be removed from the trash: \(error)")
                return false
            }
        }
        _ = tree?.destroy()
        return isDone
    }

    /// Hides what an entry keeps, and drops the entry: what is left of it after a crash is swept.
    ///
    /// In a section that claims its place.
    func takeOut(_ entry: TrashEntry) throws(StoreError) -> (any DetachedTree)? {
        let isThere = try resources.identity(at: entry.place) == entry.identity
        let tree = isThere ? try stored.detach(entry.place) : nil
        do throws(StoreError) { try record([.removeRows(under: entry.place), .dropTrash(entry)]) } catch {
            try? tree?.restore()
            throw error
        }
        versions.forget(entry.path)
        return tree
    }

    /// What is claimed by whoever changes an entry: its place, and the path that it was at. An entry is there before what it
    /// keeps, and who puts that into the trash claims the path until it is.
    static func claims(on entry: TrashEntry) -> [Claim] {
        [Claim(path: entry.place, mode: .exclusive), Claim(path: entry.path, mode: .shared)]
    }

    /// Runs `body` with an entry as it is now, if there is one and nobody else is about to change it.
    @discardableResult
    private func withTrashed(_ entry: TrashEntry, _ body: (TrashEntry) -> Bool) -> Bool {
        let result = sections.withSectionIfFree(Self.claims(on: entry)) { () -> Bool? in
            guard let current = try? state.trashEntry(entry.id) else { return false }
            return body(current)
        }
        return result ?? false
    }
}
