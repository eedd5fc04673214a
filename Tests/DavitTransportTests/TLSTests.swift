#if TLS
import DavitCrypto
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// TLS-specific behavior of connections. The other suites cover the rest over TLS if `DAVIT_TEST_TLS` is set.
@Suite(.timeLimit(.minutes(15)))
struct TLSTests {
    static let get = RequestTests.get

    static func server(
        _ context: TLSContext? = nil,
        _ configure: @escaping (inout TransportConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse = TestServer.echo
    ) throws -> TestServer {
        let context = try context ?? Wire.context()
        return try TestServer(
            {
                $0.tls = context
                configure(&$0)
            }, handler: handler)
    }

    static func peer(_ server: TestServer, _ options: TLSTestClient.Options = .init()) throws -> Peer {
        try Peer(server.addresses[0], options)
    }

    @Test(arguments: [Int32(0x303), 0x304])
    func bothVersionsCarryRequests(_ version: Int32) throws {
        let server = try Self.server()
        let peer = try Self.peer(server, .init(least: version, most: version))
        for _ in 0..<3 {
            try peer.send(Self.get)
            #expect(try peer.response().text == "GET /a ")
        }
        try peer.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(try peer.response().status == 200)
        #expect(try peer.rest() == [], "the server should send close_notify (RFC 8446 §6.1)")
    }

    @Test func slowKeySignsOnAnotherThread() throws {
        let rsa = try TestCertificate.make(
            "localhost", kind: .rsa(bits: 2048), extensions: [(TestPKI.alternativeName, "DNS:localhost")])
        let context = try Wire.context(identities: [TLSIdentity(chain: rsa.chain, key: rsa.key)])
        #expect(context.handshakesSlowly)
        let server = try Self.server(context)
        for options in [TLSTestClient.Options(most: 0x303), .init(least: 0x304)] {
            let peer = try Self.peer(server, options)
            try peer.send(RequestTests.mixed)
            for answer in RequestTests.mixedAnswers { #expect(try peer.response().text == answer) }
        }
    }

    /// The network may split records anywhere, and records may split messages (RFC 8446 §5.1).
    @Test func recordsCanArriveByteByByte() throws {
        let server = try Self.server()
        for most: Int32 in [0x303, 0x304] {
            let peer = try Peer(server.addresses[0], .init(most: most), bytewise: true)
            try peer.send(RequestTests.mixed)
            for answer in RequestTests.mixedAnswers { #expect(try peer.response().text == answer) }
        }
    }

    @Test func headInOneByteRecordsIsParsed() throws {
        let server = try Self.server()
        let peer = try Self.peer(server)
        for byte in RequestTests.mixed.utf8 { try peer.send([byte]) }
        for answer in RequestTests.mixedAnswers { #expect(try peer.response().text == answer) }
    }

    // MARK: Sessions and certificates

    /// Reads a response, after which the client has received its tickets, and returns the session.
    private static func session(of peer: Peer) throws -> TLSTestClient.Session {
        try peer.send(get)
        _ = try peer.response()
        return try #require(peer.tls).session()
    }

    @Test(arguments: [Int32(0x303), 0x304])
    func sessionIsResumedByTheNextConnection(_ version: Int32) throws {
        let server = try Self.server()
        let first = try Self.peer(server, .init(least: version, most: version))
        let session = try Self.session(of: first)
        #expect(first.tls?.wasResumed == false)
        let second = try Self.peer(server, .init(least: version, most: version, session: session))
        #expect(second.tls?.wasResumed == true)
        try second.send(Self.get)
        #expect(try second.response().status == 200)
    }

    @Test func newCertificatesApplyToNewConnections() throws {
        let tickets = TicketKeys(now: TestPKI.now)
        let server = try Self.server(try Wire.context(tickets: tickets))
        let old = try Self.peer(server)
        // The client must not send anything after its session has been taken.
        let session = try Self.session(of: try Self.peer(server))
        let next = try TestPKI.leaf("localhost")
        server.server.replaceTLS(try Wire.context(tickets: tickets, identities: [next]))
        try old.send(Self.get)
        #expect(try old.response().status == 200, "an open connection should not be affected")
        let new = try Self.peer(server)
        let shown = try #require(new.tls).serverCertificate()
        #expect(try shown.fingerprint() == next.certificate.fingerprint())
        let resumed = try Self.peer(server, .init(session: session))
        #expect(resumed.tls?.wasResumed == true, "the session should be resumed")
    }

    /// RFC 6066 §3.
    @Test func serverNameSelectsTheCertificate() throws {
        let identities = [try TestPKI.leaf("one.example"), try TestPKI.leaf("two.example")]
        let server = try Self.server(try Wire.context(identities: identities))
        for (name, expected) in [("two.example", 1), ("one.example", 0), ("other.example", 0)] {
            let peer = try Self.peer(server, .init(serverName: name))
            let shown = try #require(peer.tls).serverCertificate()
            #expect(try shown.fingerprint() == identities[expected].certificate.fingerprint(), "\(name)")
        }
    }

    /// RFC 7301 §3.2.
    @Test func onlyHTTP11IsNegotiated() throws {
        let server = try Self.server()
        let peer = try Self.peer(server, .init(protocols: ["h2", "http/1.1"]))
        try peer.send(Self.get)
        #expect(try peer.response().status == 200)
        #expect(throws: Peer.Failure.handshake("tlsv1 alert no application protocol")) {
            try Self.peer(server, .init(protocols: ["h2"]))
        }
    }

    // MARK: Clients

    /// Responds with the subject of the client certificate.
    @Sendable static func whoami(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(status: .ok, body: .bytes(Array((request.clientCertificate?.subject ?? "-").utf8)))
    }

    @Test func clientCertificatesAreOptional() throws {
        let authority = try TestPKI.authority.get()
        let anna = try TestPKI.client("anna", signedBy: authority)
        let context = try Wire.context(clients: .asked([authority.certificate]))
        let server = try Self.server(context, handler: Self.whoami)
        for (identity, name) in [(anna, "CN=anna"), (nil, "-")] {
            for version: Int32 in [0x303, 0x304] {
                let options = TLSTestClient.Options(least: version, most: version, identity: identity)
                let peer = try Self.peer(server, options)
                try peer.send(Self.get)
                #expect(try peer.response().text == name)
                // A resumed session keeps the client certificate.
                let session = try #require(peer.tls).session()
                let next = try Self.peer(server, .init(least: version, most: version, session: session))
                #expect(next.tls?.wasResumed == true)
                try next.send(Self.get)
                #expect(try next.response().text == name)
            }
        }
        // Request objects are reused, but must not keep the certificate of another connection.
        let plain = try Self.peer(server)
        try plain.send(Self.get + Self.get)
        #expect(try plain.response().text == "-")
        #expect(try plain.response().text == "-")
    }

    @Test(arguments: [Int32(0x303), 0x304])
    func clientCertificatesCanBeRequired(_ version: Int32) throws {
        let authority = try TestPKI.authority.get()
        let other = try CertificateGenerator.makeAuthority(named: "Other", now: TestPKI.now)
        let context = try Wire.context(clients: .demanded([authority.certificate]))
        let server = try Self.server(context, handler: Self.whoami)
        let anna = try TestPKI.client("anna", signedBy: authority)
        let peer = try Self.peer(server, .init(least: version, most: version, identity: anna))
        try peer.send(Self.get)
        #expect(try peer.response().text == "CN=anna")
        for stranger in [nil, try TestPKI.client("anna", signedBy: other)] {
            #expect(throws: Peer.Failure.self) {
                // In TLS 1.3 the client completes the handshake before the server has verified the
                // certificate.
                let peer = try Self.peer(
                    server, .init(least: version, most: version, identity: stranger))
                try peer.send(Self.get)
                _ = try peer.response()
            }
        }
    }

    @Test func requestReportsWhetherItIsSecure() throws {
        let answer: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse = {
            request throws(HTTPError) in
            HTTPResponse(status: .ok, body: .bytes(Array("\(request.isSecure)".utf8)))
        }
        let secure = try Self.server(handler: answer)
        let peer = try Self.peer(secure)
        try peer.send(Self.get)
        #expect(try peer.response().text == "true")
    }

    // MARK: Ends

    /// The deadline applies to a peer that sends nothing, and to one that stops in the middle of its first
    /// message.
    @Test func handshakeHasADeadline() async throws {
        let server = try Self.server(nil) { $0.deadlines.handshake = .milliseconds(1) }
        let silent = try server.connect(secured: false)
        #expect(try silent.receiveRaw() == nil)
        let half = try server.connect(secured: false)
        let client = try TLSTestClient()
        _ = client.handshake()
        try? half.sendRaw(Array(client.takeOutput().prefix(50)))
        #expect(((try? half.receiveRaw()) ?? nil) == nil)
        await server.wait(for: .connectionClosed)
        await server.wait(for: .connectionClosed)
    }

    /// The handshake deadline does not apply to requests.
    @Test func handshakeDeadlineDoesNotApplyToRequests() async throws {
        let server = try Self.server(nil) {
            $0.deadlines.handshake = .milliseconds(600)
            $0.deadlines.keepAlive = .milliseconds(1500)
            $0.deadlines.parking = .milliseconds(1)
        }
        let start = Clock.now()
        let peer = try Self.peer(server)
        try peer.send(Self.get)
        _ = try peer.response()
        #expect(try peer.rest() == [], "an idle timeout should send close_notify")
        #expect(Clock.now() - start >= 1_500_000_000, "deadlines should not pass early")
    }

    @Test func idleConnectionEndsWithCloseNotify() throws {
        let server = try Self.server(nil) {
            $0.deadlines.keepAlive = .milliseconds(50)
            $0.deadlines.parking = .milliseconds(1)
        }
        // Use the clock of the event loop.
        let start = Clock.coarseNow()
        let peer = try Self.peer(server)
        #expect(try peer.rest() == [], "an idle timeout should send close_notify")
        #expect(Clock.coarseNow() - start >= 50_000_000, "deadlines should not pass early")
    }

    @Test func invalidHandshakeIsRefused() throws {
        let server = try Self.server()
        let peer = try server.connect(secured: false)
        try peer.sendRaw([22, 3, 1, 0, 4] + Array("oops".utf8))
        let answer = try peer.receiveRaw() ?? []
        #expect(answer.first == 21, "the response should be a TLS alert")
        #expect(try peer.receiveRaw() == nil)
    }

    /// Truncated content is not complete content (RFC 8446 §6.1).
    @Test func truncatedRequestIsNotAnswered() async throws {
        let (errors, continuation) = AsyncStream<HTTPError>.makeStream()
        let hasBegun = AsyncSignal()
        let server = try Self.server(handler: { request throws(HTTPError) in
            hasBegun.open()
            do throws(HTTPError) {
                _ = try await TestServer.read(request)
                return HTTPResponse(status: .ok)
            } catch {
                continuation.yield(error)
                throw error
            }
        })
        do {
            let peer = try Self.peer(server)
            try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhello")
            // The peer has not read the session tickets, so closing before the server has read the request
            // would reset the connection.
            await hasBegun.wait()
        }
        for await error in errors {
            #expect(error.isDisconnected)
            break
        }
    }

    /// An aborted response ends without close_notify, which is the only sign of truncation for HTTP/1.0.
    @Test func abortedResponseEndsWithoutCloseNotify() throws {
        let server = try Self.server(handler: { _ throws(HTTPError) in
            HTTPResponse(
                status: .ok,
                body: .stream(
                    PiecewiseStream(
                        ResponseWritingTests.content(200_000), of: 1000, failure: HTTPError(.badGateway, "x"))
                ))
        })
        let peer = try Self.peer(server)
        try peer.send("GET /a HTTP/1.0\r\n\r\n")
        #expect(throws: Peer.Failure.truncated) { try peer.response() }
    }

    @Test func requestInFlightEndsAfterShutdown() async throws {
        let hasBegun = AsyncSignal()
        let mayEnd = AsyncSignal()
        let server = try Self.server(nil) {
            $0.grace = .seconds(60)
        } handler: { request throws(HTTPError) in
            if request.method == .get { return HTTPResponse(status: .ok) }
            hasBegun.open()
            await mayEnd.wait()
            return HTTPResponse(status: .created)
        }
        let idle = try Self.peer(server)
        try idle.send(Self.get)
        _ = try idle.response()
        let busy = try Self.peer(server)
        let shaking = try server.connect(secured: false)
        try shaking.sendRaw([22])
        try busy.send(RequestTests.put)
        await hasBegun.wait()
        server.server.shutdown()
        #expect(try idle.rest() == [])
        #expect(((try? shaking.receiveRaw()) ?? nil) == nil, "an unfinished handshake should be dropped")
        mayEnd.open()
        let response = try busy.response()
        #expect(response.status == 201)
        #expect(response["connection"] == "close")
        #expect(try busy.rest() == [])
        server.server.waitUntilStopped()
    }
}
#endif
