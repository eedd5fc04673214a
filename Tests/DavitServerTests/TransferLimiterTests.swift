import DavitHTTP
import DavitTesting
import Synchronization
import Testing

@testable import DavitServer

struct TransferLimiterTests {
    private struct Answer: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { .ready(HTTPResponse(status: .ok)) }
    }

    private func request(
        _ limiter: TransferLimiter, from peer: String, as name: String? = nil
    ) throws -> TransferPacer? {
        let request = try HTTPRequest(parsing: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        request.principal = name
        request.peerAddress = peer
        _ = try limiter.handle(request, next: Answer())
        return request.pacer
    }

    @Test func clientsAreLimitedByAccountAndNetwork() throws {
        let limiter = TransferLimiter(
            accountRate: 1000, networkRate: 500, proxies: [IPNetwork("10.0.0.0/8")!], now: { 0 })
        let anna = try #require(try request(limiter, from: "192.0.2.1", as: "anna"))
        anna.didSend(10_000, now: 0)
        func wait(_ peer: String, _ name: String?) throws -> Int64? {
            try request(limiter, from: peer, as: name).map { max(0, $0.sendingTime) / 1_000_000_000 }
        }
        // The account from another address, and another account from the same address.
        #expect(try wait("192.0.2.9", "anna") == 9)
        #expect(try wait("192.0.2.1", "bert") == 19)
        #expect(try wait("192.0.2.1", nil) == 19)
        #expect(try wait("192.0.2.9", "bert") == 0)
        // Uploads have a rate of their own.
        #expect(try #require(try request(limiter, from: "192.0.2.1", as: "anna")).receivingTime < 0)
        // Addresses of one IPv6 network share a rate; a proxy itself has none.
        try #require(try request(limiter, from: "2001:db8::1")).didSend(5000, now: 0)
        #expect(try wait("2001:db8::2", nil) == 9)
        #expect(try wait("2001:db8:0:1::2", nil) == 0)
        #expect(try request(limiter, from: "10.1.2.3") == nil)
        #expect(try request(limiter, from: "unix:") == nil)
        #expect(try wait("10.1.2.3", "anna") == 9)
    }

    @Test func idleClientsAreForgotten() throws {
        let time = Mutex<Int64>(0)
        let limiter = TransferLimiter(accountRate: nil, networkRate: 1000, now: { time.withLock { $0 } })
        let busy = try #require(try request(limiter, from: "198.51.100.1"))
        busy.didReceive(1_000_000, now: 0)
        for first in 0..<20 {
            for second in 0..<250 { _ = try request(limiter, from: "192.0.\(first).\(second)") }
        }
        #expect(limiter.clientCount <= 1024)
        time.withLock { $0 = 5_000_000_000 }
        #expect(try #require(try request(limiter, from: "198.51.100.1")).receivingTime > 900_000_000_000)
    }

    /// A request that has transferred nothing for a while still shares its rate with the next one of its client.
    @Test func ratesOfRequestsInProgressAreKept() throws {
        let limiter = TransferLimiter(accountRate: 1000, networkRate: nil, now: { 5_000_000_000 })
        let waiting = try #require(try request(limiter, from: "192.0.2.1", as: "anna"))
        for number in 0..<3000 { _ = try request(limiter, from: "192.0.2.1", as: "\(number)") }
        waiting.didSend(100_000, now: 5_000_000_000)
        let next = try #require(try request(limiter, from: "192.0.2.1", as: "anna"))
        #expect(next.sendingTime == waiting.sendingTime)
    }
}
