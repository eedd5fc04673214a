internal import DavitCrypto
internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// The state that all connections of a server share.
///
/// Each listener has a copy for each loop: retaining and releasing an object that several threads use moves its memory
/// from one processor to another for each request. For the same reason, objects that all loops use are called by methods
/// of this class, which do not retain them.
final class ServerContext: Sendable {
    private let handler: any Handler
    let log: Log
    let pool: BlockingPool
    let limits: WireLimits
    let deadlines: DeadlineNanoseconds
    let maxWaitingPerLoop: Int
    /// The value of the `Server` field; nil omits the field.
    let name: [UInt8]?
    let accessLog: (@Sendable (AccessRecord) -> Void)?
    let isBanned: (@Sendable (NetworkAddress) -> Bool)?
    let accepts: (@Sendable (ConnectionEndpoints) -> Bool)?
    private let onClose: (@Sendable (ConnectionRecord) -> Void)?
    let connectionCounter: ConnectionCounter
    private let maintenance: MaintenanceScheduler?
    let tap: (@Sendable (ConnectionEndpoints) -> (any ConnectionTap)?)?
    /// Manages the certificates; nil for a server without TLS.
    let tls: TLSManager?
    private let observer: (@Sendable (TransportEvent) -> Void)?

    /// - Parameter connectionCounter: the counter of another context whose limits apply here too; nil to
    ///   create one.
    init(
        _ configuration: TransportConfiguration, handler: any Handler, pool: BlockingPool, log: Log,
        connectionCounter: ConnectionCounter? = nil
    ) {
        self.handler = handler
        self.log = log
        self.pool = pool
        limits = configuration.limits
        deadlines = DeadlineNanoseconds(configuration.deadlines)
        maxWaitingPerLoop = configuration.maxWaitingPerLoop
        name = configuration.serverName.map { Array($0.utf8) }
        accessLog = configuration.accessLog
        isBanned = configuration.isBanned
        accepts = configuration.acceptsConnection
        onClose = configuration.connectionClosed
        observer = configuration.observer
        tap = configuration.tap
        maintenance = configuration.maintenance.map {
            MaintenanceScheduler($0, interval: configuration.maintenanceInterval, pool: pool)
        }
        let connectionCounter =
            connectionCounter
            ?? ConnectionCounter(
                limit: configuration.maxConnections, limitPerAddress: configuration.maxConnectionsPerAddress,
                unlimited: configuration.proxies, onOccupancy: configuration.occupancy)
        self.connectionCounter = connectionCounter
        #if TLS
        if let context = configuration.tls {
            var plain = configuration
            plain.tls = nil
            tls = TLSManager(
                context, renew: configuration.renewTLS, interval: configuration.tlsRenewalInterval,
                insecure: ServerContext(
                    plain, handler: configuration.insecureHandler, pool: pool, log: log,
                    connectionCounter: connectionCounter))
        } else {
            tls = nil
        }
        #else
        tls = nil
        #endif
    }

    /// Creates a copy for a loop.
    init(copying other: ServerContext) {
        handler = other.handler
        log = other.log
        pool = other.pool
        limits = other.limits
        deadlines = other.deadlines
        maxWaitingPerLoop = other.maxWaitingPerLoop
        // Not the same array, which would be shared.
        name = other.name.map { name in name.map { $0 } }
        accessLog = other.accessLog
        isBanned = other.isBanned
        accepts = other.accepts
        onClose = other.onClose
        connectionCounter = other.connectionCounter
        maintenance = other.maintenance
        tap = other.tap
        tls = other.tls
        observer = other.observer
    }

    /// Calls the handler.
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { try handler.respond(to: request) }

    /// Schedules maintenance; called after each response and at the start of live content.
    func scheduleMaintenance(on loop: EventLoop) { maintenance?.schedule(on: loop) }

    func observe(_ event: TransportEvent) { observer?(event) }

    func connectionClosed(_ connection: Connection, isSecure: Bool) {
        if let onClose { onClose(connection.record(isSecure: isSecure)) }
        connection.loop.load.subtract(1, ordering: .releasing)
        connectionCounter.leave(connection.endpoints.remote)
        observe(.connectionClosed)
    }
}

/// ``TransportConfiguration/Deadlines`` in nanoseconds.
struct DeadlineNanoseconds: Sendable {
    let head: Int64
    let keepAlive: Int64
    let linger: Int64
    let window: Int64
    let handshake: Int64
    let parking: Int64
    let transferRateMonitor: TransferRateMonitor

    init(_ deadlines: TransportConfiguration.Deadlines) {
        head = deadlines.head.nanoseconds
        keepAlive = deadlines.keepAlive.nanoseconds
        linger = deadlines.linger.nanoseconds
        window = deadlines.window.nanoseconds
        handshake = deadlines.handshake.nanoseconds
        parking = min(deadlines.parking, deadlines.keepAlive).nanoseconds
        transferRateMonitor = TransferRateMonitor(
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
