import DavitHTTP
import DavitSystem
import DavitTransport
import Synchronization
import Testing

/// Statistics of requests, and polls of the event loops.
struct LoopPollTests {
    private final class Outcomes: Sendable {
        let all = Mutex<[LoopPoll.Outcome]>([])
        var count: Int { all.withLock { $0.count } }
        var first: LoopPoll.Outcome? { all.withLock { $0.first } }
    }

    /// Polls until the statistics include `count` requests: a response reaches its client before it is counted.
    private func counts(of server: HTTPServer, requests count: UInt64) throws -> RequestCounts {
        while true {
            #expect(try server.pollLoops(milliseconds: 600_000).isAlive)
            let requests = try #require(server.statistics).requests
            let sum = (0..<HTTPMethod.kindCount).reduce(0) { sum, kind in
                RequestCounts.Outcome.allCases.reduce(sum) { $0 + requests.requests(kind: kind, $1) }
            }
            if sum >= count { return requests }
        }
    }

    @Test func requestsAreCountedByMethodAndStatus() throws {
        let statuses: [String: UInt16] = ["/moved": 302, "/missing": 404, "/broken": 500]
        let test = try TestServer { configuration in
            configuration.countsRequests = true
            configuration.loops = 2
        } ready: { request in
            let path = String(decoding: request.target.rawPath, as: UTF8.self)
            return HTTPResponse(status: HTTPStatus(statuses[path] ?? 200), body: .bytes([1, 2, 3]))
        }
        let lines = [
            "GET /", "GET /missing", "PUT /", "BREW /", "EVIL /a", "PROPFIND /moved", "GET /broken",
        ]
        for line in lines {
            let peer = try test.connect()
            try peer.send("\(line) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab")
            _ = try peer.rest()
        }
        let counts = try counts(of: test.server, requests: 7)
        #expect(counts.requests(kind: HTTPMethod.get.kind, .success) == 1)
        #expect(counts.requests(kind: HTTPMethod.get.kind, .clientError) == 1)
        #expect(counts.requests(kind: HTTPMethod.get.kind, .serverError) == 1)
        #expect(counts.requests(kind: HTTPMethod.put.kind, .success) == 1)
        #expect(counts.requests(kind: HTTPMethod.propfind.kind, .redirection) == 1)
        // Unknown methods have one row, however many there are.
        #expect(counts.requests(kind: HTTPMethod.other("").kind, .success) == 2)
        #expect(counts.durations(kind: HTTPMethod.get.kind).counts.reduce(0, +) == 3)
        #expect(counts.responseSizes.counts == [7, 0, 0, 0, 0, 0, 0])
        #expect(counts.responseSizes.sum == 21)
        #expect(counts.requestSizes.counts.reduce(0, +) == 7)
        let connections = try #require(test.server.statistics).connections
        #expect(connections.accepted == 7)
        #expect(connections.refusedByAddress == 0)
    }

    @Test func malformedHeadIsCounted() throws {
        let test = try TestServer { $0.countsRequests = true }
        let peer = try test.connect()
        try peer.send("GET\r\n\r\n")
        _ = try peer.rest()
        let counts = try counts(of: test.server, requests: 1)
        #expect(counts.requests(kind: HTTPMethod.other("").kind, .clientError) == 1)
    }

    @Test func nothingIsCountedByDefault() throws {
        let test = try TestServer(ready: { _ in HTTPResponse(status: .ok) })
        let peer = try test.connect()
        try peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        _ = try peer.rest()
        #expect(try test.server.pollLoops(milliseconds: 600_000).isAlive)
        #expect(test.server.statistics?.requests == RequestCounts())
    }

    @Test func blockedLoopDoesNotRespond() throws {
        let (entered, blocked) = (Latch(count: 1), Latch(count: 1))
        let test = try TestServer(ready: { _ in
            entered.countDown()
            blocked.wait()
            return HTTPResponse(status: .ok)
        })
        let peer = try test.connect()
        try peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        entered.wait()
        let outcomes = Outcomes()
        let poll = test.server.pollLoops { outcome in outcomes.all.withLock { $0.append(outcome) } }
        #expect(outcomes.count == 0)
        poll.expire()
        #expect(outcomes.first == LoopPoll.Outcome(loops: 1, responding: 0))
        #expect(outcomes.first?.isAlive == false)
        blocked.countDown()
        _ = try peer.rest()
        #expect(try test.server.pollLoops(milliseconds: 600_000).isAlive)
        // The late response and a repeated end have no effect.
        poll.expire()
        #expect(outcomes.count == 1)
    }

    @Test func stoppedServerHasNoLoops() throws {
        let test = try TestServer()
        test.server.shutdown()
        test.server.waitUntilStopped()
        let outcome = try test.server.pollLoops(milliseconds: 600_000)
        #expect(outcome == LoopPoll.Outcome(loops: 0, responding: 0))
        #expect(!outcome.isAlive)
        #expect(test.server.statistics == nil)
    }

    @Test func kindsOfMethodsAreTheirIndices() {
        for (index, entry) in HTTPMethod.named.enumerated() { #expect(entry.method.kind == index) }
        #expect(HTTPMethod.named.count == HTTPMethod.kindCount - 1)
        #expect(HTTPMethod.other("get").kind == HTTPMethod.kindCount - 1)
    }
}
