import Davit
import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// The life cycle of a server with sockets.
@Suite(.timeLimit(.minutes(15)))
struct LifecycleControllerTests {
    /// A server that answers all requests with 204.
    private final class Bench {
        let lifecycleController: LifecycleController
        let http: HTTPServer
        private var events: ServerEvents.Iterator

        init(_ options: Configuration.LifecycleOptions = .init(), host: String = LoopbackAddress.own()) {
            let lifecycleController = LifecycleController(options)
            var transport = TransportConfiguration(endpoints: [.init(host: host, port: 0)])
            transport.loops = 2
            transport.grace = .zero
            transport.deadlines = .ofTests
            transport.occupancy = { [weak lifecycleController] in lifecycleController?.occupancyChanged($0) }
            transport.didStop = { [weak lifecycleController] in lifecycleController?.didStop() ?? {} }
            http = HTTPServer(configuration: transport, handler: NoContent(), log: Log(level: .error))
            lifecycleController.attach(http)
            self.lifecycleController = lifecycleController
            events = lifecycleController.observe().makeAsyncIterator()
        }

        deinit { lifecycleController.stop() }

        func start() throws -> [BoundAddress] { try lifecycleController.start {} }

        func event() async -> ServerEvent? { await events.next() }
    }

    private struct NoContent: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .ready(HTTPResponse(status: .noContent))
        }
    }

    private static var withoutDelay: Configuration.LifecycleOptions {
        var options = Configuration.LifecycleOptions()
        options.disconnectDelay = .zero
        return options
    }

    private static func connect(_ address: BoundAddress) throws -> FileDescriptor {
        let target = try #require(try SocketAddress.lookUp(host: address.host, port: address.port).first)
        let socket = try Socket.connect(to: target)
        try Socket.setTimeout(socket.rawValue, seconds: 300)
        return socket
    }

    /// Sends a request and reads the response, so that the connection is known to be open.
    private static func expectAnswer(_ socket: borrowing FileDescriptor) throws {
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        _ = unsafe request.withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
        var answer = [UInt8](repeating: 0, count: 1024)
        let outcome = unsafe answer.withUnsafeMutableBytes {
            unsafe Socket.receive(socket.rawValue, into: $0)
        }
        guard case .bytes(let count) = outcome else {
            Issue.record("received no response: \(outcome)")
            return
        }
        #expect(String(decoding: answer[..<count], as: UTF8.self).hasPrefix("HTTP/1.1 204 "))
    }

    @Test("W023 and W036 the name under which the server is announced is an event")
    func w023w036AnnouncedNameIsAnEvent() async throws {
        let bench = Bench()
        let addresses = try bench.start()
        bench.lifecycleController.announced(as: "Office (2)")
        #expect(await bench.event() == .started(addresses))
        #expect(await bench.event() == .announced(name: "Office (2)"))
    }

    @Test func hookIsCalledWhenTheServerBeginsAndStopsToListen() async throws {
        let bench = Bench()
        let calls = Monitor<[[BoundAddress]]>([])
        bench.lifecycleController.onListening { addresses in calls.withLock { $0.append(addresses) } }
        let addresses = try bench.start()
        await bench.lifecycleController.suspend()
        _ = try await bench.lifecycleController.resume()
        #expect(calls.withLock { $0 } == [addresses, [], addresses])
    }

    @Test func w017SecondStartIsAnError() throws {
        let bench = Bench()
        let addresses = try bench.start()
        #expect(bench.lifecycleController.isRunning)
        #expect(bench.lifecycleController.addresses == addresses)
        #expect(throws: TransportError(.alreadyStarted)) { try bench.start() }
        try Self.expectAnswer(try Self.connect(addresses[0]))
    }

    @Test func w019AndW035RestartUsesTheSamePort() async throws {
        let bench = Bench()
        var addresses: [BoundAddress] = []
        for round in 0..<3 {
            let now = try bench.start()
            if round > 0 { #expect(now == addresses) }
            addresses = now
            #expect(await bench.event() == .started(addresses))
            bench.lifecycleController.stop()
            bench.lifecycleController.waitUntilStopped()
            #expect(!bench.lifecycleController.isRunning)
            #expect(bench.lifecycleController.addresses == [])
            #expect(await bench.event() == .stopped)
            #expect(throws: (any Error).self) { _ = try Self.connect(addresses[0]) }
        }
    }

    /// An observer can restart the server as soon as it is notified of the stop.
    @Test func observerCanRestartOnTheStoppedEvent() async throws {
        let bench = Bench()
        for _ in 0..<5 {
            let addresses = try bench.start()
            #expect(await bench.event() == .started(addresses))
            bench.lifecycleController.stop()
            #expect(await bench.event() == .stopped)
        }
    }

    @Test func failedStartCanBeRetried() async throws {
        let first = Bench()
        let address = try first.start()[0]
        var transport = TransportConfiguration(endpoints: [.init(host: address.host, port: address.port)])
        transport.loops = 1
        let lifecycleController = LifecycleController(.init())
        transport.didStop = { [weak lifecycleController] in lifecycleController?.didStop() ?? {} }
        lifecycleController.attach(
            HTTPServer(configuration: transport, handler: NoContent(), log: Log(level: .error)))
        #expect(throws: TransportError(.inUse, host: address.host, port: address.port)) {
            try lifecycleController.start {}
        }
        #expect(!lifecycleController.isRunning)
        lifecycleController.waitUntilStopped()
        first.lifecycleController.stop()
        first.lifecycleController.waitUntilStopped()
        #expect(try lifecycleController.start(prepare: {}) == [address])
        lifecycleController.stop()
        lifecycleController.waitUntilStopped()
    }

    @Test func w021SuspendAndResumeKeepThePort() async throws {
        let bench = Bench()
        let addresses = try bench.start()
        #expect(await bench.event() == .started(addresses))
        for _ in 0..<3 {
            await bench.lifecycleController.suspend()
            #expect(bench.lifecycleController.isRunning)
            #expect(!bench.lifecycleController.isListening)
            #expect(throws: (any Error).self) { _ = try Self.connect(addresses[0]) }
            #expect(await bench.event() == .suspended)
            #expect(try await bench.lifecycleController.resume() == addresses)
            #expect(bench.lifecycleController.isListening)
            #expect(await bench.event() == .resumed(addresses))
        }
        try Self.expectAnswer(try Self.connect(addresses[0]))
    }

    @Test func w038FirstAndLastConnectionAreReported() async throws {
        let bench = Bench(Self.withoutDelay)
        let addresses = try bench.start()
        #expect(await bench.event() == .started(addresses))
        for _ in 0..<3 {
            do {
                let first = try Self.connect(addresses[0])
                try Self.expectAnswer(first)
                #expect(await bench.event() == .firstClientConnected)
                do { try Self.expectAnswer(try Self.connect(addresses[0])) }
                // The first connection is still open, so the last client has not disconnected.
                try Self.expectAnswer(first)
            }
            #expect(await bench.event() == .lastClientDisconnected)
        }
    }

    /// A nonzero delay requires a timer of the event loop.
    @Test func w014LastDisconnectionIsReportedAfterTheDelay() async throws {
        var options = Configuration.LifecycleOptions()
        options.disconnectDelay = .milliseconds(1)
        let bench = Bench(options)
        let addresses = try bench.start()
        #expect(await bench.event() == .started(addresses))
        for _ in 0..<2 {
            do { try Self.expectAnswer(try Self.connect(addresses[0])) }
            #expect(await bench.event() == .firstClientConnected)
            #expect(await bench.event() == .lastClientDisconnected)
        }
    }

    @Test func w014StopDoesNotWaitForTheDelay() async throws {
        var options = Configuration.LifecycleOptions()
        options.disconnectDelay = .seconds(3600)
        let bench = Bench(options)
        let addresses = try bench.start()
        do { try Self.expectAnswer(try Self.connect(addresses[0])) }
        bench.lifecycleController.stop()
        var events: [ServerEvent?] = []
        for _ in 0..<4 { events.append(await bench.event()) }
        #expect(events == [.started(addresses), .firstClientConnected, .lastClientDisconnected, .stopped])
    }

    @Test func w016BackgroundServerListensWhileClientsAreConnected() async throws {
        let bench = Bench(Self.withoutDelay)
        let addresses = try bench.start()
        #expect(await bench.event() == .started(addresses))
        do {
            let client = try Self.connect(addresses[0])
            try Self.expectAnswer(client)
            #expect(await bench.event() == .firstClientConnected)
            bench.lifecycleController.send(.enteredBackground)
            #expect(bench.lifecycleController.needsBackgroundTime)
            try Self.expectAnswer(try Self.connect(addresses[0]))
            try Self.expectAnswer(client)
        }
        #expect(await bench.event() == .lastClientDisconnected)
        #expect(await bench.event() == .suspended)
        #expect(!bench.lifecycleController.needsBackgroundTime)
        #expect(bench.lifecycleController.isRunning)
        #expect(throws: (any Error).self) { _ = try Self.connect(addresses[0]) }
        bench.lifecycleController.send(.becameActive)
        #expect(await bench.event() == .resumed(addresses))
        try Self.expectAnswer(try Self.connect(addresses[0]))
    }

    @Test func w016IdleConnectionsEndWithTheBackgroundTime() async throws {
        let bench = Bench(Self.withoutDelay)
        let addresses = try bench.start()
        let client = try Self.connect(addresses[0])
        try Self.expectAnswer(client)
        bench.lifecycleController.send(.enteredBackground)
        bench.lifecycleController.send(.backgroundTimeEnded)
        var rest = [UInt8](repeating: 0, count: 16)
        let outcome = unsafe rest.withUnsafeMutableBytes { unsafe Socket.receive(client.rawValue, into: $0) }
        #expect(outcome == .ended)
        var events: Set<ServerEvent?> = []
        for _ in 0..<4 { events.insert(await bench.event()) }
        #expect(events == [.started(addresses), .firstClientConnected, .lastClientDisconnected, .suspended])
    }

    @Test func portInUseIsReportedAndResumeCanBeRetried() async throws {
        let bench = Bench()
        let addresses = try bench.start()
        await bench.lifecycleController.suspend()
        var events: [ServerEvent?] = [await bench.event(), await bench.event()]
        #expect(events == [.started(addresses), .suspended])
        let (host, port) = (addresses[0].host, addresses[0].port)
        let failure = TransportError(.inUse, host: host, port: port)
        do {
            let other = try Socket.listen(on: SocketAddress.lookUp(host: host, port: port)[0], backlog: 1)
            await #expect(throws: failure) { try await bench.lifecycleController.resume() }
            bench.lifecycleController.send(.becameActive)
            _ = consume other
        }
        events = [await bench.event(), await bench.event()]
        #expect(events == [.resumeFailed(failure), .resumeFailed(failure)])
        #expect(bench.lifecycleController.isRunning)
        #expect(try await bench.lifecycleController.resume() == addresses)
    }

    @Test func resumingAStoppedServerIsAnError() async throws {
        let bench = Bench()
        await bench.lifecycleController.suspend()
        await #expect(throws: TransportError(.notRunning)) { try await bench.lifecycleController.resume() }
    }

    @Test func lateObserverReceivesOnlyLaterEvents() async throws {
        let bench = Bench(Self.withoutDelay)
        let addresses = try bench.start()
        var later: ServerEvents.Iterator
        do {
            let client = try Self.connect(addresses[0])
            try Self.expectAnswer(client)
            later = bench.lifecycleController.observe().makeAsyncIterator()
        }
        #expect(await later.next() == .lastClientDisconnected)
    }
}
