#if Postgres
internal import CPQ
internal import DavitSystem

/// The files that libpq reads whenever it connects.
package enum PostgresFiles {
    /// The settings of connections that name files, with the file in the user's folder that libpq uses if they are not given.
    private static let settings = [
        "passfile": ".pgpass", "sslcert": ".postgresql/postgresql.crt",
        "sslkey": ".postgresql/postgresql.key",
        "sslrootcert": ".postgresql/root.crt", "sslcrl": ".postgresql/root.crl", "sslcrldir": nil,
    ]

    /// Returns the paths of passwords, certificates and keys, whether they exist or not.
    /// - Parameter info: a connection string or URL of libpq.
    package static func paths(for info: String) -> [String] {
        // Those of the environment first.
        let values = unsafe read(PQconndefaults()).merging(read(PQconninfoParse(info, nil))) { $1 }
        let home = Environment.variables(startingWith: "HOME")["HOME"]
        func inHome(_ name: String?) -> String? { home.flatMap { home in name.map { "\(home)/\($0)" } } }
        var paths = settings.compactMap { values[$0.key] ?? inHome($0.value) }
        if values["service"] != nil {
            let variables = Environment.variables(startingWith: "PG")
            paths += [variables["PGSERVICEFILE"] ?? inHome(".pg_service.conf")].compactMap { $0 }
            paths += [variables["PGSYSCONFDIR"]].compactMap { $0 }
        }
        return paths.sorted()
    }

    /// Returns the settings that have a value, and releases the list.
    private static func read(_ list: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        guard let list = unsafe list else { return [:] }
        defer { unsafe PQconninfoFree(list) }
        var values: [String: String] = [:]
        var next = unsafe list
        while let keyword = unsafe next.pointee.keyword {
            if let value = unsafe next.pointee.val, unsafe value.pointee != 0 {
                unsafe values[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe next += 1
        }
        return values
    }
}
#endif
