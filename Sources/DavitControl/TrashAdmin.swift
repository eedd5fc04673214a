internal import DavitEngine
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Lists, restores and deletes entries in the trash for an administrator, in the server or, if none is
/// running, in the command. Calls block.
struct TrashAdmin: Sendable {
    /// The maximum number of entries in a response.
    private static let pageEntries = 64
    private static let secondsOfDay: Int64 = 86_400

    let share: Share

    /// Returns one page of entries.
    ///
    /// - Throws: ``StateError`` if the state cannot be read.
    func entries(after number: Int64) throws(StateError) -> [String] {
        try share.trash.entries(after: number, limit: Self.pageEntries).map { TrashLine($0).text }
    }

    /// Restores an entry to its original path, or to a numbered name if the path is taken.
    func restore(_ id: String) throws(StateError) -> [String] {
        guard let entry = try share.trash.entry(id) else {
            return [TrashLine.Restored.refused("it is not in the trash").text]
        }
        do throws(HTTPError) {
            return [TrashLine.Restored.at(try TrashRestoration(share: share).restoreHere(entry)).text]
        } catch {
            return [TrashLine.Restored.refused(Self.reason(error)).text]
        }
    }

    func empty(olderThanDays days: Int) -> [String] {
        let (age, isTooLarge) = Int64(days).multipliedReportingOverflow(by: Self.secondsOfDay)
        let now = Timestamp(nanoseconds: Clock.wallNow())
        if isTooLarge || age > now.seconds { return ["0"] }
        let end = now.adding(seconds: -age)
        return ["\(share.trashMaintenance.purge { days == 0 || $0.deleted < end })"]
    }

    /// Returns the reason why an entry could not be restored, as a message for the user.
    private static func reason(_ error: HTTPError) -> String {
        switch error.status {
        case .locked: "the original location is locked"
        case .forbidden: "permission denied, or the share does not serve this name"
        case .conflict: "a parent folder has been replaced by a file"
        case .notFound: "it is no longer in the trash"
        case .insufficientStorage: "out of space"
        case .badGateway: "the original location is now on another volume"
        case .serviceUnavailable: "the original location is busy; try again"
        default: error.reason
        }
    }
}
