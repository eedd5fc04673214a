internal import DavitHTTP
internal import DavitServer

/// Measures route selection, including an empty response. The cost is independent of the number of exact
/// paths, and of the number of patterns added before the selected route.
func routerBenchmarks() -> [Benchmark] {
    [
        benchmark("Router, 1 of 10 exact routes", exact: 10),
        benchmark("Router, 1 of 1,000 exact routes", exact: 1000),
        benchmark("Router, 1 of 10,000 exact routes", exact: 10_000),
        benchmark("Router, 1 of 1,000 added after 100 patterns", exact: 1000, patterns: 100),
    ].compactMap(\.self)
}

private func benchmark(_ name: String, exact: Int, patterns: Int = 0) -> Benchmark? {
    let head = "GET /api/v1/resource-\(exact / 2)/members HTTP/1.1\r\nHost: example.com\r\n\r\n"
    guard let request = try? HTTPRequest(parsing: Array(head.utf8)) else { return nil }
    let router = Router { routes in
        for _ in 0..<patterns {
            routes.get(matching: { /\/api\/v\d+\/.*\/members/ }) { _, _ in HTTPResponse(status: .notFound) }
        }
        for number in 0..<exact {
            routes.get("/api/v1/resource-\(number)/members") { _ in HTTPResponse(status: .noContent) }
        }
    }
    return Benchmark(
        name,
        awaiting: {
            guard let response = try? await router.respond(to: request).response(),
                response.status == .noContent
            else {
                fatalError("\(name): unexpected route")
            }
            return Int(response.status.code)
        })
}
