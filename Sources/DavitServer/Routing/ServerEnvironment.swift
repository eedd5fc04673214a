package import DavitAccess
public import DavitHTTP
internal import Synchronization

/// The services that a server provides to mounted handlers.
public struct ServerEnvironment: Sendable {
    /// The severity of a log entry.
    public enum Severity: Sendable {
        /// An error, a potential problem, or normal operation.
        case error, warning, info
    }

    /// Writes a log entry: severity, constant message, and named values.
    public typealias LogLine =
        @Sendable (Severity, StaticString, KeyValuePairs<StaticString, String>) -> Void

    /// Runs calls that block; they must never run on the event loop.
    public let work: any BlockingWorkRunner
    /// Storage for request content that is too long for memory.
    public let temporaryFiles: TemporaryFiles
    /// The hosts of the public URLs in lower case: names of this server in addition to its addresses.
    public let publicHosts: [String]
    /// The public hosts, each with its port if the public URL has one.
    public let publicAuthorities: [String]
    /// The public hosts that clients reach over TLS, even if a proxy terminates it.
    public let securePublicHosts: [String]
    /// Origins of other sites whose pages may use the server, in the form `https://app.example`.
    public let pageOrigins: [String]
    /// Writes a log entry for administrators. The message is constant; variable data is passed as values.
    public let log: LogLine
    /// Runs work on another thread, where it may block, without waiting for the result. Returns false, without
    /// running the work, if too much work is queued or the server is stopping.
    public let background: @Sendable (@escaping @Sendable () -> Void) -> Bool
    /// Paths below the prefix of this handler that other mounts handle. The handler's own resources at these
    /// paths are unreachable, and it should not create any.
    public private(set) var hiddenPaths: [ResourcePath] = []
    /// Records changes; nil without an audit log.
    package private(set) var audit: (any AuditTrail)?
    /// Stores events for other programs; nil if there are none.
    package private(set) var outbox: (any ChangeOutbox)?
    private let lifecycleObservers = LifecycleObserverList()

    /// Returns this environment with an audit log and an outbox.
    package func recording(
        in audit: (any AuditTrail)?, _ outbox: (any ChangeOutbox)? = nil
    ) -> ServerEnvironment {
        var copy = self
        copy.audit = audit
        copy.outbox = outbox
        return copy
    }

    /// - Parameter log: must not block for long; the default logs nothing.
    public init(
        work: any BlockingWorkRunner, publicHosts: [String] = [], publicAuthorities: [String] = [],
        securePublicHosts: [String] = [], pageOrigins: [String] = [],
        temporaryFiles: TemporaryFiles = .none,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool,
        log: @escaping LogLine = { _, _, _ in }
    ) {
        self.work = work
        self.temporaryFiles = temporaryFiles
        self.publicHosts = publicHosts
        self.publicAuthorities = publicAuthorities
        self.securePublicHosts = securePublicHosts
        self.pageOrigins = pageOrigins
        self.background = background
        self.log = log
    }

    /// Returns the environment for a handler mounted below a prefix.
    /// - Parameter others: the prefixes of mounts with higher priority, relative to the same root as
    ///   `prefix`.
    func below(_ prefix: ResourcePath, hiding others: [ResourcePath]) -> ServerEnvironment {
        var environment = self
        environment.hiddenPaths = (hiddenPaths + others).compactMap { $0.rebased(from: prefix, to: .root) }
        return environment
    }

    /// Retains `lifecycleObserver` as long as the server exists, and notifies it when the server starts and
    /// stops.
    public func addLifecycleObserver(_ lifecycleObserver: any LifecycleObserver) {
        lifecycleObservers.all.withLock { $0.append(lifecycleObserver) }
    }

    /// Logs an unexpected error from a route action.
    package func report(_ failure: HandlerFailure) {
        log(
            .error, "handler failed",
            [
                "request": failure.requestID, "method": failure.method.rawValue,
                "path": String(decoding: failure.rawPath, as: UTF8.self), "error": "\(failure.error)",
            ])
    }
}

/// Resources of a handler that live as long as the server, such as open files or a database. Methods are
/// called one at a time on a thread that may block; the default implementations do nothing.
public protocol LifecycleObserver: AnyObject, Sendable {
    /// Called when the server has started listening, possibly again after a stop.
    func serverDidStart()
    /// Called every five seconds while requests arrive, and afterwards until it returns false. Release
    /// resources here that should not stay open while idle.
    func performMaintenance() -> Bool
    /// Called when the server no longer handles requests. The server waits for background work after this
    /// call.
    func serverWillStop()
    /// Called when the server has stopped completely. It may be started again.
    func serverDidStop()
}

extension LifecycleObserver {
    public func serverDidStart() {}
    public func performMaintenance() -> Bool { false }
    public func serverWillStop() {}
    public func serverDidStop() {}
}

private final class LifecycleObserverList: Sendable {
    let all = Mutex<[any LifecycleObserver]>([])
}

extension ServerEnvironment {
    /// Calls `body` for each lifecycle observer, in the order of registration.
    package func forEachLifecycleObserver(_ body: (any LifecycleObserver) -> Void) {
        for lifecycleObserver in lifecycleObservers.all.withLock({ $0 }) { body(lifecycleObserver) }
    }

    /// Performs the periodic maintenance of all lifecycle observers.
    /// - Returns: false if no observer needs another call.
    package func performMaintenance() -> Bool {
        var hasMore = false
        forEachLifecycleObserver { if $0.performMaintenance() { hasMore = true } }
        return hasMore
    }
}
