internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import Synchronization

#if TLS
/// What TLS of a server is at the moment: its certificates can be replaced while connections come.
final class TLSPort: Sendable {
    private let context: Mutex<TLSContext>
    private let renew: (@Sendable () -> TLSContext?)?
    private let interval: Int64
    /// When certificates are to be looked at; on the clock of the loops.
    private let due: Atomic<Int64>
    /// Serves those who speak HTTP without TLS to this port.
    let insecure: ServerContext

    /// - Parameters:
    ///   - renew: what is to take the place of the context, if it is time; may block.
    ///   - interval: how long after the last time a new connection makes it run again.
    init(
        _ context: TLSContext, renew: (@Sendable () -> TLSContext?)?, interval: Duration,
        insecure: ServerContext
    ) {
        self.context = Mutex(context)
        self.renew = renew
        self.interval = interval.nanoseconds
        due = Atomic(Clock.coarseNow() + self.interval)
        self.insecure = insecure
    }

    var current: TLSContext { context.withLock { $0 } }

    func replace(_ next: TLSContext) { context.withLock { $0 = next } }

    /// The beginning of a connection, with the certificates of this moment.
    func accept() throws(CryptoError) -> TLSLayer {
        let current = context.withLock { $0 }
        return try TLSLayer(current, now: Timestamp(nanoseconds: Clock.coarseWallNow()))
    }

    /// Whether a step of a handshake takes too long for a loop.
    var handshakesSlowly: Bool { context.withLock { $0.handshakesSlowly } }

    /// A connection came: certificates matter to nobody else, so that nothing needs a timer.
    func connectionCame(now: Int64, pool: BlockingPool) {
        guard let renew else { return }
        let expected = due.load(ordering: .relaxed)
        guard now >= expected else { return }
        let (isMine, _) = due.compareExchange(
            expected: expected, desired: now + interval, ordering: .relaxed)
        guard isMine else { return }
        pool.start { if let next = renew() { self.replace(next) } }
    }
}
#else
/// There is none in this build.
enum TLSPort {}
#endif
