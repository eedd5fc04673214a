import DavitControl
import DavitSystem
import DavitTesting
import Testing

struct ControlServerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs `body` with a server that responds with one line, the text of the request.
    private func withServer(timeoutSeconds: Int = 60, _ body: () throws -> Void) throws {
        let server = try ControlServer(folder: folder.path, timeoutSeconds: timeoutSeconds) {
            .lines([$1 == LocalConnection.ownUser ? $0.text : ""])
        }
        defer { server.stop() }
        try body()
    }

    private func connect() throws -> LocalConnection {
        try LocalConnection(folder: folder.path, name: ControlServer.fileName, timeoutSeconds: 60)
    }

    /// Reads until the connection closes.
    private func rest(of connection: borrowing LocalConnection) throws -> String {
        var received: [UInt8] = []
        while let bytes = try? connection.receive(), !bytes.isEmpty { received += bytes }
        return String(decoding: received, as: UTF8.self)
    }

    @Test func consecutiveConnectionsAreServed() throws {
        try withServer { () throws in
            for _ in 0..<20 {
                #expect(try ControlClient.ask(.check, in: folder.path) == .lines(["check"]))
            }
        }
    }

    @Test func connectionIsClosedAfterTheResponse() throws {
        try withServer { () throws in
            let connection = try connect()
            for byte in ControlRequest.check.bytes { try connection.send([byte]) }
            #expect(try rest(of: connection) == "ok 1\ncheck\n")
        }
    }

    struct BadRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let why: ControlRequest.Refusal

        init(_ description: String, _ bytes: [UInt8], _ why: ControlRequest.Refusal) {
            testDescription = description
            self.bytes = bytes
            self.why = why
        }
    }

    static let bad = [
        BadRequest("unknown", Array("erase\n".utf8), .unknown),
        BadRequest("two lines", Array("check\nerase\n".utf8), .more),
        BadRequest("endless line", [UInt8](repeating: 0x61, count: ControlRequest.limitBytes), .tooLong),
        BadRequest(
            "long line", [UInt8](repeating: 0x61, count: 2 * ControlRequest.limitBytes) + [10], .tooLong),
        BadRequest("not UTF-8", [0xFF, 0x0A], .unknown),
    ]

    @Test(arguments: bad)
    func refusalStatesItsReason(row: BadRequest) throws {
        let (bytes, why) = (row.bytes, row.why)
        try withServer { () throws in
            let connection = try connect()
            try connection.send(bytes)
            #expect(try rest(of: connection) == "refused \(why.rawValue)\n")
            #expect(try ControlClient.ask(.check, in: folder.path) == .lines(["check"]))
        }
    }

    /// Other connections wait no longer than the server's timeout. The timeout also applies to the second
    /// request, which the test repeats if it arrives too late.
    @Test(.timeLimit(.minutes(15))) func silentClientTimesOut() throws {
        try withServer(timeoutSeconds: 1) { () throws in
            let silent = try connect()
            // Fails if the server has closed the connection already.
            try? silent.send(Array("che".utf8))
            let refused = ControlResponse.refused(reason: "timed out waiting for the request")
            var response = refused
            while response == refused { response = try ControlClient.ask(.check, in: folder.path) }
            #expect(response == .lines(["check"]))
            #expect(try rest(of: silent) == "refused timed out waiting for the request\n")
        }
    }

    @Test func shutdownDisconnectsClientsAndRemovesTheSocket() throws {
        let server = try ControlServer(folder: folder.path, timeoutSeconds: 3600) { _, _ in .lines([]) }
        let silent = try connect()
        server.stop()
        server.stop()
        // The client receives a response only if the server had accepted the connection.
        _ = try rest(of: silent)
        #expect(throws: ControlClient.Problem.notListening) {
            try ControlClient.ask(.check, in: folder.path)
        }
        #expect(throws: SystemError.self) {
            try ExclusiveFolder.canonical(folder.path + "/" + ControlServer.fileName)
        }
    }

    /// A truncated response must not be read as "ok".
    @Test(arguments: ["", "o", "ok 0", "ok 2\none\n", "refused becau"])
    func truncatedResponseIsRejected(answer: String) throws {
        let server = try DyingServer(folder: folder.path, answer: answer)
        try SystemThread.start(named: "dying-server") { server.run() }
        #expect(throws: ControlClient.Problem.disconnected) {
            try ControlClient.ask(.check, in: folder.path)
        }
    }

    @Test func malformedResponseIsRejected() throws {
        let server = try DyingServer(folder: folder.path, answer: "HTTP/1.1 400 Bad Request\r\n")
        try SystemThread.start(named: "dying-server") { server.run() }
        #expect(throws: ControlClient.Problem.malformed) {
            try ControlClient.ask(.check, in: folder.path)
        }
    }

    static let users: [(peer: UInt32?, own: UInt32, may: Bool)] = [
        (1000, 1000, true), (0, 1000, true), (0, 0, true), (1001, 1000, false), (1000, 0, false),
        (nil, 1000, false), (nil, 0, false),
    ]

    @Test(arguments: users)
    func onlyTheOwnUserAndRootMayConnect(peer: UInt32?, own: UInt32, may: Bool) {
        #expect(ControlServer.mayAsk(peer, own: own) == may)
    }
}

/// Accepts one request, sends a part of a response, and closes the connection.
private final class DyingServer: Sendable {
    private let listener: LocalListener
    private let queue: SystemEventQueue
    private let answer: String

    init(folder: String, answer: String) throws {
        listener = try LocalListener(folder: folder, name: ControlServer.fileName)
        queue = try SystemEventQueue()
        try queue.watchAccepting(listener.number, token: 0)
        self.answer = answer
    }

    func run() {
        while queue.wait(milliseconds: -1) == 0 {}
        guard let connection = try? listener.accept() else { return }
        _ = try? connection.receive()
        try? connection.send(Array(answer.utf8))
    }
}
