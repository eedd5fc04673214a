import DavitSystem
import Testing

/// The order of turns, tested without threads and clocks.
struct LongWorkScheduleTests {
    private let threads = LongWorkThreads()

    private func limits(running: Int, _ change: (inout LongWorkLimits) -> Void = { _ in }) -> LongWorkLimits {
        var limits = LongWorkLimits()
        limits.runningJobs = running
        change(&limits)
        return limits
    }

    private func job(_ client: String, isCancellable: Bool = true) -> LongJob {
        LongJob(for: client, isCancellable: isCancellable, in: threads) {}
    }

    @Test func clientWithOneJobWaitsForOneSliceOfEachOtherClient() throws {
        let schedule = Schedule(limits(running: 1) { $0.waitingJobsPerClient = 100 })
        for _ in 0..<100 { #expect(schedule.add(job("a"), isAdmitted: false)) }
        var running = try #require(schedule.next())
        // Let the first client have some slices before the second one begins.
        for _ in 0..<10 {
            schedule.pause(running)
            running = try #require(schedule.next())
        }
        #expect(schedule.add(job("b"), isAdmitted: false))
        #expect(schedule.add(job("c"), isAdmitted: false))
        var order: [String] = []
        for _ in 0..<7 {
            schedule.pause(running)
            running = try #require(schedule.next())
            order.append(running.client)
        }
        #expect(order == ["b", "c", "a", "b", "c", "a", "b"])
    }

    @Test func oneClientUsesAllTurnsOnlyIfNoOtherWaits() throws {
        let schedule = Schedule(limits(running: 2))
        for _ in 0..<4 { #expect(schedule.add(job("a"), isAdmitted: false)) }
        let first = try #require(schedule.next())
        let second = try #require(schedule.next())
        #expect(schedule.next() == nil)
        #expect(schedule.add(job("b"), isAdmitted: false))
        schedule.pause(first)
        let other = try #require(schedule.next())
        #expect(other.client == "b")
        // The two clients now take turns.
        schedule.pause(other)
        #expect(schedule.next()?.client == "b")
        schedule.pause(second)
        #expect(schedule.next()?.client == "a")
    }

    @Test func jobsOfOneClientTakeTurns() throws {
        let schedule = Schedule(limits(running: 1))
        let jobs = (0..<3).map { _ in job("a") }
        for job in jobs { #expect(schedule.add(job, isAdmitted: false)) }
        var order: [Int?] = []
        for _ in 0..<6 {
            let running = try #require(schedule.next())
            order.append(jobs.firstIndex { $0 === running })
            schedule.pause(running)
        }
        #expect(order == [0, 1, 2, 0, 1, 2])
    }

    @Test func begunJobsLeaveThreadsToOtherClients() throws {
        let schedule = Schedule(
            limits(running: 1) {
                $0.begunJobs = 4
                $0.begunJobsPerClient = 3
            })
        for _ in 0..<10 { #expect(schedule.add(job("a"), isAdmitted: false)) }
        var seen: [ObjectIdentifier: LongJob] = [:]
        for _ in 0..<20 {
            let running = try #require(schedule.next())
            seen[ObjectIdentifier(running)] = running
            schedule.pause(running)
        }
        // One client gets half of the threads, which is less than the limit per client here.
        #expect(seen.count == 2)
        for client in ["b", "c"] { #expect(schedule.add(job(client), isAdmitted: false)) }
        var order: [String] = []
        for _ in 0..<3 {
            let running = try #require(schedule.next())
            order.append(running.client)
            schedule.pause(running)
        }
        #expect(order == ["a", "b", "c"])
    }

    @Test func excessWaitingJobsAreRefusedUnlessAdmitted() {
        let schedule = Schedule(
            limits(running: 1) {
                $0.waitingJobs = 3
                $0.waitingJobsPerClient = 2
            })
        #expect(schedule.add(job("a"), isAdmitted: false))
        #expect(schedule.add(job("a"), isAdmitted: false))
        #expect(!schedule.add(job("a"), isAdmitted: false))
        #expect(schedule.add(job("b"), isAdmitted: false))
        #expect(!schedule.add(job("c"), isAdmitted: false))
        #expect(schedule.add(job("a"), isAdmitted: true))
    }

    @Test func removedJobHasNoTurn() throws {
        let schedule = Schedule(limits(running: 1))
        let (first, dropped, last) = (job("a"), job("b"), job("c"))
        for job in [first, dropped, last] { #expect(schedule.add(job, isAdmitted: false)) }
        #expect(schedule.remove(dropped))
        #expect(!schedule.remove(dropped))
        let running = try #require(schedule.next())
        #expect(running === first && !schedule.remove(first))
        schedule.end(running)
        #expect(schedule.next() === last)
        schedule.end(last)
        #expect(!schedule.hasNext && schedule.next() == nil)
    }

    @Test func removeCancellableKeepsCleanupJobs() {
        let schedule = Schedule(limits(running: 1))
        let cleaning = job("a", isCancellable: false)
        for job in [job("a"), cleaning, job("b")] { #expect(schedule.add(job, isAdmitted: false)) }
        #expect(schedule.removeCancellable().count == 2)
        #expect(schedule.next() === cleaning)
    }

    /// Each started job occupies a thread, even while it waits for its next turn.
    @Test(arguments: [(10, 3, 3), (2, 3, 1), (4, 10, 2)])
    func begunJobsOfAClientAreLimited(begunJobs: Int, perClient: Int, expected: Int) throws {
        let schedule = Schedule(
            limits(running: 1) {
                $0.begunJobs = begunJobs
                $0.begunJobsPerClient = perClient
            })
        for _ in 0..<10 { #expect(schedule.add(job("a"), isAdmitted: false)) }
        var begun: Set<ObjectIdentifier> = []
        for _ in 0..<20 {
            let running = try #require(schedule.next())
            begun.insert(ObjectIdentifier(running))
            schedule.pause(running)
        }
        #expect(begun.count == expected)
    }

    @Test func begunJobsOfAllClientsAreLimited() throws {
        let schedule = Schedule(limits(running: 1) { $0.begunJobs = 2 })
        for client in ["a", "b", "c"] { #expect(schedule.add(job(client), isAdmitted: false)) }
        var order: [String] = []
        for _ in 0..<4 {
            let running = try #require(schedule.next())
            order.append(running.client)
            schedule.pause(running)
        }
        #expect(order == ["a", "b", "a", "b"])
        schedule.end(try #require(schedule.next()))
        // Now the third client can start.
        #expect(schedule.next()?.client == "c")
    }
}

/// A class wrapper, so that expectations can mutate the schedule.
private final class Schedule {
    private var schedule: LongWorkSchedule

    init(_ limits: LongWorkLimits) { schedule = LongWorkSchedule(limits) }

    var hasNext: Bool { schedule.hasNext }
    func add(_ job: LongJob, isAdmitted: Bool) -> Bool { schedule.add(job, isAdmitted: isAdmitted) }
    func next() -> LongJob? { schedule.next() }
    func pause(_ job: LongJob) { schedule.pause(job) }
    func end(_ job: LongJob) { schedule.end(job) }
    func remove(_ job: LongJob) -> Bool { schedule.remove(job) }
    func removeCancellable() -> [LongJob] { schedule.removeCancellable() }
}
