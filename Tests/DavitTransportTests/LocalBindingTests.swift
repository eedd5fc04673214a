import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTransport
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(15)))
struct LocalBindingTests {
    /// A path that is unique to this process.
    private let path = "/tmp/davit-local-\(getpid())-\(UInt32.random(in: 0 ... .max)).sock"

    private var isThere: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Disables TLS, because the clients in these tests do not use it on local sockets.
    private static func withoutTLS(_ configuration: inout TransportConfiguration) {
        #if TLS
        configuration.tls = nil
        #endif
    }

    private func server(
        mode: UInt32 = 0o600, endpoints: [TransportConfiguration.Endpoint] = [],
        _ change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        try TestServer {
            $0.endpoints = endpoints
            $0.localSockets = [.init(path: path, mode: mode)]
            Self.withoutTLS(&$0)
            change(&$0)
        } handler: { request throws(HTTPError) in
            HTTPResponse(status: .ok, body: .bytes(Array(request.peerAddress.utf8)))
        }
    }

    /// Sends a request over the socket and returns the response.
    private func answer() throws -> String {
        let (folder, name) = ("/tmp", String(path.dropFirst(5)))
        let connection = try LocalConnection(folder: folder, name: name, timeoutSeconds: 60)
        try connection.send(Array("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8))
        var bytes: [UInt8] = []
        while true {
            let piece = try connection.receive()
            if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece
        }
    }

    @Test func localSocketIsServedAndRemoved() throws {
        let server = try server()
        #expect(server.addresses == [BoundAddress(path: path)])
        let name = path.dropFirst(5)
        #expect(server.addresses[0].url() == "http+unix://%2Ftmp%2F\(name)/")
        for _ in 0..<3 { #expect(try answer().hasSuffix("\r\n\r\nunix:")) }
        server.server.shutdown()
        server.server.waitUntilStopped()
        #expect(!isThere)
    }

    @Test func localSocketAndInternetAddressesCoexist() throws {
        let server = try server(endpoints: [.init(host: "127.0.0.1", port: 0)])
        #expect(server.addresses.map(\.path) == [nil, path])
        let peer = try server.connect(secured: false)
        try peer.send(RequestTests.get)
        #expect(try peer.response().text == "127.0.0.1")
        #expect(try answer().hasSuffix("unix:"))
        server.server.shutdown()
        server.server.waitUntilStopped()
    }

    @Test func socketInUseIsReportedAndKept() throws {
        let first = try server()
        #expect(throws: TransportError(.inUse, host: path)) { try server() }
        #expect(try answer().hasSuffix("unix:"))
        first.server.shutdown()
        first.server.waitUntilStopped()
    }

    @Test func otherFileIsReportedAndKept() throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        defer { unsafe unlink(path) }
        let error = TransportError(.notASocket, host: path)
        #expect(throws: error) { try server() }
        #expect(error.description == "\(path) exists and is not a socket")
        #expect(isThere)
    }

    /// If another error prevents the start, the socket file is removed.
    @Test func failedStartRemovesTheSocket() throws {
        let taken = try TestServer()
        let port = taken.addresses[0].port
        #expect(throws: TransportError.self) { try server(endpoints: [.init(host: "127.0.0.1", port: port)]) }
        #expect(!isThere)
        #expect(throws: TransportError.self) {
            try server { $0.localSockets.append(.init(path: "/tmp/davit-missing-folder/s")) }
        }
        #expect(!isThere)
    }

    /// All clients of a local socket can have the same peer, for example a proxy.
    @Test func localSocketHasNoLimitPerPeer() throws {
        let server = try server { $0.maxConnectionsPerAddress = 1 }
        let name = String(path.dropFirst(5))
        let idle = try LocalConnection(folder: "/tmp", name: name, timeoutSeconds: 60)
        let other = try LocalConnection(folder: "/tmp", name: name, timeoutSeconds: 60)
        #expect(try answer().hasSuffix("unix:"))
        #expect(idle.number >= 0 && other.number >= 0)
        server.server.shutdown()
        server.server.waitUntilStopped()
    }

    @Test func inheritedSocketsAreServed() throws {
        let internet = try Socket.listen(on: .ipv4Loopback(port: 0), backlog: 16)
        let port = try Socket.localAddress(of: internet.rawValue).port
        var file: LocalSocketFile?
        let local = try LocalSocketFile.listen(path: path, mode: 0o600, backlog: 16, file: &file)
        let numbers = [internet.rawValue, local.rawValue]
        // Inherited sockets can be used again by a second server.
        for _ in 0..<2 {
            let server = try TestServer {
                $0.endpoints = []
                $0.inheritedSockets = numbers
                Self.withoutTLS(&$0)
            } handler: { request throws(HTTPError) in
                HTTPResponse(status: .ok, body: .bytes(Array(request.peerAddress.utf8)))
            }
            #expect(
                server.addresses == [BoundAddress(host: "127.0.0.1", port: port), BoundAddress(path: path)])
            let peer = try server.connect(secured: false)
            try peer.send(RequestTests.get)
            #expect(try peer.response().text == "127.0.0.1")
            #expect(try answer().hasSuffix("unix:"))
            server.server.shutdown()
            server.server.waitUntilStopped()
        }
        // The socket file belongs to its creator, so the server does not remove it.
        #expect(isThere && internet.rawValue >= 0 && local.rawValue >= 0)
        file?.remove()
    }

