import DavitHTTP
import DavitSystem
import DavitTransport
import Testing

/// Pausing and resuming listening while the server is running.
@Suite(.timeLimit(.minutes(15)))
struct PauseTests {
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
        let server = try BindingTests.server([.init(host: "localhost", port: 0)])
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
        let server = try TestServer()
        let peers = try (0..<20).map { _ in try server.connect() }
        await Self.pause(server)
        for peer in peers { try Self.expectAnswer(peer) }
    }

    @Test func invalidPauseAndResumeAreErrors() async throws {
        let server = try TestServer()
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
        let server = try TestServer()
        let port = server.addresses[0].port
        await Self.pause(server)
        do {
            let other = try BindingTests.server([.init(host: "127.0.0.1", port: port)])
            #expect(throws: TransportError(.inUse, host: "127.0.0.1", port: port)) {
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
        let server = try TestServer()
        let port = server.addresses[0].port
        let copy = try Self.copyOfListener(at: port)
        await Self.pause(server)
        try server.server.resumeListening()
        try Self.expectAnswer(try server.connect())
        _ = copy
    }

    private static func copyOfListener(at port: UInt16) throws -> FileDescriptor {
        for number in 3..<Int32(clamping: ResourceLimits.descriptorLimit) {
            guard let copy = try? Socket.adoptListener(number) else { continue }
            if try Socket.localAddress(of: copy.rawValue).port == port { return copy }
        }
        throw TransportError(.notListening, host: "127.0.0.1", port: port)
    }

    @Test func pausedServerCanBeStopped() async throws {
        let server = try TestServer { $0.loops = 2 }
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
        let server = try TestServer()
        server.server.shutdown()
        server.server.waitUntilStopped()
        let other = try BindingTests.server([.init(host: "127.0.0.1", port: server.addresses[0].port)])
        let addresses = try server.server.start()
        #expect(addresses[0].port != other.addresses[0].port)
        try Self.expectAnswer(try Peer(addresses[0]))
    }
}
