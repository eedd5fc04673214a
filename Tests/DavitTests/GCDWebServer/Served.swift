import Davit
import DavitTesting
import Testing

/// Runs a server while a closure runs, for the rows of `docs/coming-from-gcdwebserver.md`.
enum Served {
    /// Returns a configuration with a loopback address, a free port, and only errors in the log.
    static func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return configuration
    }

    static func run(
        _ configuration: Configuration, _ routes: (inout Routes) -> Void,
        asking body: (ChangeEventClient) throws -> Void
    ) throws {
        try run(try WebServer(configuration: configuration, routes), body)
    }

    static func run(_ routes: (inout Routes) -> Void, asking body: (ChangeEventClient) throws -> Void) throws
    {
        try run(configuration(), routes, asking: body)
    }

    static func run(_ server: WebServer, _ body: (ChangeEventClient) throws -> Void) throws {
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    /// Serves a share of a temporary folder at the root.
    static func share(_ body: (ChangeEventClient) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let files = try TemporaryFolder()
        let share = WebDAVShare(files.path, stateFolder: folder.path + "/state")
        try run(try WebServer(share, configuration: configuration()), body)
    }
}
