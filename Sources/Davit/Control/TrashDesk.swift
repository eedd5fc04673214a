internal import DavitEngine
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// What a server, or a command in its place, does with the trash of a share for who administers it. Calls block.
struct TrashDesk: Sendable {
    /// Entries of one answer.
    private static let pageEntries = 64
    private static let secondsOfDay: Int64 = 86_400

    let share: Share

    /// - Throws: ``StateError`` if the state cannot be read.
    func entries(after number: Int64) throws(StateError) -> [String] {
        try share.trash(after: number, limit: Self.pageEntries).map { TrashLine($0).text }
    }

    /// Restores to where it was, or beside it where the name is taken.
    func restore(_ id: String) throws(StateError) -> [String] {
        guard let entry = try share.trash(id) else {
            return [TrashLine.Restored.refused("it is not in the trash").text]
        }
        do throws(HTTPError) {
            return [TrashLine.Restored.at(try share.restoreHere(entry)).text]
        } catch {
            return [TrashLine.Restored.refused(Self.reason(error)).text]
        }
    }

    func empty(olderThanDays days: Int) -> [String] {
        let (age, isTooLarge) = Int64(days).multipliedReportingOverflow(by: Self.secondsOfDay)
        let now = Timestamp(nanoseconds: Clock.wallNow())
        if isTooLarge || age > now.seconds { return ["0"] }
        let end = now.adding(seconds: -age)
        return ["\(share.purge { days == 0 || $0.deleted < end })"]
    }

    /// In words for the person who asked.
    private static func reason(_ error: HTTPError) -> String {
        switch error.status {
        case .locked: "somebody has locked the place where it was"
        case .forbidden: "davit may not write there, or the share does not serve such names"
        case .conflict: "a file has the name of a folder that it was in"
        case .notFound: "it is not in the trash any more"
        case .insufficientStorage: "no space is left"
        case .badGateway: "the place where it was is on another volume now"
        case .serviceUnavailable: "somebody is at work there; try again"
        default: error.reason
        }
    }
}
