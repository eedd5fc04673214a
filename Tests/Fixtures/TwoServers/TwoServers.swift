import Davit
import DavitSystem

/// Two servers in one process, for a test with real signals: each signal stops all running servers.
@main struct TwoServers {
    static func main() async throws {
        var configuration = Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = true
        let servers = try (0..<2).map { _ in
            try WebServer(configuration: configuration) { $0.get("/") { _ in .text("here") } }
        }
        for server in servers { try server.start() }
        StandardStreams.writeOutput("two run\n")
        for server in servers { await server.waitUntilStopped() }
        // The signal has been handled: it must not stop a server that starts now.
        try servers[0].start()
        let isAlone = servers[0].isRunning && !servers[1].isRunning
        StandardStreams.writeOutput(isAlone ? "one runs\n" : "wrong\n")
        await servers[0].waitUntilStopped()
        StandardStreams.writeOutput("none runs\n")
    }
}
