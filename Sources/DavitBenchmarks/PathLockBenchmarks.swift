internal import DavitEngine
internal import DavitHTTP

func pathLockBenchmarks() -> [Benchmark] {
    let path = ResourcePath(segments: ["Documents", "Reports", "2026", "minutes.txt"].map(\.utf8)) ?? .root
    let requests = [PathLockRequest(path: path, mode: .exclusive)]
    var table = PathLockTable()
    let pathLocks = PathLocks()
    return [
        Benchmark("PathLockTable, one path of 4 segments") {
            let (ticket, isGranted) = table.enter(requests)
            return table.leave(ticket).count + (isGranted ? 1 : 0)
        },
        Benchmark(
            "PathLocks, one path of 4 segments",
            awaiting: {
                guard let section = try? await pathLocks.acquire(requests) else { return -1 }
                section.release()
                return 1
            }),
    ]
}
