import Davit
import DavitControl
import DavitHTTP
import DavitMetrics
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Health checks and metrics of a server.
@Suite(.timeLimit(.minutes(15)))
struct AdminListenerTests {
    private let folder: TemporaryFolder
    private var share: String { folder.path + "/share" }
    private var state: String { folder.path + "/state" }

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
    }

    private func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.hosts = [LoopbackAddress.own()]
        configuration.port = 0
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.logLevel = .error
        return configuration
    }

    /// Runs `body` while a server with an admin listener shares the folder.
    private func serve(
        _ configure: (inout Configuration) -> Void = { _ in },
        _ body: (WebServer) async throws -> Void
    ) async throws {
        var configuration = configuration()
        configuration.collectsMetrics = true
        configure(&configuration)
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration)
        try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try await body(server)
    }

    static let addresses: [(text: String, address: Configuration.AdminListener.Address?)] = [
        ("/run/davit/admin.sock", .unixSocket(.init(path: "/run/davit/admin.sock"))),
        ("./admin", .unixSocket(.init(path: "./admin"))),
        ("127.0.0.1:9100", .loopback(host: "127.0.0.1", port: 9100)),
        ("127.8.0.1:0", .loopback(host: "127.8.0.1", port: 0)),
        ("localhost:65535", .loopback(host: "localhost", port: 65535)),
        ("[::1]:9100", .loopback(host: "::1", port: 9100)),
        // Only unbracketed IPv6 addresses are ambiguous.
        ("::1:9100", nil), ("9100", nil), (":9100", nil), ("127.0.0.1", nil), ("127.0.0.1:", nil),
        ("127.0.0.1:+1", nil), ("127.0.0.1:65536", nil), ("127.0.0.1:9100 ", nil), ("admin", nil), ("", nil),
        ("0.0.0.0:9100", nil), ("[::]:9100", nil), ("192.0.2.1:9100", nil), ("*:9100", nil),
        ("example.com:9100", nil), ("127.0.0.1.example.com:9100", nil), ("127.1:9100", nil),
    ]

    @Test(arguments: addresses)
    func onlyLocalAddressesAreParsed(text: String, address: Configuration.AdminListener.Address?) {
        #expect(Configuration.AdminListener(parsing: text)?.address == address)
    }

    @Test func otherAddressesAreRefused() throws {
        var configuration = configuration()
        configuration.adminListener = .init(.loopback(host: "0.0.0.0", port: 0))
        #expect(throws: ServerError.adminListenerNotLocal(host: "0.0.0.0")) {
            try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration)
        }
    }

    private func names(_ checks: [HealthCheck], failing: Bool) -> [String] {
        checks.filter { $0.passes != failing }.map(\.name)
    }

    @Test func checksFollowTheLifecycle() async throws {
        try await serve { server in
            let all = ["event-loops", "listening", "state-database", "share-folder", "free-space"]
            #expect(names(await server.healthChecks(), failing: false) == all)
            await server.suspend()
            #expect(names(await server.healthChecks(), failing: true) == ["listening"])
            try await server.resume()
            #expect(await server.healthChecks().areAllPassing)
            await server.stop()
            #expect(names(await server.healthChecks(), failing: true) == ["event-loops", "listening"])
        }
    }

    @Test func fullVolumeFailsTheCheck() async throws {
        let server = try WebServer(
            {
                var share = WebDAVShare(share, stateFolder: state)
                share.keptFreeBytes = .max
                return share
            }(), configuration: configuration())
        try server.start()
        #expect(names(await server.healthChecks(), failing: true) == ["free-space"])
        await server.stop()
    }

    @Test func replacedFolderFailsTheCheck() async throws {
        try await serve { server in
            _ = try ExclusiveFolder(path: folder.path + "/other")
            _ = ShellCommand.run("mv \(share) \(folder.path)/moved && mv \(folder.path)/other \(share)")
            #expect(names(await server.healthChecks(), failing: true) == ["share-folder"])
            _ = ShellCommand.run("rmdir \(share)")
            #expect(names(await server.healthChecks(), failing: true) == ["share-folder"])
        }
    }

    @Test func applicationAddsMetrics() async throws {
        try await serve {
            $0.metrics = { [Metric("shop_orders", .counter, "Orders.", value: 17)] }
        } _: { server in
            #expect(await server.metrics().contains(Metric("shop_orders", .counter, "Orders.", value: 17)))
        }
    }

    /// Whatever clients send, the number of labels is fixed.
    @Test func labelsAreBounded() async throws {
        try await serve { server in
            let client = ChangeEventClient(address: try #require(server.addresses.first))
            for number in 0..<40 { _ = try client.send("METHOD\(number) /path\(number)", []) }
            _ = try client.send("GET /missing", [])
            var requests: Metric?
            // A response reaches its client before it is counted.
            repeat {
                requests = await server.metrics().first { $0.name == "davit_requests" }
            } while requests?.samples.contains { $0.value == .number(40) } != true
            let methods = Set(try #require(requests).samples.compactMap { $0.labels.first?.value })
            #expect(methods == ["GET", "other"])
            let known = Set(HTTPMethod.named.map(\.name.description) + ["other"])
            for metric in await server.metrics() {
                for label in metric.samples.flatMap(\.labels) where label.name == "method" {
                    #expect(known.contains(label.value))
                }
            }
        }
    }

    @Test func listenerStopsWithTheServer() async throws {
        let path = folder.path + "/admin.sock"
        try await serve {
            $0.adminListener = .init(.unixSocket(.init(path: path)))
        } _: { server in
            #expect(ShellCommand.run("test -S \(path)")?.status == 0)
            // Starting a running server fails, and leaves the listener alone.
            #expect(throws: ServerError.self) { try server.start() }
            #expect(ShellCommand.run("test -S \(path)")?.status == 0)
            await server.stop()
            #expect(ShellCommand.run("test -S \(path)")?.status != 0)
            try server.start()
            #expect(ShellCommand.run("test -S \(path)")?.status == 0)
        }
    }
}
