import Davit
import DavitLogging
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// A server behind proxies, its inherited sockets, and its logs, tested through `WebServer`.
struct DeploymentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func configuration(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return configuration
    }

    private static func whoIs(_ routes: inout Routes) {
        routes.get("/who") { request in
            .text("\(request.peerAddress) \(request.isSecure) \(request.host?.port ?? 0)")
        }
        routes.get("/fail") { _ in throw Broken() }
    }

    private struct Broken: Error {}

    private func serve(
        _ configuration: Configuration, _ body: (WebServer, ChangeEventClient) throws -> Void
    ) throws {
        let server = try WebServer(configuration: configuration, Self.whoIs)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, ChangeEventClient(address: try #require(addresses.first)))
    }

    static let fields = [
        "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: localhost:99",
    ]

    @Test(arguments: [
        ([], "127.0.0.1 false 0"), (["192.0.2.7"], "127.0.0.1 false 0"), (["unix"], "127.0.0.1 false 0"),
        (["127.0.0.1"], "192.0.2.1 true 99"), (["10.0.0.0/8", "127.0.0.0/8"], "192.0.2.1 true 99"),
    ])
    func onlyTrustedProxiesAreBelieved(trusted: [String], answer: String) throws {
        try serve(Self.configuration { $0.proxies.trusted = trusted }) { _, client throws in
            #expect(try client.send("GET /who", Self.fields).content == answer)
        }
    }

    @Test func invalidProxiesAreRefused() {
        #expect(throws: ServerError.trustedProxyMalformed("localhost")) {
            _ = try WebServer(
                configuration: Self.configuration { $0.proxies.trusted = ["localhost"] }, Self.whoIs)
        }
    }

    @Test func trustedUnixSocketPeerProvidesTheOrigin() throws {
        let path = folder.path + "/s"
        let configuration = Self.configuration {
            $0.hosts = []
            $0.unixSocket = .init(path: path)
            $0.proxies.trusted = ["unix"]
        }
        let server = try WebServer(configuration: configuration, Self.whoIs)
        #expect(try server.start() == [BoundAddress(path: path)])
        let connection = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 60)
        let head = ["GET /who HTTP/1.1", "Host: localhost", "Connection: close"] + Self.fields
        try connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var answer: [UInt8] = []
        while let piece = try? connection.receive(), !piece.isEmpty { answer += piece }
        #expect(String(decoding: answer, as: UTF8.self).hasSuffix("\r\n\r\n192.0.2.1 true 99"))
        server.shutdown()
        server.waitUntilStopped()
    }

    /// An inherited socket that is reachable from other machines is refused if there are no accounts.
    @Test func publicInheritedSocketRequiresAccounts() throws {
        let socket = try Socket.listen(on: .ipv4Any(port: 0), backlog: 1)
        let number = socket.rawValue
        #expect(throws: ServerError.accountsNeeded(host: "0.0.0.0")) {
            _ = try WebServer(
                configuration: Self.configuration { $0.inheritedSockets = [number] }, Self.whoIs)
        }
        #expect(try Socket.localAddress(of: socket.rawValue).port != 0)
    }

    // A process opens its sockets while it is root, and the server after it has become another user.
    @Test func socketsOpenedInAdvanceAreServed() throws {
        var configuration = Self.configuration { $0.hosts = ["127.0.0.1", "localhost"] }
        try configuration.openSockets()
        let sockets = configuration.inheritedSockets
        #expect(!sockets.isEmpty)
        try configuration.openSockets()
        #expect(configuration.inheritedSockets == sockets)
        try serve(configuration) { server, client throws in
            #expect(try client.send("GET /who").status == 200)
            #expect(server.addresses.count == sockets.count)
            #expect(Set(server.addresses.map(\.port)).count == 1)
        }
    }

    @Test func portInUseIsReportedInAdvance() throws {
        let socket = try Socket.listen(on: .ipv4Loopback(port: 0), backlog: 1)
        let port = try Socket.localAddress(of: socket.rawValue).port
        var configuration = Self.configuration { $0.port = port }
        let error = ServerError.cannotListen(TransportError(.inUse, host: "127.0.0.1", port: port))
        #expect(throws: error) { try configuration.openSockets() }
        #expect(configuration.inheritedSockets.isEmpty)
    }

    // The response, the log and the access log contain the same request ID.
    @Test func failureHasTheSameRequestIDInAllLogs() throws {
        let path = folder.path + "/access.json"
        let entries = Mutex<[LogEntry]>([])
        let configuration = Self.configuration {
            $0.logSink = .custom { entry in entries.withLock { $0.append(entry) } }
            $0.accessLog = .init(.file(path), format: .json)
        }
        var number = ""
        try serve(configuration) { _, client throws in
            let answer = try client.send("GET /fail")
            #expect(answer.status == 500)
            number = try #require(answer["X-Request-Id"])
            #expect(try client.send("GET /who").status == 200)
        }
        let failures = entries.withLock { $0 }.filter { $0.level == .error }
        #expect(failures.count == 1)
        #expect(failures.first?.metadata.contains { $0.key == "request" && $0.value == number } == true)
        let text = String(decoding: try SmallFile(reading: path).bytes, as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix(#","request":"\#(number)"}"#) == true)
        #expect(lines.last?.contains("request") == false)
    }

    @Test func accessLogThatCannotBeOpenedIsAnError() {
        let path = folder.path + "/missing/log"
        let error = #expect(throws: ServerError.self) {
            _ = try WebServer(
                configuration: Self.configuration { $0.accessLog = .init(.file(path)) }, Self.whoIs)
        }
        guard case .accessLogNotUsable(.file(path), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
