internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitSystem

/// The limits of a server that apply to each account or address, apart from those on connections.
struct ClientLimits: Sendable {
    /// Nil without a limit.
    let requests: RequestLimiter?

    /// - Throws: ``ServerError/trustedProxyMalformed(_:)``.
    init(of configuration: Configuration, log: Log) throws(ServerError) {
        let proxies = try configuration.proxyNetworks()
        requests = configuration.maxRequestsPerAccount.map {
            RequestLimiter(
                limit: $0, proxies: proxies,
                limitLog: LimitLog { log.warning("request refused by a limit", $0.details) },
                now: { Clock.coarseNow() })
        }
    }

    /// The metrics of the limits that are in use.
    var metrics: [Metric] {
        var metrics: [Metric] = []
        if let load = requests?.load {
            metrics += [
                Metric(
                    "davit_requests_waiting", .gauge,
                    "Requests that wait because their client has too many others.",
                    value: Double(load.waiting)),
                Metric(
                    "davit_requests_refused", .counter,
                    "Requests that were refused because their client has too many others.",
                    value: Double(load.refused)),
            ]
        }
        return metrics
    }

    /// A summary for people, as pairs of a name and a text.
    var summary: [(name: String, text: String)] {
        var lines: [(String, String)] = []
        if let load = requests?.load {
            lines.append(("requests over the limit", "\(load.waiting) waiting, \(load.refused) refused"))
        }
        return lines
    }
}
