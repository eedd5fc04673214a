import DavitHTTP
import DavitSystem
import DavitTransport
import Synchronization
import Testing

/// The lifecycle of connections: parking, limits, disconnects, shutdown.
@Suite(.timeLimit(.minutes(15)))
struct ConnectionLifecycleTests {
    @Test func parkedConnectionCanBeUsedAgain() async throws {
        let server = try TestServer { $0.deadlines.parking = .milliseconds(1) }
        let peer = try server.connect()
        for _ in 0..<3 {
            try peer.send(RequestTests.get)
            #expect(try peer.response().text == "GET /a ")
            await server.wait(for: .parked)
        }
    }

    /// A burst of connections must not hold the memory of all tasks until the parking deadline.
    @Test func excessWaitingConnectionsAreParkedImmediately() async throws {
        let server = try TestServer {
            $0.deadlines.parking = .seconds(3600)
            $0.deadlines.keepAlive = .seconds(3600)
            $0.maxWaitingPerLoop = 1
        }
        let waiting = try server.connect()
        try waiting.send(RequestTests.get)
        #expect(try waiting.response().text == "GET /a ")
        let second = try server.connect()
        for _ in 0..<3 {
            try second.send(RequestTests.get)
            #expect(try second.response().text == "GET /a ")
            await server.wait(for: .parked)
        }
        // A waiting connection frees its place when it closes.
        waiting.shutDownWriting()
        #expect(try waiting.rest() == [])
        await server.wait(for: .connectionClosed)
        try second.send(RequestTests.get)
        #expect(try second.response().text == "GET /a ")
        let third = try server.connect()
        try third.send(RequestTests.get)
        #expect(try third.response().text == "GET /a ")
        await server.wait(for: .parked)
    }

    @Test func parkedConnectionIsClosedWithItsPeer() async throws {
        let server = try TestServer { $0.deadlines.parking = .milliseconds(1) }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        _ = try peer.response()
        await server.wait(for: .parked)
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
        await server.wait(for: .connectionClosed)
    }

    @Test func silentConnectionTimesOut() throws {
        let server = try TestServer {
            $0.deadlines.parking = .milliseconds(1)
            $0.deadlines.keepAlive = .milliseconds(1)
        }
        #expect(try server.connect().rest() == [])
    }

    @Test(.enabled(if: !Wire.isSecure, "the deadline can pass between the handshake and the request"))
    func idleConnectionTimesOut() throws {
        let server = try TestServer {
            $0.deadlines.parking = .milliseconds(1)
            $0.deadlines.keepAlive = .milliseconds(1)
            $0.accept = TestServer.acceptWithInput
        }
        let used = try server.connect()
        try used.send(RequestTests.get)
        #expect(try used.response().status == 200)
        #expect(try used.rest() == [])
    }

    @Test func requestInFlightEndsAfterShutdown() async throws {
        let hasBegun = AsyncSignal()
        let mayEnd = AsyncSignal()
        let server = try TestServer {
            $0.grace = .seconds(60)
        } handler: { request throws(HTTPError) in
            if request.method == .get { return HTTPResponse(status: .ok) }
            hasBegun.open()
            await mayEnd.wait()
            return HTTPResponse(status: .created)
        }
        let idle = try server.connect()
        try idle.send(RequestTests.get)
        _ = try idle.response()
        let busy = try server.connect()
        try busy.send(RequestTests.put)
        await hasBegun.wait()
        server.server.shutdown()
        // The idle connection is closed immediately, and no further connections are accepted.
        #expect(try idle.rest() == [])
        #expect(throws: (any Error).self) { try server.connect() }
        mayEnd.open()
        let response = try busy.response()
        #expect(response.status == 201)
        #expect(response["connection"] == "close")
        server.server.waitUntilStopped()
    }

    @Test func endlessRequestIsCancelledAfterTheGracePeriod() async throws {
        let hasBegun = AsyncSignal()
        let server = try TestServer {
            $0.loops = 2
        } handler: { _ throws(HTTPError) in
            hasBegun.open()
            await Self.waitForCancellation()
            return HTTPResponse(status: .ok)
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        await hasBegun.wait()
        server.server.shutdown()
        server.server.waitUntilStopped()
        #expect(throws: (any Error).self) { try peer.response() }
    }

    @Test func disconnectCancelsTheHandler() async throws {
        let hasBegun = AsyncSignal()
        let wasCancelled = AsyncSignal()
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            hasBegun.open()
            await Self.waitForCancellation()
            wasCancelled.open()
            return HTTPResponse(status: .ok)
        }
        do {
            let peer = try server.connect()
            // The peer is released at the end of this scope, and then resets the connection.
            try peer.send(RequestTests.get)
            await hasBegun.wait()
            try peer.resetOnClose()
        }
        await wasCancelled.wait()
    }

    @Test(.enabled(if: !Wire.isSecure, "the handshake would also have to wait"))
    func connectionsOverTheLimitWait() async throws {
        let server = try TestServer { $0.maxConnections = 2 }
        var open = try (0..<2).map { _ in try server.connect() }
        for peer in open {
            try peer.send(RequestTests.get)
            _ = try peer.response()
        }
        let third = try server.connect()
        try third.send(RequestTests.get)
        await server.wait(for: .acceptPaused)
        open.removeLast()
        #expect(try third.response().text == "GET /a ")
    }

    @Test(.enabled(if: !Wire.isSecure, "the handshake fails"))
    func connectionsOfOnePeerOverItsLimitAreClosed() throws {
        let server = try TestServer { $0.maxConnectionsPerAddress = 1 }
        let first = try server.connect()
        try first.send(RequestTests.get)
        _ = try first.response()
        let second = try server.connect()
        #expect(try second.rest() == [])
        try first.send(RequestTests.get)
        #expect(try first.response().status == 200)
    }

    @Test(.enabled(if: !Wire.isSecure, "the handshake fails"))
    func serverContinuesAfterRunningOutOfDescriptors() async throws {
        let failures = Atomic<Int>(0)
        let server = try TestServer {
            $0.accept = { listener in
                // Fail only the first call, not the one that removes the pending connection.
                failures.add(1, ordering: .relaxed).newValue == 1 ? .exhausted : Socket.accept(from: listener)
            }
        }
        // The first connection is dropped to unblock the queue.
        let first = try server.connect()
        await server.wait(for: .acceptExhausted)
        #expect((try? first.rest()) ?? [] == [])
        let second = try server.connect()
        try second.send(RequestTests.get)
        #expect(try second.response().text == "GET /a ")
    }

    /// Suspends until the task is cancelled.
    private static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        // The stream ends when the iterating task is cancelled.
        for await _ in stream {}
        continuation.finish()
    }
}
