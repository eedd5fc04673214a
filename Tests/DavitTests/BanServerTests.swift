import Davit
import DavitHTTP
import DavitMetrics
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// Addresses that are banned after failed logins. The tests use a trusted proxy, because loopback addresses are never banned.
@Suite(.timeLimit(.minutes(15)))
struct BanServerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let folder: TemporaryFolder
    private let lines = Lines()

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
    }

    /// - Parameter exempt: the networks that are never banned.
    private func serve(
        exempt: [String] = [],
        _ body: (WebServer, ChangeEventClient) async throws -> Void
    ) async throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .warning
        configuration.logSink = .custom { [lines] entry in lines.all.withLock { $0.append(entry.text) } }
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.collectsMetrics = true
        configuration.accounts = [.init(name: "anna", password: "secret")]
        configuration.proxies.trusted = ["127.0.0.1"]
        configuration.bans.failedLogins = 3
        configuration.bans.exempt = exempt
        let server = try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state"),
            configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try await body(server, ChangeEventClient(address: try #require(addresses.first)))
    }

    /// Returns the status of a request from an address; the proxy itself sends it if there is none.
    private func status(
        _ client: ChangeEventClient, from address: String?, password: String = "secret"
    ) throws -> Int {
        var fields = ["Authorization: Basic \(Base64.encode(Array("anna:\(password)".utf8)))"]
        if let address { fields.append("X-Forwarded-For: \(address)") }
        return try client.send("OPTIONS /", fields).status
    }

    @Test func failedLoginsBanAnAddressAcrossRestarts() async throws {
        try await serve { server, client async throws in
            // Repetitions of a cached wrong password do not count.
            for _ in 0..<5 { #expect(try status(client, from: "192.0.2.1", password: "old") == 401) }
            for number in 0..<2 {
                #expect(try status(client, from: "192.0.2.1", password: "wrong\(number)") == 401)
            }
            #expect(try status(client, from: "192.0.2.1") == 403)
            #expect(try status(client, from: "192.0.2.2") == 200)
            #expect(try status(client, from: nil) == 200)
            let metrics = await server.metrics()
            func value(_ name: String) -> Metric.Value? {
                metrics.first { $0.name == name }?.samples.first?.value
            }
            #expect(value("davit_banned_addresses") == .number(1))
            #expect(value("davit_bans") == .number(1))
            let logged = lines.all.withLock { $0 }.filter { $0.contains("address banned") }
            #expect(logged.count == 1)
            #expect(logged.first?.contains("192.0.2.1") == true)
        }
        try await serve { _, client async throws in
            #expect(try status(client, from: "192.0.2.1") == 403)
            #expect(try status(client, from: "192.0.2.2") == 200)
        }
        // An address that has become exempt is no longer banned.
        try await serve(exempt: ["192.0.2.0/24"]) { _, client async throws in
            #expect(try status(client, from: "192.0.2.1") == 200)
        }
    }

    /// The proxy and exempt addresses are never banned.
    @Test func proxiesAndExemptAddressesAreNeverBanned() async throws {
        try await serve(exempt: ["192.0.2.0/24"]) { _, client async throws in
            for address in [nil, "192.0.2.7", "127.0.0.9"] {
                for number in 0..<3 {
                    #expect(try status(client, from: address, password: "wrong\(number)") == 401)
                }
            }
            #expect(lines.all.withLock { $0 }.allSatisfy { !$0.contains("address banned") })
        }
    }

    @Test func malformedNetworksAreRefused() async throws {
        await #expect(throws: ServerError.networkMalformed("10.0.0.1/8")) {
            try await serve(exempt: ["10.0.0.1/8"]) { _, _ in }
        }
    }
}
