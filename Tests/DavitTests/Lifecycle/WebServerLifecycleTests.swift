import Davit
import DavitControl
import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// The state of a server that survives suspension and restarts, tested through `WebServer`.
@Suite(.timeLimit(.minutes(15)))
struct WebServerLifecycleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = [LoopbackAddress.own()]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return configuration
    }

    private func makeShare() throws -> WebServer {
        _ = try ExclusiveFolder(path: folder.path + "/share")
        let share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        return try WebServer(share, configuration: Self.configuration())
    }

    private static let lock = """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>\
        <D:locktype><D:write/></D:locktype></D:lockinfo>
        """

    @Test func w019ShareRestartsWithItsLocks() throws {
        let server = try makeShare()
        var first: [BoundAddress] = []
        for round in 0..<3 {
            let addresses = try server.start()
            if round == 0 { first = addresses }
            #expect(addresses == first)
            let client = ChangeEventClient(address: addresses[0])
            if round == 0 {
                #expect(try client.send("LOCK /a", content: Self.lock).status == 201)
            }
            #expect(try client.send("PUT /a", content: "x").status == 423)
            #expect(try client.send("PUT /b\(round)", content: "x").status == 201)
            // Requests of other commands are answered in each run.
            #expect(try ControlClient.ask(.check, in: folder.path + "/state") == .lines([]))
            server.shutdown()
            server.waitUntilStopped()
            #expect(!server.isRunning)
            #expect(server.addresses == [])
        }
    }

    /// After a stop, no thread of the old server holds resources that the new one opens.
    @Test func w019StateIsReleasedImmediately() throws {
        for _ in 0..<30 {
            let server = try makeShare()
            let client = ChangeEventClient(address: try server.start()[0])
            #expect(try client.send("PROPFIND /", ["Depth: 0"]).status == 207)
            server.shutdown()
            server.waitUntilStopped()
        }
    }

    @Test func w021ShareIsSuspendedWithItsState() async throws {
        let server = try makeShare()
        let addresses = try server.start()
        let client = ChangeEventClient(address: addresses[0])
        #expect(try client.send("LOCK /a", content: Self.lock).status == 201)
        await server.suspend()
        #expect(server.isRunning)
        #expect(!server.isListening)
        #expect(server.addresses == addresses)
        #expect(throws: (any Error).self) { try client.send("GET /") }
        #expect(try ControlClient.ask(.check, in: folder.path + "/state") == .lines([]))
        #expect(try await server.resume() == addresses)
        #expect(try client.send("PUT /a", content: "x").status == 423)
        await server.stop()
    }

    @Test func w017SecondStartIsAnError() async throws {
        let server = try WebServer(configuration: Self.configuration()) { _ in }
        try server.start()
        #expect(throws: ServerError.cannotListen(TransportError(.alreadyStarted))) { try server.start() }
        await server.stop()
        #expect(!server.isRunning)
    }

    @Test func w035AndW038EventsAreInOrder() async throws {
        let server = try WebServer(configuration: Self.configuration { $0.lifecycle.disconnectDelay = .zero })
        {
            $0.get("/") { _ in .text("here") }
        }
        var events = server.events.makeAsyncIterator()
        let addresses = try server.start()
        #expect(await events.next() == .started(addresses))
        #expect(try ChangeEventClient(address: addresses[0]).send("GET /").content == "here")
        #expect(await events.next() == .firstClientConnected)
        #expect(await events.next() == .lastClientDisconnected)
        server.applicationEnteredBackground()
        #expect(await events.next() == .suspended)
        server.applicationBecameActive()
        #expect(await events.next() == .resumed(addresses))
        await server.stop()
        #expect(await events.next() == .stopped)
    }

    @Test func w012ConnectionCallbacksAreConfigurable() async throws {
        let records = Mutex<[ConnectionRecord]>([])
        let isOpen = Atomic<Bool>(false)
        let configuration = Self.configuration {
            $0.connections.accepts = { $0.remote.isLoopback && isOpen.load(ordering: .relaxed) }
            $0.connections.closed = { record in records.withLock { $0.append(record) } }
            $0.lifecycle.disconnectDelay = .zero
        }
        let server = try WebServer(configuration: configuration) { $0.get("/") { _ in .text("here") } }
        var events = server.events.makeAsyncIterator()
        let client = ChangeEventClient(address: try server.start()[0])
        #expect((try? client.send("GET /"))?.text ?? "" == "")
        isOpen.store(true, ordering: .relaxed)
        let answer = try client.send("GET /").text
        while let event = await events.next(), event != .lastClientDisconnected {}
        #expect(records.withLock { $0.map(\.bytesSent) } == [Int64(answer.utf8.count)])
        await server.stop()
    }
}
