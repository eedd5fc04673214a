internal import DavitSQLite
package import DavitServer
internal import DavitStore
internal import Synchronization

/// The bans in the state folder of a share. The database is created with the first ban. Calls block.
package final class DatabaseBans: BanStore {
    private let folder: String
    private let database = Mutex<BanDatabase?>(nil)

    /// - Parameter folder: the state folder, whose lock the caller holds.
    package init(folder: String) { self.folder = folder }

    package func bans() throws(BanStoreError) -> [Ban] {
        guard BanDatabase.exists(in: folder) else { return [] }
        let stored = try perform { (database) throws(StateError) in try database.bans() }
        // Bans for reasons that this version does not know remain in effect.
        return stored.map {
            Ban(
                network: $0.network, count: Int(clamping: $0.count), since: $0.since, until: $0.until,
                reason: Ban.Reason(rawValue: $0.reason) ?? .command)
        }
    }

    package func commit(_ bans: [Ban], removing networks: [String]) throws(BanStoreError) {
        let stored = bans.map {
            StoredBan(
                network: $0.network, count: Int64($0.count), since: $0.since, until: $0.until,
                reason: $0.reason.rawValue)
        }
        try perform { (database) throws(StateError) in try database.commit(stored, removing: networks) }
    }

    private func perform<R: Sendable>(
        _ work: (BanDatabase) throws(StateError) -> R
    ) throws(BanStoreError) -> R {
        do throws(StateError) {
            let database = try self.database.withLock { opened throws(StateError) in
                if let opened { return opened }
                let database = try BanDatabase(folder: folder)
                opened = database
                return database
            }
            return try work(database)
        } catch {
            throw BanStoreError(reason: error.text)
        }
    }
}

/// Lists, adds and removes bans for an administrator, in the server or, if none is running, in the command. Calls block.
struct BanAdmin: Sendable {
    let bans: BanList

    /// Returns one page of bans, without the first `skipped` ones.
    func list(from skipped: Int) -> ControlResponse {
        .lines(bans.active.dropFirst(skipped).prefix(ControlResponse.limitLines).map { ListedBan($0).line })
    }

    func ban(_ address: String, seconds: Int64) -> ControlResponse {
        perform(address) { () throws(BanList.Problem) in try bans.ban(address, seconds: seconds) }
    }

    func lift(_ address: String) -> ControlResponse {
        perform(address) { () throws(BanList.Problem) in try bans.lift(address) }
    }

    private func perform(
        _ address: String, _ change: () throws(BanList.Problem) -> Ban
    ) -> ControlResponse {
        do throws(BanList.Problem) {
            let ban = try change()
            // Before the response, so that a command that has succeeded is not lost.
            guard bans.save() else {
                return .refused(
                    reason: "the change is not stored, and is lost when the server stops; see its log")
            }
            return .lines([ListedBan(ban).line])
        } catch {
            return .refused(reason: error == .notAnAddress ? "'\(address)' is \(error.text)" : error.text)
        }
    }
}

/// A ban as `davit ban` lists it, encoded as a line of a ``ControlResponse``.
package struct ListedBan: Hashable, Sendable {
    package var ban: Ban

    package init(_ ban: Ban) { self.ban = ban }

    /// The encoded line: words separated by spaces.
    package var line: String {
        "\(ban.network) \(ban.count) \(ban.since) \(ban.until) \(ban.reason.rawValue)"
    }

    /// Parses a line; returns nil if it is malformed.
    package init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, !words[0].isEmpty, let count = Int(words[1]), let since = Int64(words[2]),
            let until = Int64(words[3]), let reason = Ban.Reason(rawValue: String(words[4]))
        else { return nil }
        ban = Ban(network: String(words[0]), count: count, since: since, until: until, reason: reason)
        guard self.line == line else { return nil }
    }
}
