import DavitMetrics
import Testing

/// The text formats of metrics: OpenMetrics 1.0, and version 0.0.4 of the format of Prometheus.
struct MetricsTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let metrics: [Metric]
        let openMetrics: String
        let prometheus: String
        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "no metrics", metrics: [], openMetrics: "# EOF\n", prometheus: ""),
        Row(
            what: "a counter has the suffix _total, in the older format also in its type",
            metrics: [Metric("a_requests", .counter, "Requests.", value: 3)],
            openMetrics:
                "# TYPE a_requests counter\n# HELP a_requests Requests.\na_requests_total 3\n# EOF\n",
            prometheus:
                "# TYPE a_requests_total counter\n# HELP a_requests_total Requests.\na_requests_total 3\n"),
        Row(
            what: "only OpenMetrics has units",
            metrics: [Metric("a_bytes", .gauge, unit: "bytes", "Bytes.", value: -0.5)],
            openMetrics:
                "# TYPE a_bytes gauge\n# UNIT a_bytes bytes\n# HELP a_bytes Bytes.\na_bytes -0.5\n# EOF\n",
            prometheus: "# TYPE a_bytes gauge\n# HELP a_bytes Bytes.\na_bytes -0.5\n"),
        Row(
            what: "in the older format, info metrics are gauges",
            metrics: [Metric("a_build", .info, "Build.", [.init([.init("version", "1")], .number(1))])],
            openMetrics: "# TYPE a_build info\n# HELP a_build Build.\na_build_info{version=\"1\"} 1\n# EOF\n",
            prometheus:
                "# TYPE a_build_info gauge\n# HELP a_build_info Build.\na_build_info{version=\"1\"} 1\n"),
        Row(
            what: "the intervals of a histogram are cumulated, and its last one has no bound",
            metrics: [
                Metric(
                    "a_seconds", .histogram, unit: "seconds", "Time.",
                    [
                        .init(
                            [.init("method", "GET")],
                            .distribution(.init(bounds: [0.001, 2.5], counts: [2, 0, 1], sum: 7.25)))
                    ])
            ],
            openMetrics: """
                # TYPE a_seconds histogram
                # UNIT a_seconds seconds
                # HELP a_seconds Time.
                a_seconds_bucket{method="GET",le="0.001"} 2
                a_seconds_bucket{method="GET",le="2.5"} 2
                a_seconds_bucket{method="GET",le="+Inf"} 3
                a_seconds_sum{method="GET"} 7.25
                a_seconds_count{method="GET"} 3
                # EOF

                """,
            prometheus: """
                # TYPE a_seconds histogram
                # HELP a_seconds Time.
                a_seconds_bucket{method="GET",le="0.001"} 2
                a_seconds_bucket{method="GET",le="2.5"} 2
                a_seconds_bucket{method="GET",le="+Inf"} 3
                a_seconds_sum{method="GET"} 7.25
                a_seconds_count{method="GET"} 3

                """),
        Row(
            what: "backslashes, quotation marks and line ends are escaped",
            metrics: [
                Metric("a", .gauge, "A \"b\"\\\n.", [.init([.init("x", "\\ \" \n ä")], .number(1))])
            ],
            openMetrics: "# TYPE a gauge\n# HELP a A \\\"b\\\"\\\\\\n.\na{x=\"\\\\ \\\" \\n ä\"} 1\n# EOF\n",
            prometheus: "# TYPE a gauge\n# HELP a A \"b\"\\\\\\n.\na{x=\"\\\\ \\\" \\n ä\"} 1\n"),
        Row(
            what: "metrics without samples or with invalid names, labels or units are left out",
            metrics: [
                Metric("a", .gauge, "A.", []), Metric("1a", .gauge, "A.", value: 1),
                Metric("", .gauge, "A.", value: 1), Metric("a b", .gauge, "A.", value: 1),
                Metric("a\nb 1", .gauge, "A.", value: 1), Metric("ä", .gauge, "A.", value: 1),
                Metric("a", .gauge, unit: "bytes", "A.", value: 1),
                Metric("a", .gauge, "A.", [.init([.init("x y", "")], .number(1))]),
                Metric("a", .gauge, "A.", [.init([.init("le", "")], .number(1))]),
            ], openMetrics: "# EOF\n", prometheus: ""),
        Row(
            what: "a repeated metric or sample is written once",
            metrics: [
                Metric("a", .gauge, "A.", [.init([], .number(1)), .init([], .number(2))]),
                Metric("a", .counter, "B.", value: 3),
            ],
            openMetrics: "# TYPE a gauge\n# HELP a A.\na 1\n# EOF\n",
            prometheus: "# TYPE a gauge\n# HELP a A.\na 1\n"),
        Row(
            what: "a value of another kind is left out",
            metrics: [
                Metric(
                    "a", .gauge, "A.",
                    [
                        .init([.init("x", "1")], .distribution(.init(bounds: [], counts: [1], sum: 1))),
                        .init([.init("x", "2")], .number(2)),
                    ])
            ],
            openMetrics: "# TYPE a gauge\n# HELP a A.\na{x=\"2\"} 2\n# EOF\n",
            prometheus: "# TYPE a gauge\n# HELP a A.\na{x=\"2\"} 2\n"),
    ]

    @Test(arguments: rows)
    func metricsAreWritten(row: Row) {
        #expect(MetricsText.text(of: row.metrics, in: .openMetrics) == row.openMetrics)
        #expect(MetricsText.text(of: row.metrics, in: .prometheus) == row.prometheus)
    }

    static let numbers: [(value: Double, text: String)] = [
        (0, "0"), (-0.0, "0"), (1, "1"), (-3, "-3"), (0.001, "0.001"), (1e15, "1000000000000000"),
        (1.5e300, "1.5e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ]

    @Test(arguments: numbers)
    func numbersAreWritten(value: Double, text: String) {
        #expect(MetricsText.number(value) == text)
    }

    static let formats: [(accept: String, isOpenMetrics: Bool)] = [
        ("", false), ("*/*", false), ("text/plain", false),
        ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5", true),
        ("Application/OpenMetrics-Text", true),
    ]

    @Test(arguments: formats)
    func clientChoosesTheFormat(accept: String, isOpenMetrics: Bool) {
        #expect((MetricsText.Format(accept: accept) == .openMetrics) == isOpenMetrics)
    }
}
