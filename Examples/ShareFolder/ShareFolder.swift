import Davit

@main struct ShareFolder {
    static func main() async throws {
        var configuration = Configuration()
        configuration.accounts = [.init(name: "anna", password: "secret")]
        configuration.stopsOnSignals = true
        try await WebServer(sharing: "/srv/files", configuration: configuration).run()
    }
}