    @Test func socketThatDoesNotListenIsRefused() throws {
        let listener = try Socket.listen(on: .ipv4Loopback(port: 0), backlog: 1)
        let client = try Socket.connect(to: try Socket.localAddress(of: listener.rawValue))
        #expect(throws: TransportError(.notListening, host: "\(client.rawValue)")) {
            try TestServer {
                $0.endpoints = []
                $0.inheritedSockets = [client.rawValue]
            }
        }
    }

    @Test func willStopIsCalledOnce() async throws {
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        let server = try TestServer { $0.willStop = { continuation.yield() } }
        server.server.shutdown()
        server.server.shutdown()
        server.server.waitUntilStopped()
        continuation.finish()
        var count = 0
        for await _ in ends { count += 1 }
        #expect(count == 1)
    }

    @Test func runningLoopCallsTheHeartbeat() async throws {
        let (beats, continuation) = AsyncStream<Void>.makeStream()
        let server = try TestServer { $0.heartbeat = (.milliseconds(1), { continuation.yield() }) }
        var iterator = beats.makeAsyncIterator()
        for _ in 0..<2 { _ = await iterator.next() }
        server.server.shutdown()
        server.server.waitUntilStopped()
    }

    /// The access log contains the client behind a trusted proxy, and the number of bytes received from it.
    @Test func accessLogNamesTheClientBehindAProxy() async throws {
        let (records, continuation) = AsyncStream<AccessRecord>.makeStream()
        let echo = Echo().applying(TrustedProxies(networks: [try #require(IPNetwork("127.0.0.1"))]))
        let server = try TestServer {
            $0.accessLog = { continuation.yield($0) }
        } handler: { request throws(HTTPError) in
            try await echo.respond(to: request).response()
        }
        let peer = try server.connect()
        let fields = "Host: h\r\nX-Forwarded-For: 192.0.2.1\r\n"
        try peer.send("PUT /a HTTP/1.1\r\n\(fields)Content-Length: 3\r\n\r\nabc")
        #expect(try peer.response().status == 200)
        try peer.send(
            "PUT /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        #expect(try peer.response().status == 200)
        var iterator = records.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.peer == "192.0.2.1" && first.bytesReceived == 3 && first.bytesSent == 10)
        // The second request on the connection has no forwarded address.
        let second = try #require(await iterator.next())
        #expect(second.peer == "127.0.0.1" && second.bytesReceived == 5)
        #expect(first.target == Array("/a".utf8) && second.target == Array("/b".utf8))
    }

    private struct Echo: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .pending { () async throws(HTTPError) in try await TestServer.echo(request) }
        }
    }
}
