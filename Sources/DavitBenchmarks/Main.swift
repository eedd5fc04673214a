internal import DavitSystem

/// Measures the parts of handling a request: nanoseconds, the ratio to a reference loop in this process, and
/// allocations.
///
/// Prints one tab-separated line for each benchmark: name, nanoseconds, ratio, allocations or `-`. See
/// `bench/micro.py`.
@main struct Main {
    /// The number of rounds. In each, the benchmark alternates with the reference; the fastest round of each
    /// counts, because it was disturbed least.
    private static let rounds = 80

    static func main() async {
        let benchmarks =
            wireBenchmarks() + accessBenchmarks() + routerBenchmarks() + webDAVBenchmarks()
            + pathLockBenchmarks()
        let reference = Reference.benchmark()
        let references = await Measurement.calibrate(reference)
        for benchmark in benchmarks {
            let iterations = await Measurement.calibrate(benchmark)
            var best = Int64.max
            var bestReference = Int64.max
            for _ in 0..<rounds {
                best = min(best, await Measurement.time(benchmark, iterations))
                bestReference = min(bestReference, await Measurement.time(reference, references))
            }
            let nanoseconds = Double(best) / Double(iterations)
            let ratio = nanoseconds / (Double(bestReference) / Double(references))
            let allocations = await Measurement.allocations(benchmark, iterations)
            let columns = [text(nanoseconds), text(ratio), allocations.map(text) ?? "-"]
            StandardStreams.writeOutput("\(benchmark.name)\t\(columns.joined(separator: "\t"))\n")
        }
    }

    /// Formats a number with three decimals.
    private static func text(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        let decimals = String(thousandths % 1000 + 1000).dropFirst()
        return "\(thousandths / 1000).\(decimals)"
    }
}
