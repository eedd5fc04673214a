import DavitHTTP
import DavitSystem
import Synchronization
import Testing

@testable import DavitTransport

/// Brief jobs, which run on the thread of an event loop until it has to be continued by another.
@Suite("Brief jobs")
struct BriefJobTests {
    /// Responds to requests by running jobs, and records the threads.
    private final class Jobs: Sendable {
        let pool = BlockingPool(threads: 1)
        let isEntered = Latch(count: 1)
        let isReleased = Latch(count: 1)
        let hasEnded = Atomic<Bool>(false)
        private let threads = Mutex<[UInt]>([])

        /// The threads of the handlers and jobs, in order.
        var recorded: [UInt] { threads.withLock { $0 } }

        private func record() { threads.withLock { $0.append(SystemThread.current) } }

        @Sendable func respond(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            record()
            switch String(decoding: request.target.rawPath, as: UTF8.self) {
            case "/block":
                _ = await pool.runBriefly { [self] in
                    record()
                    isEntered.countDown()
                    isReleased.wait()
                    hasEnded.store(true, ordering: .sequentiallyConsistent)
                }
                record()
            case "/job":
                _ = await pool.runBriefly { [self] in record() }
                record()
            default: isReleased.countDown()
            }
            return HTTPResponse(status: .ok, body: .bytes([UInt8](request.target.rawPath)))
        }
    }

    private func get(_ path: String, from peer: Peer) throws {
        try peer.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test("A brief job runs on the thread of the loop")
    func jobOnLoop() throws {
        let jobs = Jobs()
        let test = try TestServer(handler: jobs.respond)
        let peer = try test.connect()
        try get("/job", from: peer)
        #expect(try peer.response().text == "/job")
        let threads = jobs.recorded
        #expect(threads.count == 3)
        #expect(threads[0] == threads[1])
    }

    @Test("A loop whose brief job blocks is continued by another thread")
    func blockedLoopContinues() throws {
        let jobs = Jobs()
        let test = try TestServer(handler: jobs.respond)
        let (blocked, other) = (try test.connect(), try test.connect())
        try get("/block", from: blocked)
        jobs.isEntered.wait()
        // Without another thread, the only loop would never handle this request, which releases the job.
        try get("/release", from: other)
        #expect(try other.response().text == "/release")
        #expect(try blocked.response().text == "/block")
        let threads = jobs.recorded
        #expect(threads.count == 4)
        #expect(threads[1] == threads[0])
        #expect(threads[2] != threads[0])
        // Tasks continue on the loop's new thread.
        #expect(threads[3] == threads[2])
        // Neither connection is affected.
        for peer in [blocked, other] {
            try get("/job", from: peer)
            #expect(try peer.response().text == "/job")
        }
    }

    @Test("All requests are answered while the threads of the loops change repeatedly", arguments: [1, 2])
    func threadsChange(loops: Int) throws {
        let pool = BlockingPool(threads: 2)
        let count = Atomic<Int>(0)
        let test = try TestServer {
            $0.loops = loops
        } handler: { request async throws(HTTPError) in
            let number = count.add(1, ordering: .relaxed).newValue
            let result = await pool.runBriefly { () -> Int in
                // Some jobs block for longer than the watching thread waits.
                if number % 7 == 0 { SystemThread.sleep(milliseconds: 3) }
                return number
            }
            #expect(result == number)
            return HTTPResponse(status: .ok, body: .bytes([UInt8](request.target.rawPath)))
        }
        let peers = try (0..<8).map { _ in try test.connect() }
        for round in 0..<40 {
            for (index, peer) in peers.enumerated() { try get("/\(round)-\(index)", from: peer) }
            for (index, peer) in peers.enumerated() {
                #expect(try peer.response().text == "/\(round)-\(index)")
            }
        }
        test.server.shutdown()
        test.server.waitUntilStopped()
    }

    @Test("A server ends only after the job of a former thread of its loop")
    func serverWaitsForJob() throws {
        let jobs = Jobs()
        let ended = Latch(count: 1)
        let hadEnded = Mutex<Bool?>(nil)
        let test = try TestServer {
            $0.onStop = {
                hadEnded.withLock { $0 = jobs.hasEnded.load(ordering: .sequentiallyConsistent) }
                ended.countDown()
            }
        } handler: { request async throws(HTTPError) in
            try await jobs.respond(request)
        }
        let blocked = try test.connect()
        try get("/block", from: blocked)
        jobs.isEntered.wait()
        test.server.shutdown()
        // The connection is aborted by the thread that continues the loop, because the grace period is zero.
        _ = try? blocked.rest()
        #expect(hadEnded.withLock { $0 } == nil)
        jobs.isReleased.countDown()
        ended.wait()
        test.server.waitUntilStopped()
        #expect(hadEnded.withLock { $0 } == true)
    }

    @Test("Jobs that come after one that blocks run in the pool")
    func laterJobsRun() throws {
        // The jobs of the second request may both run in the pool.
        let pool = BlockingPool(threads: 2)
        let test = try TestServer(handler: { request async throws(HTTPError) in
            let isReleased = Latch(count: 1)
            async let first: Void? = pool.runBriefly { isReleased.wait() }
            async let second: Void? = pool.runBriefly { isReleased.countDown() }
            _ = await (first, second)
            return HTTPResponse(status: .ok, body: .bytes([UInt8](request.target.rawPath)))
        })
        let peer = try test.connect()
        for path in ["/1", "/2"] {
            try get(path, from: peer)
            #expect(try peer.response().text == path)
        }
    }

    @Test("After a long job, jobs go to the pool for some time, and for longer if another follows soon")
    func pause() {
        let millisecond: Int64 = 1_000_000
        var pause = BriefJobPause()
        #expect(pause.isOver(at: 0))
        pause.jobEnded(at: 0, after: BriefJobPause.longNanoseconds)
        #expect(pause.isOver(at: 0))
        pause.jobEnded(at: 0, after: BriefJobPause.longNanoseconds + 1)
        #expect(!pause.isOver(at: 10 * millisecond - 1))
        #expect(pause.isOver(at: 10 * millisecond))
        // 9 ms after the end of the first pause.
        pause.jobWasLong(at: 19 * millisecond)
        #expect(!pause.isOver(at: 39 * millisecond - 1))
        #expect(pause.isOver(at: 39 * millisecond))
        // Short jobs in between change nothing.
        pause.jobEnded(at: 40 * millisecond, after: 1)
        pause.jobWasLong(at: 58 * millisecond)
        #expect(!pause.isOver(at: 98 * millisecond - 1))
        #expect(pause.isOver(at: 98 * millisecond))
        // As long after the end of a pause as it has lasted.
        pause.jobWasLong(at: 138 * millisecond)
        #expect(pause.isOver(at: 148 * millisecond))
        for _ in 0..<20 { pause.jobWasLong(at: 138 * millisecond) }
        #expect(!pause.isOver(at: 1138 * millisecond - 1))
        #expect(pause.isOver(at: 1138 * millisecond))
    }
}
