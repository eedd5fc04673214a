import DavitHTTP
import DavitSystem
import Testing

struct ExclusiveTests {
    private struct Failure: Error {}

    private struct Unique: ~Copyable {
        var count = 0

        mutating func increment() -> Int {
            count += 1
            return count
        }
    }

    @Test func changesAreKept() {
        let value = Exclusive([1])
        value.withValue { $0.append(2) }
        #expect(value.withValue { $0 } == [1, 2])
    }

    @Test func valueCanBeNoncopyable() {
        let value = Exclusive(Unique())
        #expect(value.withValue { $0.increment() } == 1)
        #expect(value.withValue { $0.increment() } == 2)
    }

    @Test func valueCanBeUsedAfterAnError() {
        let value = Exclusive(0)
        #expect(throws: Failure.self) {
            try value.withValue { value throws(Failure) in
                value = 1
                throw Failure()
            }
        }
        #expect(value.withValue { $0 } == 1)
    }

    @Test func valueCanBeUsedOnAnotherThread() throws {
        let value = Exclusive(1)
        let done = Latch(count: 1)
        value.withValue { $0 += 1 }
        try SystemThread.start(named: "other") {
            value.withValue { $0 += 1 }
            done.countDown()
        }
        done.wait()
        #expect(value.withValue { $0 } == 3)
    }

    @Test func nestedUseEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let value = Exclusive(0)
            value.withValue { _ in value.withValue { $0 += 1 } }
        }
    }

    // Release builds wait for the other use.
    #if DEBUG
    @Test func concurrentUseEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let value = Exclusive(0)
            let done = Latch(count: 1)
            value.withValue { _ in
                try? SystemThread.start(named: "other") {
                    value.withValue { $0 += 1 }
                    done.countDown()
                }
                done.wait()
            }
        }
    }
    #endif
}
