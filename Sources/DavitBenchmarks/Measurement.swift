internal import DavitSystem

/// A small operation that is repeated many times.
struct Benchmark {
    let name: String
    /// Runs the given number of iterations; returns a value that depends on all of them, so that the compiler
    /// cannot remove any.
    let run: (Int) async -> Int

    init(_ name: String, _ once: @escaping () -> Int) {
        self.name = name
        run = { count in
            var sum = 0
            for _ in 0..<count { sum &+= once() }
            return sum
        }
    }

    init(_ name: String, awaiting once: @escaping () async -> Int) {
        self.name = name
        run = { count in
            var sum = 0
            for _ in 0..<count { sum &+= await once() }
            return sum
        }
    }
}

/// A loop limited by the processor's speed: ratios to it are comparable between machines.
enum Reference {
    /// FNV-1a over 1 KiB: each step depends on the previous one.
    static func benchmark() -> Benchmark {
        let bytes = (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        return Benchmark("a hash of 1 KiB") {
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return Int(truncatingIfNeeded: hash)
        }
    }
}

enum Measurement {
    private static let roundNanoseconds: Int64 = 2_000_000
    /// The file in which `Tests/Guard/allocations.c`, if loaded, publishes two 8-byte numbers, the first of
    /// which is the number of allocations.
    private static let counts = Environment.variable("DAVIT_GUARD_ALLOCATIONS")
    /// The sum of all results, so that the compiler cannot remove a benchmark; used by the main task only.
    nonisolated(unsafe) private static var sink = 0

    /// Returns the duration of the iterations in nanoseconds.
    static func time(_ benchmark: Benchmark, _ iterations: Int) async -> Int64 {
        let start = Clock.now()
        let sum = await benchmark.run(iterations)
        let end = Clock.now()
        unsafe sink &+= sum
        return end - start
    }

    /// Returns the number of iterations that take about the duration of one round.
    static func calibrate(_ benchmark: Benchmark) async -> Int {
        var iterations = 16
        while true {
            let taken = await time(benchmark, iterations)
            if taken >= roundNanoseconds / 4 {
                return max(1, iterations * Int(roundNanoseconds) / Int(taken))
            }
            iterations *= 2
        }
    }

    /// Returns the number of allocations per iteration; nil if they are not counted.
    static func allocations(_ benchmark: Benchmark, _ iterations: Int) async -> Double? {
        guard let before = allocationCount() else { return nil }
        _ = await time(benchmark, iterations)
        guard let after = allocationCount() else { return nil }
        return Double(after - before) / Double(iterations)
    }

    private static func allocationCount() -> UInt64? {
        guard let counts, let file = try? SmallFile(reading: counts), file.bytes.count >= 8 else {
            return nil
        }
        return (0..<8).reduce(0) { $0 | UInt64(file.bytes[$1]) << UInt64(8 * $1) }
    }
}
