import DavitHTTP
import DavitMetrics
import DavitTesting
import Testing

/// The routes of the admin listener, with injected checks.
struct AdminHandlerTests {
    private func client(
        alive: Bool = true, checks: [HealthCheck]? = [], metrics: [Metric]? = []
    ) -> TestClient<AdminHandler> {
        TestClient(
            AdminHandler(
                AdminHandler.Source(
                    liveness: {
                        [HealthCheck("event-loops", problem: alive ? nil : "1 of 2 did not respond")]
                    },
                    readiness: { checks }, metrics: { metrics })))
    }

    private static let failing = [
        HealthCheck("state-database", problem: nil), HealthCheck("free-space", problem: "\"full\""),
    ]

    @Test func passingChecksAre200() async throws {
        let client = client(checks: [HealthCheck("state-database", problem: nil)])
        let live = try await client.send("GET", "/livez")
        #expect(live.status == 200)
        #expect(live.text == "ok event-loops\n")
        #expect(live.fields[.cacheControl] == "no-store")
        let ready = try await client.send("GET", "/readyz")
        #expect(ready.status == 200)
        #expect(ready.text == "ok state-database\n")
    }

    @Test func failingLoopsAre503() async throws {
        let answer = try await client(alive: false).send("GET", "/livez")
        #expect(answer.status == 503)
        #expect(answer.text == "failed event-loops: 1 of 2 did not respond\n")
    }

    @Test func eachCheckIsNamed() async throws {
        let answer = try await client(checks: Self.failing).send("GET", "/readyz")
        #expect(answer.status == 503)
        #expect(answer.text == "ok state-database\nfailed free-space: \"full\"\n")
    }

    @Test func checksAreJSONOnRequest() async throws {
        let answer = try await client(checks: Self.failing)
            .send("GET", "/readyz", [("Accept", "application/json")])
        #expect(answer.status == 503)
        #expect(answer.fields[.contentType] == "application/json")
        #expect(
            answer.text == """
                {"status":"failed","checks":[{"name":"state-database","status":"ok"},\
                {"name":"free-space","status":"failed","problem":"\\u0022full\\u0022"}]}
                """)
    }

    @Test func metricsAreInTheRequestedFormat() async throws {
        let client = client(metrics: [Metric("a", .counter, "A.", value: 1)])
        let older = try await client.send("GET", "/metrics")
        #expect(older.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(older.text == "# TYPE a_total counter\n# HELP a_total A.\na_total 1\n")
        let open = try await client.send(
            "GET", "/metrics", [("Accept", "application/openmetrics-text; version=1.0.0")])
        #expect(open.fields[.contentType] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(open.text.hasSuffix("a_total 1\n# EOF\n"))
    }

    @Test func excessRequestsAre503() async throws {
        let client = client(checks: nil, metrics: nil)
        #expect(try await client.send("GET", "/readyz").status == 503)
        #expect(try await client.send("GET", "/metrics").status == 503)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "BREW"])
    func onlyGetAndHeadAreAllowed(method: String) async throws {
        for path in ["/livez", "/readyz", "/metrics", "/"] {
            let answer = try await client().send(method, path)
            #expect(answer.status == 405)
            #expect(answer.fields[.allow] == "GET, HEAD")
        }
    }

    @Test func otherPathsAre404() async throws {
        for path in ["/", "/livez/", "/metrics/a", "/.davit/"] {
            #expect(try await client().send("GET", path).status == 404)
        }
    }

    @Test func certificatesAreValidForAPeriod() {
        let period = Timestamp(seconds: 100)...Timestamp(seconds: 200)
        for second: Int64 in [100, 200] {
            #expect(HealthCheck.certificate(period, now: Timestamp(seconds: second)).passes)
        }
        #expect(
            HealthCheck.certificate(period, now: Timestamp(seconds: 99)).problem
                == "a certificate is not valid yet")
        #expect(
            HealthCheck.certificate(period, now: Timestamp(seconds: 201)).problem
                == "a certificate has expired")
    }

    @Test func headIsAnswered() async throws {
        #expect(try await client().send("HEAD", "/metrics").status == 200)
        #expect(try await client(alive: false).send("HEAD", "/livez").status == 503)
    }
}
