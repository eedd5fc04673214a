internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// The state that all connections of a server share.
final class ServerContext: Sendable {
    let handler: any Handler
    let log: Log
    let pool: BlockingPool
    let limits: WireLimits
    let deadlines: DeadlineNanoseconds
    let maxWaitingPerLoop: Int
    /// The value of the `Server` field.
    let name: [UInt8]?
    let accessLog: (@Sendable (AccessRecord) -> Void)?
    let accepts: (@Sendable (ConnectionEnds) -> Bool)?
    private let onClose: (@Sendable (ConnectionRecord) -> Void)?
    let census: ConnectionCensus
    let upkeep: Upkeep?
    let tap: (@Sendable (ConnectionEnds) -> (any ConnectionTap)?)?
    /// Nil for a server without TLS.
    let tls: TLSPort?
    private let observer: (@Sendable (TransportEvent) -> Void)?

    /// - Parameter census: the counter of another context whose limits apply here too; nil to create one.
    init(
        _ configuration: TransportConfiguration, handler: any Handler, pool: BlockingPool, log: Log,
        census: ConnectionCensus? = nil
    ) {
        self.handler = handler
        self.log = log
        self.pool = pool
        limits = configuration.limits
        deadlines = DeadlineNanoseconds(configuration.deadlines)
        maxWaitingPerLoop = configuration.maxWaitingPerLoop
        name = configuration.serverName.map { Array($0.utf8) }
        accessLog = configuration.accessLog
        accepts = configuration.acceptsConnection
        onClose = configuration.connectionClosed
        observer = configuration.observer
        tap = configuration.tap
        upkeep = configuration.upkeep.map { Upkeep($0, interval: configuration.upkeepInterval, pool: pool) }
        let census =
            census
            ?? ConnectionCensus(
                limit: configuration.maxConnections, limitPerAddress: configuration.maxConnectionsPerAddress,
                unlimited: configuration.proxies, onOccupancy: configuration.occupancy)
        self.census = census
        #if TLS
        if let context = configuration.tls {
            var plain = configuration
            plain.tls = nil
            tls = TLSPort(
                context, renew: configuration.renewTLS, interval: configuration.tlsRenewalInterval,
                insecure: ServerContext(
                    plain, handler: SecureRedirect(), pool: pool, log: log, census: census))
        } else {
            tls = nil
        }
        #else
        tls = nil
        #endif
    }

    func observe(_ event: TransportEvent) { observer?(event) }

    func connectionClosed(_ connection: Connection, isSecure: Bool) {
        if let onClose { onClose(connection.record(isSecure: isSecure)) }
        connection.loop.load.subtract(1, ordering: .releasing)
        census.leave(connection.ends.remote)
        observe(.connectionClosed)
    }
}

/// ``TransportConfiguration/Deadlines`` in nanoseconds.
struct DeadlineNanoseconds: Sendable {
    let head: Int64
    let keepAlive: Int64
    let linger: Int64
    let handshake: Int64
    let parking: Int64
    let progressGuard: ProgressGuard

    init(_ deadlines: TransportConfiguration.Deadlines) {
        head = deadlines.head.nanoseconds
        keepAlive = deadlines.keepAlive.nanoseconds
        linger = deadlines.linger.nanoseconds
        handshake = deadlines.handshake.nanoseconds
        parking = min(deadlines.parking, deadlines.keepAlive).nanoseconds
        progressGuard = ProgressGuard(
            window: deadlines.window.nanoseconds, bytesPerSecond: deadlines.bytesPerSecond)
    }
}

extension Duration {
    /// The duration in nanoseconds, limited to about 146 years so that sums do not overflow.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 2_000_000_000
        return max(-limit, min(limit, seconds)) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
