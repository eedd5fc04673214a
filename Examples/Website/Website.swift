import Davit

/// Serves a folder as a website: `Website FOLDER [PORT]`.
@main struct Website {
    static func main() async throws {
        let arguments = CommandLine.arguments
        var configuration = Configuration()
        configuration.stopsOnSignals = true
        if arguments.count > 2, let port = UInt16(arguments[2]) { configuration.port = port }

        var site = StaticSite(arguments.count > 1 ? arguments[1] : ".")
        site.options.cacheAgeSeconds = 60

        let server = try WebServer(site, configuration: configuration)
        try await server.run { print("Serving the website at \($0)") }
    }
}
