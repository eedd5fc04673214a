internal import Davit
internal import DavitControl

/// A share whose state a command lists or changes: in a folder, or in a database.
protocol ShareAccess {
    /// Has requests handled by the server of the share, or in this process. Blocks.
    /// - Parameter work: called with a function that sends a request, and returns nil if the server no longer
    ///   listens; `work` then also returns nil.
    func ask<R>(
        _ work: (_ ask: (ControlRequest) throws(CommandFailure) -> [String]?) throws(CommandFailure) -> R?
    ) throws(CommandFailure) -> R
}

/// Opens shares for commands.
enum ShareAccessFactory {
    /// - Parameters:
    ///   - place: the folder, or the URL of a database and the name of the share, as in `postgresql://HOST/NAME#SHARE`.
    ///   - stateFolder: the state folder of a folder; nil for the default.
    ///   - isCreated: whether the state is created if it does not exist.
    static func open(
        _ place: String, stateFolder: String?, isCreated: Bool = false
    ) throws(CommandFailure) -> any ShareAccess {
        guard let database = DatabaseAccess(place) else {
            return try StateAccess(folder: place, stateFolder: stateFolder, isCreated: isCreated)
        }
        return database
    }
}

/// A share in a database. Requests are handled in this process, like those of one more server.
struct DatabaseAccess: ShareAccess {
    private let database: SharedDatabase

    /// - Parameter place: a URL of libpq, with the name of the share as its fragment; `files` without one.
    /// - Returns: nil for a folder.
    init?(_ place: String) {
        guard ["postgresql://", "postgres://"].contains(where: { place.hasPrefix($0) }) else { return nil }
        let parts = place.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let share = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : "files"
        database = SharedDatabase(servers: [String(parts[0])], share: share, blobs: "")
    }

    func ask<R>(
        _ work: (_ ask: (ControlRequest) throws(CommandFailure) -> [String]?) throws(CommandFailure) -> R?
    ) throws(CommandFailure) -> R {
        let share: DatabaseShareAdmin
        do throws(ServerError) { share = try DatabaseShareAdmin(database) } catch {
            throw CommandFailure(error, folder: database.share)
        }
        defer { share.close() }
        let result = try work { (request) throws(CommandFailure) in
            switch share.answer(request) {
            case .lines(let lines): return lines
            case .refused(let reason): throw .other(reason)
            }
        }
        guard let result else { throw .other("no response") }
        return result
    }
}

extension ShareAccess {
    /// Sends a request like ``ask(_:)``, and returns the items in the response, one per line. Blocks.
    func ask<Item>(
        _ request: ControlRequest, _ item: (String) -> Item?
    ) throws(CommandFailure) -> [Item] {
        try ask { (ask) throws(CommandFailure) in
            guard let lines = try ask(request) else { return nil }
            return try items(in: lines, item)
        }
    }

    /// Returns all items of a list whose responses are pages. Blocks.
    /// - Parameter request: the request for the page after a number of items.
    func list<Item>(
        _ request: (_ skipped: Int) -> ControlRequest, _ item: (String) -> Item?
    ) throws(CommandFailure) -> [Item] {
        try ask { (ask) throws(CommandFailure) in
            var found: [Item] = []
            while true {
                guard let lines = try ask(request(found.count)) else { return nil }
                if lines.isEmpty { return found }
                found += try items(in: lines, item)
            }
        }
    }

    private func items<Item>(
        in lines: [String], _ item: (String) -> Item?
    ) throws(CommandFailure) -> [Item] {
        var items: [Item] = []
        for line in lines {
            guard let item = item(line) else {
                throw .other("invalid response; the server may be another version of davit")
            }
            items.append(item)
        }
        return items
    }
}
