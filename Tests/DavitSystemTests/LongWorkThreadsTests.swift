import DavitSystem
import Synchronization
import Testing

struct LongWorkThreadsTests {
    /// Runs one job at a time, with slices that are limited by bytes only.
    private func threads(_ change: (inout LongWorkLimits) -> Void = { _ in }) -> LongWorkThreads {
        var limits = LongWorkLimits()
        limits.runningJobs = 1
        limits.sliceBytes = 1
        limits.slice = .seconds(100_000)
        change(&limits)
        return LongWorkThreads(limits)
    }

    @Test func resultsAreReturned() async {
        let threads = threads {
            $0.waitingJobsPerClient = 500
            $0.runningJobs = 3
        }
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    await threads.run(for: "\(index % 7)") {
                        for _ in 0..<index { LongWork.pause() }
                        return index
                    } == index
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        threads.shutdown()
        #expect(await threads.run(for: "a") { 1 } == nil)
        threads.reopen()
        #expect(await threads.run(for: "a") { 1 } == 1)
        threads.shutdown()
    }

    @Test func shortWorkRunsWhileAllTurnsAreInUse() async {
        let pool = BlockingPool(threads: 1, longWork: threads().limits)
        let (hasBegun, mayEnd) = (Signal(), Latch(count: 1))
        async let long = pool.longWork.run(for: "a") {
            hasBegun.send()
            mayEnd.wait()
            return 1
        }
        await hasBegun.wait()
        #expect(await pool.run { 7 } == 7)
        mayEnd.countDown()
        #expect(await long == 1)
        pool.shutdown()
    }

    @Test func slicesOfTwoClientsAlternate() async {
        let threads = threads()
        let hasBegun = Signal()
        let isOtherDone = Flag()
        let first = Task {
            await threads.run(for: "a") {
                hasBegun.send()
                var turns = 0
                while !isOtherDone.isSet {
                    let before = threads.turnCount
                    try? LongWork.checkpoint(bytes: 1)
                    if threads.turnCount != before { turns += 1 }
                }
                return turns
            }
        }
        await hasBegun.wait()
        let second = await threads.run(for: "b") {
            for _ in 0..<10 { try? LongWork.checkpoint(bytes: 1) }
            isOtherDone.set()
            return threads.turnCount
        }
        // The job's start and each of its ten pauses let the other job run.
        #expect(second == 22)
        #expect(await first.value == 11)
        threads.shutdown()
    }

    @Test func cancellationDropsWaitingAndStopsRunningJobs() async {
        let threads = threads()
        let (hasBegun, mayEnd) = (Signal(), Latch(count: 1))
        let running = Task {
            await threads.run(for: "a") { () -> Bool in
                hasBegun.send()
                mayEnd.wait()
                do throws(SystemError) { try LongWork.checkpoint() } catch { return error == .cancelled }
                return false
            }
        }
        await hasBegun.wait()
        let hasRun = Flag()
        let waiting = Task { await threads.run(for: "b") { hasRun.set() } }
        let cleaning = Task { await threads.run(for: "b", isAdmitted: true, isCancellable: false) { 3 } }
        waiting.cancel()
        cleaning.cancel()
        // The second job has not had a turn, because the first one is still running.
        #expect(await waiting.value == nil)
        running.cancel()
        mayEnd.countDown()
        #expect(await running.value == true)
        #expect(await cleaning.value == 3)
        #expect(!hasRun.isSet)
        threads.shutdown()
    }

    @Test func shutdownStopsRunningJobs() async {
        let threads = threads()
        let hasBegun = Signal()
        let job = Task {
            await threads.run(for: "a") {
                hasBegun.send()
                while true {
                    do throws(SystemError) { try LongWork.checkpoint() } catch { return error == .cancelled }
                }
            }
        }
        await hasBegun.wait()
        threads.shutdown()
        #expect(await job.value == true)
    }
}

/// A signal that is sent once, from any thread.
private final class Signal: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    func send() { continuation.finish() }
    func wait() async { for await _ in stream {} }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
