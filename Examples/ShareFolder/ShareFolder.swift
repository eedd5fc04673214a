import Davit

/// Shares a folder over WebDAV: `ShareFolder FOLDER [PORT]`.
@main struct ShareFolder {
    static func main() async throws {
        let arguments = CommandLine.arguments
        var configuration = Configuration()
        configuration.port = arguments.count > 2 ? UInt16(arguments[2]) ?? 8080 : 8080
        configuration.accounts = [.init(name: "anna", password: "secret")]
        configuration.stopsOnSignals = true

        let folder = arguments.count > 1 ? arguments[1] : "."
        let server = try WebServer(sharing: folder, configuration: configuration)
        try await server.run { print("Sharing the folder at \($0)") }
    }
}
