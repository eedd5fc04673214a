import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A server on a free port of the loopback interface; shut down when the last reference is released.
final class TestServer {
    let server: HTTPServer
    let addresses: [BoundAddress]
    /// Internal events, in order.
    let events: AsyncStream<TransportEvent>

    /// - Parameter ready: returns a response that is ready, or nil if `handler` is to respond in a task.
    convenience init(
        _ configure: (inout TransportConfiguration) -> Void = { _ in },
        ready: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        handler: @escaping @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse = TestServer.echo
    ) throws {
        try self.init(configure) { request throws(HTTPError) in
            if let response = ready(request) { return .ready(response) }
            return .pending { () async throws(HTTPError) in try await handler(request) }
        }
    }

    init(
        _ configure: (inout TransportConfiguration) -> Void,
        respond: @escaping @Sendable (HTTPRequest) throws(HTTPError) -> Reply
    ) throws {
        let (events, continuation) = AsyncStream<TransportEvent>.makeStream()
        self.events = events
        var configuration = TransportConfiguration(endpoints: [.init(host: "127.0.0.1", port: 0)])
        configuration.loops = 1
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.observer = { continuation.yield($0) }
        #if TLS
        if Wire.isSecure { configuration.tls = try Wire.context() }
        #endif
        configure(&configuration)
        server = HTTPServer(
            configuration: configuration, handler: ClosureHandler(body: respond),
            log: Log(level: .error))
        addresses = try server.start()
    }

    deinit { server.shutdown() }

    /// Accepts a connection once its first bytes have arrived, so that no deadline can pass before them.
    @Sendable static func acceptWithInput(_ listener: Int32) -> Socket.AcceptOutcome {
        switch Socket.accept(from: listener) {
        case .accepted(let socket, let peer):
            var wanted = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&wanted, 1, -1) < 0, errno == EINTR {}
            return .accepted(socket, peer)
        case .wouldBlock: return .wouldBlock
        case .passed: return .passed
        case .exhausted: return .exhausted
        }
    }

    func connect(receiveBuffer: Int32? = nil, secured: Bool? = nil) throws -> Peer {
        try Peer(addresses[0], receiveBuffer: receiveBuffer, secured: secured)
    }

    /// Waits for an event.
    func wait(for wanted: TransportEvent) async {
        for await event in events where event == wanted { return }
    }

    /// Responds with the method, path and content of the request.
    @Sendable static func echo(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let content = try await read(request)
        let path = String(decoding: request.target.rawPath, as: UTF8.self)
        let text = "\(request.method.rawValue) \(path) \(String(decoding: content, as: UTF8.self))"
        return HTTPResponse(status: .ok, body: .bytes(Array(text.utf8)))
    }

    /// Returns the whole content, read in pieces of a prime size.
    static func read(_ request: HTTPRequest) async throws(HTTPError) -> [UInt8] {
        let buffer = IOBuffer(capacity: 1021)
        var content: [UInt8] = []
        while try await request.body.read(into: buffer) > 0 {
            unsafe buffer.withBytes { unsafe content.append(contentsOf: $0) }
            buffer.removeAll()
        }
        return content
    }
}

extension TestServer {
    /// Returns the whole content, read through a buffer of `capacity` bytes that is filled before it is
    /// emptied.
    static func readFilling(_ request: HTTPRequest, _ capacity: Int) async throws(HTTPError) -> [UInt8] {
        let buffer = IOBuffer(capacity: capacity)
        var content: [UInt8] = []
        while try await request.body.read(into: buffer) > 0 {
            guard buffer.freeCount == 0 else { continue }
            unsafe buffer.withBytes { unsafe content.append(contentsOf: $0) }
            buffer.removeAll()
        }
        unsafe buffer.withBytes { unsafe content.append(contentsOf: $0) }
        return content
    }
}

private struct ClosureHandler: Handler {
    let body: @Sendable (HTTPRequest) throws(HTTPError) -> Reply

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { try body(request) }
}

/// A gate that opens once and that tasks can wait for.
final class AsyncSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async {
        for await _ in stream {}
    }
}
