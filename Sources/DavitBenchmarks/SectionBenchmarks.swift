internal import DavitEngine
internal import DavitHTTP

func sectionBenchmarks() -> [Benchmark] {
    let path = ResourcePath(segments: ["Documents", "Reports", "2026", "minutes.txt"].map(\.utf8)) ?? .root
    let claims = [Claim(path: path, mode: .exclusive)]
    var table = ClaimTable()
    let sections = PathSections()
    return [
        Benchmark("ClaimTable, one path of 4 segments") {
            let (ticket, isGranted) = table.enter(claims)
            return table.leave(ticket).count + (isGranted ? 1 : 0)
        },
        Benchmark(
            "PathSections, one path of 4 segments",
            awaiting: {
                guard let section = try? await sections.acquire(claims) else { return -1 }
                section.release()
                return 1
            }),
    ]
}
