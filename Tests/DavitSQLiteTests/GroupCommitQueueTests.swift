import DavitStore
import DavitSystem
import Synchronization
import Testing

struct GroupCommitQueueTests {
    struct Odd: Error, Equatable {
        let number: Int
    }

    /// A queue in which odd-numbered requests fail. The first group contains only the request that leads it,
    /// and waits until `total` requests have arrived.
    final class Witness: Sendable {
        let groups = Mutex<[[Int]]>([])
        let outcomes = Mutex<[Int: Odd?]>([:])
        private let isBusy = Mutex(false)
        let collisions = Atomic<Int>(0)
        private let made = Mutex<GroupCommitQueue<Int, Odd>?>(nil)
        /// Number of requests that did not lead immediately.
        private let enqueuedCount = Monitor(0)

        init(total: Int = 0, background: BackgroundWork = .immediate) {
            let didEnqueue = { @Sendable [enqueuedCount] in
                enqueuedCount.withLock { $0 += 1 }
                enqueuedCount.broadcast()
            }
            made.withLock {
                $0 = GroupCommitQueue(background: background, didEnqueue: didEnqueue) { [unowned self] in
                    write($0, total: total)
                }
            }
        }

        var line: GroupCommitQueue<Int, Odd> {
            guard let line = made.withLock({ $0 }) else { preconditionFailure("made above") }
            return line
        }

        private func write(_ requests: [Int], total: Int) -> [Odd?] {
            let wasBusy = isBusy.withLock { isBusy in
                defer { isBusy = true }
                return isBusy
            }
            if wasBusy { collisions.add(1, ordering: .relaxed) }
            defer { isBusy.withLock { $0 = false } }
            let isFirst = groups.withLock { groups in
                groups.append(requests)
                return groups.count == 1
            }
            if isFirst { enqueuedCount.wait { 1 + $0 < total ? nil : () } }
            return requests.map { $0 % 2 == 0 ? nil : Odd(number: $0) }
        }

        func note(_ outcome: Odd?, of number: Int) { outcomes.withLock { $0[number] = .some(outcome) } }

        func perform(_ number: Int) { note(line.perform(number), of: number) }

        func submit(_ number: Int) { line.submit(number) { self.note($0, of: number) } }

        /// Expects that every caller received the outcome of its own request.
        func expectOutcomes(_ count: Int) {
            let outcomes = outcomes.withLock { $0 }
            #expect(outcomes.count == count)
            for (number, outcome) in outcomes {
                #expect(outcome == (number % 2 == 0 ? nil : Odd(number: number)))
            }
            #expect(collisions.load(ordering: .relaxed) == 0)
            #expect(line.waitingCount == 0)
        }
    }

    @Test func requestsDuringAGroupFormTheNextOne() {
        let witness = Witness(total: 8)
        withThreads(8) { witness.perform($0) }
        #expect(witness.groups.withLock { $0.count } <= 2)
        witness.expectOutcomes(8)
    }

    /// Threads that block and callers that do not block submit requests concurrently.
    @Test func everyRequestIsWrittenOnceByOneThreadAtATime() {
        let witness = Witness()
        withThreads(8) { thread in
            for step in 0..<200 {
                let number = thread * 200 + step
                if thread < 4 { witness.perform(number) } else { witness.submit(number) }
            }
        }
        let written = witness.groups.withLock { $0.flatMap { $0 } }
        #expect(written.count == 1600 && Set(written) == Set(0..<1600))
        witness.expectOutcomes(1600)
    }

    /// If all background threads wait in the queue themselves, one of the waiting threads must lead it.
    @Test func waitingThreadLeadsIfNoBackgroundThreadIsFree() {
        let called = Mutex<[@Sendable () -> Void]>([])
        let witness = Witness(
            total: 4,
            background: BackgroundWork { work in
                called.withLock { $0.append(work) }
                return true
            })
        witness.submit(0)
        withThreads(3) { thread in
            witness.perform(thread + 1)
            witness.submit(thread + 10)
        }
        for number in 0...3 { #expect(witness.outcomes.withLock { $0[number] != nil }) }
        // The remaining requests have scheduled background work once, which runs late.
        #expect(called.withLock { $0.count } == 1)
        while let work = called.withLock({ $0.popLast() }) { work() }
        witness.expectOutcomes(7)
    }

    @Test func callerLeadsIfNoThreadIsAvailable() {
        let witness = Witness(background: BackgroundWork { _ in false })
        for number in 0..<3 { witness.submit(number) }
        #expect(witness.groups.withLock { $0 } == [[0], [1], [2]])
        witness.expectOutcomes(3)
    }
}
