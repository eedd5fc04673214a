public import DavitHTTP
internal import Synchronization

/// What a server lends to the handlers that are mounted in it.
public struct ServerEnvironment: Sendable {
    /// How much a line of the log matters.
    public enum Severity: Sendable {
        /// Something failed; something is not as it should be; something happened.
        case error, warning, info
    }

    /// Writes a line: how much it matters, a constant text, and values with their names.
    public typealias LogLine =
        @Sendable (Severity, StaticString, KeyValuePairs<StaticString, String>) -> Void

    /// For calls that block; never on the event loop.
    public let work: any BlockingWork
    /// For content of requests that is too long for memory.
    public let temporaryFiles: TemporaryFiles
    /// The hosts of the public URLs, in lower case: names of this server besides its addresses.
    public let publicHosts: [String]
    /// Those of them that clients reach over TLS, whatever this server sees of it.
    public let securePublicHosts: [String]
    /// Other sites whose pages may use the server, as browsers write them: `https://app.example`.
    public let pageOrigins: [String]
    /// Writes a line for the people who run the server. The message is constant, what varies stands behind it.
    public let log: LogLine
    /// Has work that may block run on another thread, and returns at once: false, and it is not run, when too much waits
    /// already or the server ends.
    public let background: @Sendable (@escaping @Sendable () -> Void) -> Bool
    /// Where other mounts answer instead, below the prefix: what a handler has there can never be asked for. It should
    /// not put anything there either.
    public private(set) var hiddenPaths: [ResourcePath] = []
    private let residents = ResidentList()

    /// - Parameter log: must not block for long; nothing is logged unless given.
    public init(
        work: any BlockingWork, publicHosts: [String] = [], securePublicHosts: [String] = [],
        pageOrigins: [String] = [],
        temporaryFiles: TemporaryFiles = .none,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool,
        log: @escaping LogLine = { _, _, _ in }
    ) {
        self.work = work
        self.temporaryFiles = temporaryFiles
        self.publicHosts = publicHosts
        self.securePublicHosts = securePublicHosts
        self.pageOrigins = pageOrigins
        self.background = background
        self.log = log
    }

    /// The same for what is mounted below a prefix.
    /// - Parameter others: what is mounted below that and asked before, as paths from where `prefix` begins.
    func below(_ prefix: ResourcePath, hiding others: [ResourcePath]) -> ServerEnvironment {
        var environment = self
        environment.hiddenPaths = (hiddenPaths + others).compactMap { $0.rebased(from: prefix, to: .root) }
        return environment
    }

    /// Keeps `resident` as long as the server, and tells it how that lives.
    public func keep(_ resident: any Resident) { residents.all.withLock { $0.append(resident) } }

    /// Logs an error that an action did not expect.
    package func report(_ failure: HandlerFailure) {
        log(
            .error, "a handler failed",
            [
                "request": failure.requestID, "method": failure.method.rawValue,
                "path": String(decoding: failure.rawPath, as: UTF8.self), "error": "\(failure.error)",
            ])
    }
}

/// What lives behind a handler as long as its server: open files, a database. Every call comes from a thread that may
/// be blocked, one call at a time, and does nothing unless implemented.
public protocol Resident: AnyObject, Sendable {
    /// The server listens; again, where it had been stopped.
    func serverStarted()
    /// Called every five seconds while requests come, and afterwards until it returns false: for what should not stay
    /// open unused.
    func upkeep() -> Bool
    /// The last request has been answered. Work in the background is waited for after this.
    func serverEnds()
    /// Nothing of the server runs any more, until it is started again.
    func serverEnded()
}

extension Resident {
    public func serverStarted() {}
    public func upkeep() -> Bool { false }
    public func serverEnds() {}
    public func serverEnded() {}
}

private final class ResidentList: Sendable {
    let all = Mutex<[any Resident]>([])
}

extension ServerEnvironment {
    /// Calls `body` for each resident, in the order in which they came.
    package func forEachResident(_ body: (any Resident) -> Void) {
        for resident in residents.all.withLock({ $0 }) { body(resident) }
    }

    /// Does what has to be done now and then.
    /// - Returns: false if there is nothing left to do.
    package func upkeep() -> Bool {
        var hasMore = false
        forEachResident { if $0.upkeep() { hasMore = true } }
        return hasMore
    }
}
