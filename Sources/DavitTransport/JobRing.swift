/// A first-in, first-out queue of jobs: a ring buffer whose capacity is a power of two.
struct JobRing {
    private var storage = [UnownedJob?](repeating: nil, count: 64)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func push(_ job: UnownedJob) {
        if count == storage.count { grow() }
        storage[(head + count) & (storage.count - 1)] = job
        count += 1
    }

    mutating func pop() -> UnownedJob? {
        guard count > 0 else { return nil }
        let job = storage[head]
        head = (head + 1) & (storage.count - 1)
        count -= 1
        return job
    }

    private mutating func grow() {
        var larger = [UnownedJob?](repeating: nil, count: storage.count * 2)
        for index in 0..<count { larger[index] = storage[(head + index) & (storage.count - 1)] }
        storage = larger
        head = 0
    }
}
