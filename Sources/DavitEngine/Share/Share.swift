public import DavitHTTP
public import DavitServer
public import DavitStore

/// The components of a share: its stores, its path locks, and the executor of blocking calls.
///
/// A class rather than a struct, so that passing it through a request does not copy it.
public final class Share: Sendable {
    /// The resources that clients can see: a subset of ``stored`` if there are rules.
    let resources: any ResourceStore
    /// All stored resources. Operations on a collection include members that the rules hide.
    let stored: any ResourceStore
    /// Nil if all names are served.
    let rules: ShareRules?
    let state: ShareState
    /// The journal of changes; nil if clients cannot request changes.
    let journal: (any ChangeJournal)?
    /// Notifies clients of changes as they happen; nil without a journal.
    let changeEvents: ChangeEventFeed?
    /// Serializes access to the journal, which handles one call at a time; otherwise waiting callers would
    /// each block a thread.
    let journalGate = AsyncSemaphore(limit: 1, waitingLimit: 1024)
    package let pathLocks = PathLocks()
    let plans = PropFindPlans()
    let uploads = UploadTable()
    let versions = RecentVersions()
    let trashMaintenance = TrashMaintenance()
    let digests = DigestTable()
    let work: any BlockingWorkRunner
    let configuration: ShareConfiguration
    /// Returns the current wall-clock time.
    let now: @Sendable () -> Timestamp
    /// Reports errors that cannot be returned in a response. The text may contain arbitrary bytes and must be
    /// escaped before it is logged.
    let report: @Sendable (String) -> Void
    /// Logs requests that were refused because of a limit.
    let limitLog: LimitLog
    /// Limits the streams that hold the properties of a large resource.
    let largeReads: ClientSlots
    /// Limits the requests that hold a large XML body.
    let largeBodies: ClientSlots

    public init(
        resources: any ResourceStore, state: ShareState, journal: (any ChangeJournal)? = nil,
        work: any BlockingWorkRunner, configuration: ShareConfiguration,
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void,
        limitLog: LimitLog = LimitLog { _ in }
    ) {
        var allRules = configuration.rules
        allRules.hiddenPaths = configuration.hiddenPaths
        let rules = allRules.areEmpty ? nil : allRules
        self.rules = rules
        stored = resources
        self.resources = rules.map { FilteredStore(resources, rules: $0) } ?? resources
        self.state = state
        self.journal = journal
        changeEvents = journal.map { ChangeEventFeed($0, readerLimit: configuration.eventStreamLimit) }
        self.work = work
        self.configuration = configuration
        self.now = now
        self.report = report
        self.limitLog = limitLog
        largeReads = ClientSlots(
            limit: configuration.largeReadLimit, limitPerClient: configuration.largeReadLimitPerClient,
            waitingLimit: 1_024, waitingLimitPerClient: 64)
        largeBodies = ClientSlots(
            limit: configuration.largeBodyLimit, limitPerClient: configuration.largeBodyLimitPerClient,
            waitingLimit: 1_024, waitingLimitPerClient: 64)
        connectChangeEvents()
    }

    /// Allows the stores to remove files left behind by crashed changes. Only the server that owns the state
    /// of the share may call this, before ``recover()``, because no other process knows which of these files
    /// are uploads.
    /// - Parameter others: shares of this server that contain this one or are contained in it.
    package func removesLeftovers(besides others: [Share] = []) {
        let states = [state] + others.map(\.state)
        stored.keepUploads { name in states.contains { $0.keepsStaged(name) } }
    }
}

