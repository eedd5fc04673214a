internal import Davit

/// The options for shares in a database.
package struct DatabaseOptions: Hashable, Sendable {
    /// The connection strings; empty without a database.
    package private(set) var servers: [String] = []
    /// The name of the share; nil for the default.
    package var share: String?
    /// The folder or bucket for content; nil if it is missing.
    package var blobs: String?

    mutating func add(server: String) throws(UsageError) {
        guard SharedDatabase.isAvailable else {
            throw .traitNeeded(option: ServeOption.database.rawValue, trait: "Postgres")
        }
        servers.append(server)
    }

    /// Nil without a database.
    var location: SharedDatabase? {
        guard !servers.isEmpty, let blobs else { return nil }
        return SharedDatabase(servers: servers, share: share ?? "files", blobs: blobs)
    }
}

extension ServeOptions {
    /// The database of the share, whose state folder is for copies of its content; nil if it is in a folder.
    var sharedDatabase: SharedDatabase? {
        var location = database.location
        location?.cacheFolder = stateFolder
        return location
    }

    /// Checks the options for shares in a database with the others.
    func checkDatabase() throws(UsageError) {
        let option = ServeOption.database.rawValue
        if database.servers.isEmpty {
            let others = [(ServeOption.share, database.share), (.blobs, database.blobs)]
            for (other, value) in others where value != nil {
                throw .useless(option: other.rawValue, without: option)
            }
            return
        }
        if database.blobs == nil { throw .incomplete(option: option, needs: ServeOption.blobs.rawValue) }
        if !folder.isEmpty { throw .conflict(option: option, other: "FOLDER") }
        func refuse(_ other: ServeOption, _ isGiven: Bool) throws(UsageError) {
            if isGiven { throw .conflict(option: option, other: other.rawValue) }
        }
        try refuse(.mount, !mounts.isEmpty)
        try refuse(.home, homes != nil)
        if database.location?.isInBucket != true { try refuse(.stateDir, stateFolder != nil) }
        try refuse(.macMetadata, rules.macMetadata == .aside)
        try refuse(.eventCommand, events.hasPrograms)
        try refuse(.eventURL, events.hasServices)
    }
}
