import DavitSQLite
import DavitStore
import Synchronization
import Testing

struct CommitLineTests {
    static func request(_ number: Int64) -> GroupWriter.Request {
        GroupWriter.Request(changes: [.dropIntent(id: number)]) { _ in }
    }

    static func number(of request: GroupWriter.Request) -> Int64 {
        if case .dropIntent(let id) = request.changes.first { return id }
        return -1
    }

    final class Witness: Sendable {
        let line = CommitLine()
        let groups = Mutex<[[Int64]]>([])
        let outcomes = Mutex<[Int64: StateError?]>([:])

        /// Fails the odd ones. The first group of all waits until there are `others` in the line.
        func write(_ requests: [GroupWriter.Request], others: Int) -> [StateError?] {
            let numbers = requests.map(CommitLineTests.number(of:))
            let isFirst = groups.withLock { groups in
                groups.append(numbers)
                return groups.count == 1
            }
            while isFirst, line.waitingCount < others {}
            return numbers.map { $0 % 2 == 0 ? nil : .failed(reason: String($0)) }
        }

        func commit(_ number: Int64, others: Int = 0) {
            let outcome = line.commit(CommitLineTests.request(number)) { write($0, others: others) }
            outcomes.withLock { $0[number] = .some(outcome) }
        }
    }

    @Test func whatComesDuringACommitIsTheNextOne() {
        let witness = Witness()
        withThreads(8) { witness.commit(Int64($0), others: 7) }
        let groups = witness.groups.withLock { $0 }
        #expect(groups.map(\.count) == [1, 7])
        #expect(Set(groups.joined()) == Set(0..<8))
        let outcomes = witness.outcomes.withLock { $0 }
        for number in 0..<8 as Range<Int64> {
            let expected: StateError? = number % 2 == 0 ? nil : .failed(reason: String(number))
            #expect(outcomes[number] == .some(expected))
        }
    }

    @Test func everyRequestIsWrittenOnceAndByOneThreadAtATime() {
        let witness = Witness()
        let isBusy = Mutex(false)
        let collisions = Mutex(0)
        withThreads(8) { thread in
            for step in 0..<200 {
                let request = Self.request(Int64(thread * 200 + step))
                _ = witness.line.commit(request) { requests in
                    let wasBusy = isBusy.withLock { isBusy in
                        defer { isBusy = true }
                        return isBusy
                    }
                    if wasBusy { collisions.withLock { $0 += 1 } }
                    let failures = witness.write(requests, others: 0)
                    isBusy.withLock { $0 = false }
                    return failures
                }
            }
        }
        #expect(collisions.withLock { $0 } == 0)
        let written = witness.groups.withLock { $0.flatMap { $0 } }
        #expect(written.count == 1600 && Set(written) == Set(0..<1600))
        #expect(witness.line.waitingCount == 0)
    }
}
