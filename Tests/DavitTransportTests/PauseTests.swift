import DavitHTTP
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Pausing and resuming listening while the server is running.
@Suite(.timeLimit(.minutes(15)))
struct PauseTests {
    private static func server() throws -> TestServer {
        try BindingTests.server([.init(host: LoopbackAddress.own(), port: 0)])
    }

    private static func pause(_ server: TestServer) async {
        let isClosed = AsyncSignal()
        server.server.pauseListening { isClosed.open() }
        await isClosed.wait()
    }

    private static func expectAnswer(_ peer: Peer) throws {
        try peer.send(RequestTests.get)
        #expect(try peer.response().text == "GET /a ")
    }

    @Test func openConnectionsContinueAndNewOnesAreRefused() async throws {
        let server = try BindingTests.server([LoopbackAddress.own(), "::1"].map { .init(host: $0, port: 0) })
        let open = try server.connect()
        try Self.expectAnswer(open)
        for _ in 0..<3 {
            await Self.pause(server)
            for address in server.addresses {
                #expect(throws: (any Error).self) { try Peer(address) }
            }
            try Self.expectAnswer(open)
            try server.server.resumeListening()
            for address in server.addresses { try Self.expectAnswer(try Peer(address)) }
            try Self.expectAnswer(open)
        }
    }

    /// Before a connection is accepted, the system has already established it, and the peer may have sent a
    /// request.
    @Test func pendingConnectionIsAcceptedBeforeThePause() async throws {
        let server = try Self.server()
        let peers = try (0..<20).map { _ in try server.connect() }
        await Self.pause(server)
        for peer in peers { try Self.expectAnswer(peer) }
    }

    @Test func invalidPauseAndResumeAreErrors() async throws {
        let server = try Self.server()
        #expect(throws: TransportError(.alreadyStarted)) { try server.server.resumeListening() }
        await Self.pause(server)
        await Self.pause(server)
        try server.server.resumeListening()
        #expect(throws: TransportError(.alreadyStarted)) { try server.server.resumeListening() }
        try Self.expectAnswer(try server.connect())
        server.server.shutdown()
        server.server.waitUntilStopped()
        #expect(throws: TransportError(.notRunning)) { try server.server.resumeListening() }
    }

    @Test func portInUseIsReportedAndResumeCanBeRetried() async throws {
        let server = try Self.server()
        let (host, port) = (server.addresses[0].host, server.addresses[0].port)
        await Self.pause(server)
        do {
            let other = try BindingTests.server([.init(host: host, port: port)])
            #expect(throws: TransportError(.inUse, host: host, port: port)) {
                try server.server.resumeListening()
            }
            other.server.shutdown()
            other.server.waitUntilStopped()
        }
        try server.server.resumeListening()
        try Self.expectAnswer(try server.connect())
    }

    /// A copy of the descriptor remains open, as in a forked child process until it calls exec.
    @Test func portIsFreeDespiteACopiedDescriptor() async throws {
        let server = try Self.server()
        let copy = try Self.copyOfListener(at: server.addresses[0])
        await Self.pause(server)
        try server.server.resumeListening()
        try Self.expectAnswer(try server.connect())
        _ = copy
    }

    private static func copyOfListener(at address: BoundAddress) throws -> FileDescriptor {
        let local = try SocketAddress.lookUp(host: address.host, port: address.port)[0]
        for number in 3..<Int32(clamping: ResourceLimits.descriptorLimit) {
            guard let copy = try? Socket.adoptListener(number) else { continue }
            if try Socket.localAddress(of: copy.rawValue) == local { return copy }
        }
        throw TransportError(.notListening, host: address.host, port: address.port)
    }

    @Test func pausedServerCanBeStopped() async throws {
        let server = try TestServer {
            $0.loops = 2
            $0.endpoints = [.init(host: LoopbackAddress.own(), port: 0)]
        }
        await Self.pause(server)
        server.server.shutdown()
        server.server.waitUntilStopped()
        #expect(throws: (any Error).self) { try server.connect() }
    }

    @Test func dismissedConnectionsEndAndNewOnesAreAccepted() async throws {
        let hasBegun = AsyncSignal()
        let mayEnd = AsyncSignal()
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            if request.method == .get { return try await TestServer.echo(request) }
            hasBegun.open()
            await mayEnd.wait()
            return HTTPResponse(status: .created)
        }
        let silent = try server.connect()
        let idle = try server.connect()
        try Self.expectAnswer(idle)
        let busy = try server.connect()
        try busy.send(RequestTests.put)
        await hasBegun.wait()
        server.server.dismissConnections()
        #expect(try silent.rest() == [])
        #expect(try idle.rest() == [])
        try Self.expectAnswer(try server.connect())
        mayEnd.open()
        let response = try busy.response()
        #expect(response.status == 201)
        #expect(response["connection"] == "close")
        #expect(try busy.rest() == [])
    }

    /// A port that the system selected for port 0 is used again (W001 and W019 in
    /// docs/coming-from-gcdwebserver.md).
    @Test func serverRestartsOnThePreviousPort() throws {
        let server = try TestServer { $0.endpoints = [.init(host: "localhost", port: 0)] }
        for _ in 0..<3 {
            for address in server.addresses { try Self.expectAnswer(try Peer(address)) }
            #expect(throws: TransportError(.alreadyStarted)) { try server.server.start() }
            server.server.shutdown()
            server.server.waitUntilStopped()
            #expect(throws: (any Error).self) { try server.connect() }
            #expect(try server.server.start() == server.addresses)
        }
        try Self.expectAnswer(try server.connect())
    }

    @Test func anotherPortIsChosenIfThePreviousIsTaken() throws {
        let server = try Self.server()
        server.server.shutdown()
        server.server.waitUntilStopped()
        let taken = server.addresses[0]
        let other = try BindingTests.server([.init(host: taken.host, port: taken.port)])
        let addresses = try server.server.start()
        #expect(addresses[0].port != other.addresses[0].port)
        try Self.expectAnswer(try Peer(addresses[0]))
    }
}
