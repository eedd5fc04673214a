internal import DavitControl
internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitSystem

/// The limits of a server that apply to each account or address, apart from those on connections.
struct ClientLimits: Sendable {
    /// Nil without a limit.
    let requests: RequestLimiter?
    /// Nil without a limit.
    let transfers: TransferLimiter?
    let bans: BanList
    /// Writes the bans; nil if they are only in memory.
    let banKeeper: BanKeeper?

    /// Reads the stored bans. Blocks.
    /// - Throws: ``ServerError/trustedProxyMalformed(_:)`` and ``ServerError/networkMalformed(_:)``.
    init(
        of configuration: Configuration, in environment: ServerEnvironment, log: Log
    ) throws(ServerError) {
        let proxies = try configuration.proxyNetworks()
        requests = configuration.maxRequestsPerAccount.map {
            RequestLimiter(
                limit: $0, waitingTime: configuration.requestWait, proxies: proxies,
                limitLog: LimitLog { log.warning("request refused by a limit", $0.details) },
                now: { Clock.coarseNow() })
        }
        let (accountRate, addressRate) = (configuration.maxRatePerAccount, configuration.maxRatePerAddress)
        transfers =
            accountRate == nil && addressRate == nil
            ? nil
            : TransferLimiter(
                accountRate: accountRate, networkRate: addressRate, proxies: proxies, now: { Clock.now() })
        var shares: [OpenShare] = []
        environment.forEachLifecycleObserver { if let share = $0 as? OpenShare { shares.append(share) } }
        let exempt = try configuration.bans.exemptNetworks() + proxies
        let bans = BanList(
            configuration.bans.policy, exempt: exempt,
            store: shares.first.map { DatabaseBans(folder: $0.folder.path) },
            background: environment.background, report: { Self.write($0, to: log) },
            now: { Clock.wallNow() / 1_000_000_000 })
        self.bans = bans
        for share in shares { share.use(bans) }
        banKeeper = shares.isEmpty ? nil : BanKeeper(bans)
        if let banKeeper { environment.addLifecycleObserver(banKeeper) }
    }

    private static func write(_ report: BanList.Report, to log: Log) {
        switch report {
        case .banned(let ban, let seconds):
            log.warning(
                "address banned",
                [
                    "address": ban.network, "reason": ban.reason.rawValue, "seconds": "\(seconds)",
                    "bans": "\(ban.count)",
                ])
        case .lifted(let network): log.info("ban lifted", ["address": network])
        case .failed(let reason): log.error("cannot read or write bans", ["reason": reason])
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
        let bans = bans.load
        return metrics + [
            Metric("davit_banned_addresses", .gauge, "Banned addresses.", value: Double(bans.active)),
            Metric(
                "davit_bans", .counter, "Bans of addresses since the server was started.",
                value: Double(bans.total)),
        ]
    }

    /// A summary for people, as pairs of a name and a text.
    var summary: [(name: String, text: String)] {
        var lines: [(String, String)] = []
        if let load = requests?.load {
            lines.append(("requests over the limit", "\(load.waiting) waiting, \(load.refused) refused"))
        }
        lines.append(("banned addresses", "\(bans.load.active)"))
        return lines
    }
}

/// Writes bans to their store while the server runs.
final class BanKeeper: LifecycleObserver {
    private let bans: BanList

    init(_ bans: BanList) { self.bans = bans }

    func performMaintenance() -> Bool {
        bans.performMaintenance()
        return false
    }

    func serverDidStop() { bans.save() }
}
