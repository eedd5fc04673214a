#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How much work the slowest tests do: `make test` runs samples of them, `make test-all` sets
/// `DAVIT_TEST_ALL` and runs all of them.
public enum TestExtent {
    public static let isComplete = unsafe getenv("DAVIT_TEST_ALL") != nil

    /// Returns `all` in a complete run, otherwise every `step`-th element; the environment variable `SEED`
    /// determines the first one.
    public static func sample<Element>(of all: [Element], every step: Int) -> [Element] {
        if isComplete { return all }
        let seed = unsafe getenv("SEED").map { unsafe String(cString: $0) } ?? ""
        // FNV-1a: the hash values of the standard library differ from run to run.
        let hash = seed.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let first = Int(hash % UInt64(step))
        return all.indices.filter { $0 % step == first % min(step, all.count) }.map { all[$0] }
    }

    /// Returns `complete` in a complete run, otherwise `sampled`.
    public static func size(_ complete: Int, sampled: Int) -> Int { isComplete ? complete : sampled }
}
