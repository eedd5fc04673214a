internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import Synchronization

#if TLS
/// The current TLS context of a server, which can be replaced while connections arrive.
final class TLSManager: Sendable {
    private let context: Mutex<TLSContext>
    private let renew: (@Sendable () -> TLSContext?)?
    private let interval: Int64
    /// When to check the certificates next, on the clock of the loops.
    private let due: Atomic<Int64>
    /// Serves clients that send plain HTTP to this port.
    let insecure: ServerContext

    /// - Parameters:
    ///   - renew: returns a replacement for the context if renewal is due; may block.
    ///   - interval: the minimum time between two calls of `renew`, which new connections trigger.
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

    /// Creates the TLS layer of a new connection with the current certificates.
    func accept() throws(CryptoError) -> TLSLayer {
        let current = context.withLock { $0 }
        return try TLSLayer(current, now: Timestamp(nanoseconds: Clock.coarseWallNow()))
    }

    /// Whether a step of a handshake takes too long to run on a loop.
    var handshakesSlowly: Bool { context.withLock { $0.handshakesSlowly } }

    /// Calls `renew` on the pool if it is due. Called for each new connection: only new connections need
    /// certificates, so no timer is required.
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
/// A placeholder for builds without TLS.
enum TLSManager {}
#endif
