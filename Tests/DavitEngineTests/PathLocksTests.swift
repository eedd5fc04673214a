import DavitEngine
import DavitHTTP
import DavitTesting
import Synchronization
import Testing

struct PathLocksTests {
    static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
    }

    static func lockRequest(_ text: String, _ mode: PathLockRequest.Mode) -> PathLockRequest {
        PathLockRequest(path: path(text), mode: mode)
    }

    // MARK: Table

    static let pairs: [(held: [PathLockRequest], asked: [PathLockRequest], isGranted: Bool)] = [
        ([lockRequest("a", .shared)], [lockRequest("a", .shared)], true),
        ([lockRequest("a", .shared)], [lockRequest("a/b", .shared)], true),
        ([lockRequest("a", .shared)], [lockRequest("a", .exclusive)], false),
        ([lockRequest("a", .exclusive)], [lockRequest("a", .shared)], false),
        ([lockRequest("a", .exclusive)], [lockRequest("a", .exclusive)], false),
        ([lockRequest("a", .exclusive)], [lockRequest("a/b/c", .shared)], false),
        ([lockRequest("a", .shared)], [lockRequest("a/b/c", .exclusive)], false),
        ([lockRequest("a/b/c", .exclusive)], [lockRequest("a", .shared)], false),
        ([lockRequest("a/b/c", .shared)], [lockRequest("a", .exclusive)], false),
        ([lockRequest("", .exclusive)], [lockRequest("a", .shared)], false),
        ([lockRequest("a", .exclusive)], [lockRequest("", .exclusive)], false),
        // Siblings never conflict, even if one name is a prefix of the other.
        ([lockRequest("a/b", .exclusive)], [lockRequest("a/c", .exclusive)], true),
        ([lockRequest("a/b", .exclusive)], [lockRequest("a/bc", .exclusive)], true),
        // One conflicting request blocks the whole set.
        ([lockRequest("a", .exclusive)], [lockRequest("b", .exclusive), lockRequest("a/x", .shared)], false),
        // Requests of one set do not conflict with each other.
        (
            [], [lockRequest("a", .exclusive), lockRequest("a/b", .exclusive), lockRequest("a", .shared)],
            true
        ),
        ([lockRequest("a", .exclusive)], [], true),
        // Canonically equivalent names are equal; others are not.
        ([lockRequest("\u{E9}", .exclusive)], [lockRequest("e\u{301}", .exclusive)], false),
        ([lockRequest("a/e\u{301}/b", .exclusive)], [lockRequest("a/\u{E9}", .shared)], false),
        ([lockRequest("a/\u{E9}", .exclusive)], [lockRequest("a/e\u{301}/b/c", .shared)], false),
        ([lockRequest("\u{E9}", .exclusive)], [lockRequest("\u{E8}", .exclusive)], true),
        ([lockRequest("\u{E9}", .exclusive)], [lockRequest("\u{E9}a", .exclusive)], true),
        ([lockRequest("K", .exclusive)], [lockRequest("\u{212A}", .exclusive)], false),
    ]

    @Test(arguments: pairs)
    func onlyCompatibleRequestsAreGranted(held: [PathLockRequest], asked: [PathLockRequest], isGranted: Bool)
    {
        var table = PathLockTable()
        let first = table.enter(held)
        #expect(first.isGranted)
        let second = table.enter(asked)
        #expect(second.isGranted == isGranted)
        #expect(table.isGranted(second.ticket) == isGranted)
        #expect(table.leave(first.ticket) == (isGranted ? [] : [second.ticket]))
        #expect(table.isGranted(second.ticket) == true)
        #expect(table.leave(second.ticket) == [])
        #expect(table.isEmpty)
    }

    @Test func earlierRequestHasPrecedence() {
        var table = PathLockTable()
        let reader = table.enter([Self.lockRequest("a/b", .shared)]).ticket
        let writer = table.enter([Self.lockRequest("a", .exclusive)]).ticket
        // This request is compatible with the reader that holds the lock, but not with the waiting writer.
        let late = table.enter([Self.lockRequest("a/b", .shared)]).ticket
        let elsewhere = table.enter([Self.lockRequest("b", .exclusive)])
        #expect(elsewhere.isGranted)
        #expect(table.isGranted(late) == false)
        #expect(table.leave(reader) == [writer])
        #expect(table.leave(writer) == [late])
    }

    /// A slow model of the table: a set is granted if no earlier set conflicts with it.
    private struct Oracle {
        var line: [(ticket: UInt64, lockRequests: [PathLockRequest])] = []

        var granted: Set<UInt64> {
            var granted: Set<UInt64> = []
            for (index, asker) in line.enumerated() {
                let isFree = line[..<index].allSatisfy { earlier in
                    earlier.lockRequests.allSatisfy { a in
                        asker.lockRequests.allSatisfy { a.isCompatible(with: $0) }
                    }
                }
                if isFree { granted.insert(asker.ticket) }
            }
            return granted
        }
    }

    static let names = ["", "a", "b", "a/a", "a/b", "a/b/c", "a/b/d", "a/bc", "b/a", "b/a/a/a"]

    static func randomLockRequests(_ generator: inout some RandomNumberGenerator) -> [PathLockRequest] {
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            // The root, which conflicts with everything, is used rarely.
            let isAnywhere = Int.random(in: 0..<8, using: &generator) == 0
            let name = names[Int.random(in: (isAnywhere ? 0 : 1)..<names.count, using: &generator)]
            return lockRequest(name, Bool.random(using: &generator) ? .shared : .exclusive)
        }
    }

    @Test(arguments: 0..<40)
    func lockTableMatchesTheOracle(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = PathLockTable()
        var oracle = Oracle()
        for _ in 0..<400 {
            let before = oracle.granted
            if oracle.line.count < 12, Bool.random(using: &generator) {
                let lockRequests = Self.randomLockRequests(&generator)
                let (ticket, isGranted) = table.enter(lockRequests)
                oracle.line.append((ticket, lockRequests))
                #expect(isGranted == oracle.granted.contains(ticket))
            } else if !oracle.line.isEmpty {
                // A held set is released, or a waiting one is cancelled.
                let leaving = oracle.line.remove(at: Int.random(in: 0..<oracle.line.count, using: &generator))
                let granted = table.leave(leaving.ticket)
                #expect(granted == oracle.granted.subtracting(before).sorted())
            }
            for (ticket, _) in oracle.line {
                #expect(table.isGranted(ticket) == oracle.granted.contains(ticket))
            }
            #expect(table.count == oracle.line.count)
        }
        for (ticket, _) in oracle.line { _ = table.leave(ticket) }
        #expect(table.isEmpty)
    }

    // MARK: Waiting

    @Test func lockIfFreeDoesNotWaitForABusyPath() async throws {
        let pathLocks = PathLocks()
        let first = try await pathLocks.acquire([Self.lockRequest("a", .exclusive)])
        var hasRun = false
        let refused = pathLocks.withPathLockIfFree([
            Self.lockRequest("b", .exclusive), Self.lockRequest("a/b", .exclusive),
        ]) {
            hasRun = true
            return 1
        }
        #expect(refused == nil && !hasRun && pathLocks.count == 1)
        first.release()
        let inner = pathLocks.withPathLockIfFree([Self.lockRequest("a", .exclusive)]) { () -> Int? in
            #expect(pathLocks.count == 1)
            return pathLocks.withPathLockIfFree([Self.lockRequest("a/b", .shared)]) { 1 }
        }
        #expect(inner == nil && pathLocks.count == 0)
        #expect(pathLocks.withPathLockIfFree([Self.lockRequest("a", .exclusive)]) { 1 } == 1)
        #expect(pathLocks.count == 0)
    }

    @Test func taskWaitsUntilThePathIsReleased() async throws {
        let pathLocks = PathLocks()
        let first = try await pathLocks.acquire([Self.lockRequest("a", .exclusive)])
        let witness = Witness()
        let executor = TestExecutor()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: executor) {
                let second = try? await pathLocks.acquire([Self.lockRequest("a/b", .shared)])
                #expect(second != nil)
                let wasReleased = witness.isReleased.load(ordering: .acquiring)
                #expect(wasReleased)
            }
            executor.waitUntilIdle()
            #expect(pathLocks.count == 2)
            witness.isReleased.store(true, ordering: .releasing)
            first.release()
            // A second call has no effect, even on the current holder.
            first.release()
        }
        #expect(pathLocks.count == 0)
    }

    @Test func cancelledTaskBlocksNoOther() async throws {
        let pathLocks = PathLocks()
        let reader = try await pathLocks.acquire([Self.lockRequest("a", .shared)])
        let executor = TestExecutor()
        let writer = executor.start {
            try await pathLocks.acquire([Self.lockRequest("a", .exclusive)]).release()
        }
        executor.waitUntilIdle()
        let late = executor.start {
            try await pathLocks.acquire([Self.lockRequest("a", .shared)]).release()
        }
        executor.waitUntilIdle()
        #expect(pathLocks.count == 3)
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        // Only the writer blocked the late reader.
        try await late.value
        reader.release()
        #expect(pathLocks.count == 0)
    }

    @Test func taskThatIsAlreadyCancelledDoesNotWait() async throws {
        let pathLocks = PathLocks()
        let held = try await pathLocks.acquire([Self.lockRequest("a", .exclusive)])
        let isCancelled = AsyncLatch()
        let task = Task {
            await isCancelled.wait()
            try await pathLocks.acquire([Self.lockRequest("a", .exclusive)]).release()
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pathLocks.count == 1)
        held.release()
        #expect(pathLocks.count == 0)
    }

    private enum Failure: Error { case cancelled, thrown }

    @Test func lockIsReleasedHoweverTheBodyEnds() async throws {
        let pathLocks = PathLocks()
        let lockRequests = [Self.lockRequest("a", .exclusive)]
        let count = try await pathLocks.withPathLock(lockRequests, ifCancelled: Failure.cancelled) {
            () async throws(Failure) in pathLocks.count
        }
        #expect(count == 1)
        #expect(pathLocks.count == 0)
        await #expect(throws: Failure.thrown) {
            try await pathLocks.withPathLock(lockRequests, ifCancelled: Failure.cancelled) {
                () async throws(Failure) in throw Failure.thrown
            }
        }
        #expect(pathLocks.count == 0)
        do {
            let forgotten = try await pathLocks.acquire(lockRequests)
            _ = forgotten
        }
        #expect(pathLocks.count == 0)
    }

    @Test(arguments: 0..<4)
    func manyTasksNeverHoldConflictingLocks(seed: UInt64) async {
        let pathLocks = PathLocks()
        let witness = Witness()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(number))
                let lockRequests = Self.randomLockRequests(&generator)
                let isCancelled = number % 5 == 0
                group.addTask {
                    let task = Task {
                        guard let section = try? await pathLocks.acquire(lockRequests) else { return }
                        #expect(witness.enter(number, lockRequests))
                        await Task.yield()
                        witness.leave(number)
                        section.release()
                    }
                    if isCancelled { task.cancel() }
                    await task.value
                }
            }
        }
        #expect(pathLocks.count == 0)
    }
}

/// Tracks which requests are held at the same time.
private final class Witness: Sendable {
    let isReleased = Atomic<Bool>(false)
    private let held = Mutex<[Int: [PathLockRequest]]>([:])

    /// Records `lockRequests` as held.
    /// - Returns: Whether `lockRequests` are compatible with all requests that were held before.
    func enter(_ number: Int, _ lockRequests: [PathLockRequest]) -> Bool {
        held.withLock { held in
            defer { held[number] = lockRequests }
            return held.values.joined().allSatisfy { other in
                lockRequests.allSatisfy { $0.isCompatible(with: other) }
            }
        }
    }

    func leave(_ number: Int) { held.withLock { $0[number] = nil } }
}
