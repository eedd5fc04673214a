internal import DavitEngine
internal import DavitHTTP
internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

/// The metrics of a server. No label contains a path, a user or an address, and all have a fixed set of values.
enum ServerMetrics {
    static func transport(_ statistics: HTTPServer.Statistics, _ loops: LoopPoll.Outcome) -> [Metric] {
        requests(statistics.requests) + connections(statistics.connections) + [
            Metric("davit_event_loops", .gauge, "Event loops.", value: Double(loops.loops)),
            Metric(
                "davit_event_loops_responding", .gauge, "Event loops that responded within one second.",
                value: Double(loops.responding)),
        ]
    }

    /// Methods without requests are left out.
    private static func requests(_ counts: RequestCounts) -> [Metric] {
        var requests: [Metric.Sample] = []
        var durations: [Metric.Sample] = []
        for kind in 0..<HTTPMethod.kindCount {
            let method = Metric.Label("method", name(ofKind: kind))
            let all = RequestCounts.Outcome.allCases.map { counts.requests(kind: kind, $0) }
            guard all.contains(where: { $0 > 0 }) else { continue }
            for (outcome, count) in zip(RequestCounts.Outcome.allCases, all) {
                requests.append(
                    Metric.Sample([method, Metric.Label("status", outcome.text)], .number(Double(count))))
            }
            durations.append(
                Metric.Sample(
                    [method], value(counts.durations(kind: kind), RequestCounts.durationBounds, unit: 1e9)))
        }
        return [
            Metric("davit_requests", .counter, "Requests that were answered or aborted.", requests),
            Metric(
                "davit_request_duration_seconds", .histogram, unit: "seconds",
                "Time from the arrival of the request head to the end of the response.", durations),
            Metric(
                "davit_request_size_bytes", .histogram, unit: "bytes",
                "Content of requests that have content.",
                [Metric.Sample([], value(counts.requestSizes, RequestCounts.sizeBounds, unit: 1))]),
            Metric(
                "davit_response_size_bytes", .histogram, unit: "bytes", "Content of responses.",
                [Metric.Sample([], value(counts.responseSizes, RequestCounts.sizeBounds, unit: 1))]),
        ]
    }

    /// Returns the name of a method, or `other` for all methods that davit does not know.
    static func name(ofKind kind: Int) -> String {
        HTTPMethod.named.indices.contains(kind) ? HTTPMethod.named[kind].name.description : "other"
    }

    private static func value(
        _ distribution: RequestCounts.Distribution, _ bounds: [Int64], unit: Double
    ) -> Metric.Value {
        .distribution(
            Metric.Distribution(
                bounds: bounds.map { Double($0) / unit }, counts: distribution.counts,
                sum: Double(distribution.sum) / unit))
    }

    private static func connections(_ totals: ConnectionCounter.Totals) -> [Metric] {
        let refused = [
            ("address-limit", totals.refusedByAddress), ("ban", totals.refusedByBan),
            ("application", totals.refusedByApplication),
            ("descriptors", totals.dropped),
        ]
        return [
            Metric("davit_connections", .gauge, "Open connections.", value: Double(totals.open)),
            Metric(
                "davit_connections_accepted", .counter, "Accepted connections.",
                value: Double(totals.accepted)),
            Metric(
                "davit_connections_refused", .counter, "Connections that were closed immediately.",
                refused.map { Metric.Sample([Metric.Label("reason", $0.0)], .number(Double($0.1))) }),
        ]
    }

    static func state(
        _ state: Share.Statistics, freeBytes: Int64?, journalBacklog: Int
    ) -> [Metric] {
        var metrics = [
            Metric("davit_locks", .gauge, "Stored locks.", value: Double(state.locks)),
            Metric(
                "davit_uploads_open", .gauge, "Uploads that are not complete.",
                value: Double(state.openUploads)),
            Metric(
                "davit_uploads_open_bytes", .gauge, unit: "bytes", "Bytes received for open uploads.",
                value: Double(state.openUploadBytes)),
            Metric("davit_trash_entries", .gauge, "Entries in the trash.", value: Double(state.trashEntries)),
            Metric(
                "davit_trash_bytes", .gauge, unit: "bytes", "Content in the trash.",
                value: Double(state.trashBytes)),
            Metric(
                "davit_journal_pending_changes", .gauge,
                "Names and folders that the journal of changes has not compared yet.",
                value: Double(journalBacklog)),
        ]
        if let freeBytes {
            metrics.append(
                Metric(
                    "davit_free_space_bytes", .gauge, unit: "bytes",
                    "Free space above the reserved space, on the volume that has least.",
                    value: Double(freeBytes)))
        }
        return metrics
    }

    static func authentication(_ load: Authentication.Load) -> [Metric] {
        [
            Metric(
                "davit_passwords_waiting", .gauge, "Passwords that wait to be hashed.",
                value: Double(load.waiting)),
            Metric(
                "davit_passwords_hashing", .gauge, "Passwords that are being hashed.",
                value: Double(load.hashing)),
            Metric(
                "davit_throttled_addresses", .gauge, "Addresses that have sent too many wrong passwords.",
                value: Double(load.throttledAddresses)),
        ]
    }

    static func audit(_ audit: AuditLog.Statistics) -> [Metric] {
        [
            Metric(
                "davit_audit_records", .counter, "Records of the audit log, without those that were lost.",
                value: Double(audit.records)),
            Metric(
                "davit_audit_lost_records", .counter,
                "Records that are not in the audit log, because it could not be written.",
                value: Double(audit.lost)),
            Metric(
                "davit_audit_failing", .gauge, "Whether the audit log cannot be written now.",
                value: audit.isFailing ? 1 : 0),
        ]
    }

    static func checks(_ checks: [HealthCheck]) -> Metric {
        Metric(
            "davit_check_passing", .gauge, "Whether a check of the health passes.",
            checks.map { Metric.Sample([Metric.Label("check", $0.name)], .number($0.passes ? 1 : 0)) })
    }

    /// - Parameter version: the version of davit.
    static func process(_ process: ProcessStatistics, version: String) -> [Metric] {
        var metrics = [
            Metric(
                "davit_build", .info, "The version of davit.",
                [Metric.Sample([Metric.Label("version", version)], .number(1))]),
            Metric(
                "process_cpu_seconds", .counter, unit: "seconds", "Processor time of all threads.",
                value: process.cpuSeconds),
            Metric(
                "process_max_fds", .gauge, "Limit of open descriptors.",
                value: Double(process.descriptorLimit)),
        ]
        if let bytes = process.residentBytes {
            metrics.append(
                Metric(
                    "process_resident_memory_bytes", .gauge, unit: "bytes", "Memory in use.",
                    value: Double(bytes)))
        }
        if let count = process.openDescriptors {
            metrics.append(Metric("process_open_fds", .gauge, "Open descriptors.", value: Double(count)))
        }
        if let start = process.startSeconds {
            metrics.append(
                Metric(
                    "process_start_time_seconds", .gauge, unit: "seconds",
                    "Start of the process, since 1970.",
                    value: start))
        }
        return metrics
    }
}