/// The settings of a share.
public struct ShareConfiguration: Sendable {
    /// Whether every method that could change something is refused with 403.
    public var isReadOnly = false
    /// The timeout in seconds of a lock whose LOCK request does not specify one.
    public var defaultLockSeconds: Int64 = 1_800
    /// The maximum timeout of a lock in seconds, also used for `Infinite` (RFC 4918 §10.7).
    public var maximumLockSeconds: Int64 = 86_400
    /// The maximum size of an XML request body in bytes; larger bodies are refused with 413.
    public var bodyLimitBytes = 1 << 20
    /// The maximum number of requests that may concurrently receive an XML body that is larger than 64 KiB or
    /// of undeclared length, in total and per client. Further requests wait.
    public var largeBodyLimit = 64
    public var largeBodyLimitPerClient = 16
    /// The maximum total size in bytes of the names and values of all dead properties of one resource; a
    /// request that would exceed it is refused with 507 and `quota-not-exceeded`.
    public var propertyLimitBytes = 1 << 20
    /// The maximum number of responses that may concurrently hold the properties of a resource with more than
    /// 64 KiB of them, in total and per client. Further responses wait.
    public var largeReadLimit = 16
    public var largeReadLimitPerClient = 4
    /// The maximum size in bytes of the stored `owner` of a lock; larger ones are refused with 507.
    public var lockOwnerLimitBytes = 8_192
    /// The maximum number of locks with the same root, which are then shared locks; a request that would
    /// exceed it is refused with 507.
    public var lockLimitPerResource = 64
    /// Limits on the number and the total size of stored locks. A request that would exceed a limit is
    /// refused with 507.
    public var lockLimits = QuotaLimits(
        countPerClient: 12_000, bytesPerClient: 4 << 20, count: 50_000, bytes: 16 << 20)
    /// The maximum size in bytes of the fields stored with a resumable upload; larger ones are refused with
    /// 431.
    public var uploadFieldLimitBytes = 8_192
    /// Limits on the number of resumable uploads and on the size of their stored metadata (content not
    /// included). A request that would exceed a limit is refused with 507.
    public var uploadLimits = QuotaLimits(
        countPerClient: 1_000, bytesPerClient: 2 << 20, count: 10_000, bytes: 16 << 20)
    /// The maximum size of a file in bytes; larger files are refused with 413. Nil if only the volume limits
    /// it.
    public var maximumFileBytes: Int64?
    /// Seconds after which an incomplete resumable upload expires, counted from the last byte received.
    public var uploadSeconds: Int64 = 7 * 86_400
    /// The maximum size in bytes of content that is read to compute a requested digest that is not stored. No
    /// digest is returned for larger content.
    public var digestLimitBytes: Int64 = 64 << 20
    /// Whether PROPFIND with Depth infinity is allowed; otherwise it is refused with 403 and
    /// `propfind-finite-depth` (RFC 4918 §9.1).
    public var allowsInfiniteDepth = true
    /// The maximum depth, in levels below the root of the share, of resources that clients create: by MKCOL,
    /// PUT, LOCK, POST, uploads, and by COPY and MOVE, including everything below the destination. A request
    /// that would exceed it is refused with 403. Deeper resources that other programs created can be read,
    /// deleted and moved up. At least 1.
    public var maximumDepth = 1_000
    /// The maximum number of sorted results of a SEARCH with `orderby`; if there are more, only the first
    /// ones are returned (RFC 5323 §2.3.1).
    public var orderedSearchLimit = 10_000
    /// The maximum number of bytes of memory for the results of one SEARCH with `orderby`; 10,000 results with
    /// paths of typical length need 5 MiB. If there are more, only the first ones are returned.
    package var orderedSearchBytes = 32 << 20
    /// The maximum number of steps of one SEARCH, which is roughly the number of characters examined: 64 for
    /// each resource, 16 for each operator, plus the lengths of the compared texts. When the limit is
    /// reached, the response ends with the results found so far (RFC 5323 §2.3.1). The default suffices for
    /// 1,000,000 resources with about ten operators on their names. A step takes a few nanoseconds.
    public var searchStepLimit = 1_000_000_000
    /// The number of steps after which a SEARCH yields its thread to other requests.
    package var searchPieceSteps = 4_000_000
    /// The maximum number of concurrent event streams; further requests are refused with 503.
    public var eventStreamLimit = 1_024
    /// How long a request for changes waits until the share has been compared with the file system; then it
    /// fails with 503 and Retry-After.
    public var syncTimeout = Duration.seconds(10)
    /// Paths of this share that are hidden because another handler serves them.
    public var hiddenPaths: [ResourcePath] = []
    /// The rules that decide which names are served.
    public var rules = ShareRules()
    /// The limits of the trash; nil to disable it.
    public var trash: TrashLimits?
    /// Callbacks that allow changes and are notified of them.
    public var hooks = ShareHooks()
    /// Returns the file system path of a resource, for hooks.
    public var filePath: @Sendable (ResourcePath) -> String = { $0.description }
    /// Additional host names of this server, in lower case, such as the public name of a proxy in front of
    /// it.
    public var publicHosts: [String] = []
    /// The subset of ``publicHosts`` that clients reach over TLS.
    public var securePublicHosts: [String] = []
    /// The origins of other sites whose pages may use this share, as browsers send them:
    /// `https://app.example`. Requests from these sites may receive events and archives; ``DavitServer/CORS``
    /// decides which responses their pages can read.
    public var pageOrigins: [String] = []

    public init() {}
}

extension Share {
    /// Runs a change or a short read on another thread.
    func offload<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        let result = await work.run { () -> Result<T, WebDAVError> in
            do throws(WebDAVError) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// The maximum size in bytes of content that is copied or read in one piece as short work.
    static var sliceBytes: Int64 { 8 << 20 }

    /// Runs long work on other threads, alternating with the work of other clients. Ends early if the task is
    /// cancelled.
    /// - Parameter client: the client that the work is charged to.
    /// - Throws: 503 with Retry-After if too much long work is waiting, or if the task was cancelled.
    func offloadLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage = .begins,
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        let result = await work.runLong(for: client, stage) { () -> Result<T, WebDAVError> in
            do throws(WebDAVError) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// Tries `body` on the event loop, where it must not block; runs it on another thread if it would block.
    func attempt<T: Sendable>(
        _ body: @escaping @Sendable (Wait) throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        do throws(WebDAVError) {
            return try body(.never)
        } catch {
            guard error.wouldBlock else { throw error }
        }
        return try await offload { () throws(WebDAVError) in try body(.allowed) }
    }
}

/// Runs a call of a store and converts its error to a ``WebDAVError``.
func storing<T>(_ body: () throws(StoreError) -> T) throws(WebDAVError) -> T {
    do throws(StoreError) { return try body() } catch { throw WebDAVError(store: error) }
}
