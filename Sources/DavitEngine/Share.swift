public import DavitHTTP
public import DavitServer
public import DavitStore

/// What one share consists of: its stores, the table of claims, and where blocking calls run.
///
/// An object and not a value, because every request hands it on many times.
public final class Share: Sendable {
    /// What clients see: under rules, less than what is stored.
    let resources: any ResourceStore
    /// All that is stored, for what goes with the collection it is in.
    let stored: any ResourceStore
    /// Nil where every name is served.
    let rules: ShareRules?
    let state: ShareState
    /// Nil where clients cannot ask what has changed.
    let journal: (any ChangeJournal)?
    /// Tells of changes as they happen; nil without a journal.
    let live: LiveFeed?
    /// Before the journal: it answers one after the other, and who waits there would hold a thread.
    let journalGate = Gate(limit: 1, waitingLimit: 1024)
    package let sections = PathSections()
    let plans = PropFindPlans()
    let uploads = UploadTable()
    let versions = RecentVersions()
    let trashCare = TrashCare()
    let digests = DigestTable()
    let work: any BlockingWork
    let configuration: ShareConfiguration
    /// The wall clock.
    let now: @Sendable () -> Timestamp
    /// For faults that no response can carry: what failed, as text without control over its bytes.
    let report: @Sendable (String) -> Void
    /// Requests that a limit has refused.
    let limitLog: LimitLog
    /// Streams that hold the properties of a large resource.
    let largeReads: ClientSlots
    /// Requests that hold a large XML body.
    let largeBodies: ClientSlots

    public init(
        resources: any ResourceStore, state: ShareState, journal: (any ChangeJournal)? = nil,
        work: any BlockingWork, configuration: ShareConfiguration,
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void,
        limitLog: LimitLog = LimitLog { _ in }
    ) {
        var allRules = configuration.rules
        allRules.hiddenPaths = configuration.hiddenPaths
        let rules = allRules.areEmpty ? nil : allRules
        self.rules = rules
        stored = resources
        self.resources = rules.map { RuledStore(resources, rules: $0) } ?? resources
        self.state = state
        self.journal = journal
        live = journal.map { LiveFeed($0, readerLimit: configuration.eventStreamLimit) }
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
        connectLive()
    }

    /// Lets the stores remove what crashed changes have left behind. Only for the server that owns the state of the share,
    /// before ``recover()``: another process does not know which of it are uploads.
    /// - Parameter others: shares of this server that this one lies in, or that lie in it.
    package func removesLeftovers(besides others: [Share] = []) {
        let states = [state] + others.map(\.state)
        stored.keepUploads { name in states.contains { $0.keepsStaged(name) } }
    }
}

/// The settings of one share.
public struct ShareConfiguration: Sendable {
    /// Answers 403 to every method that could change something.
    public var isReadOnly = false
    /// Seconds granted to a LOCK that asks for none.
    public var defaultLockSeconds: Int64 = 1_800
    /// The most seconds granted; `Infinite` gets these (RFC 4918 §10.7).
    public var maximumLockSeconds: Int64 = 86_400
    /// Bytes of an XML request body; over it 413.
    public var bodyLimitBytes = 1 << 20
    /// Requests that may receive an XML body of more than 64 KiB, or of a length that they do not declare, and how many of
    /// these one client may have; more of them wait.
    public var largeBodyLimit = 64
    public var largeBodyLimitPerClient = 16
    /// Bytes of the names and values of all dead properties of one resource; over it 507 with `quota-not-exceeded`.
    public var propertyLimitBytes = 1 << 20
    /// Responses that may hold the properties of a resource that has more than 64 KiB of them, and how many of these one
    /// client may have; more of them wait.
    public var largeReadLimit = 16
    public var largeReadLimitPerClient = 4
    /// Bytes of the `owner` of a lock as it is kept; over it 507.
    public var lockOwnerLimitBytes = 8_192
    /// Locks whose root is one resource, which are shared ones then; over it 507.
    public var lockLimitPerResource = 64
    /// Locks that are kept, and their bytes; over it 507.
    public var lockLimits = ChargeLimits(
        countPerClient: 12_000, bytesPerClient: 4 << 20, count: 50_000, bytes: 16 << 20)
    /// Bytes of the fields that are kept with an upload over several requests; over it 431.
    public var uploadFieldLimitBytes = 8_192
    /// Uploads over several requests that are kept, and their bytes without content; over it 507.
    public var uploadLimits = ChargeLimits(
        countPerClient: 1_000, bytesPerClient: 2 << 20, count: 10_000, bytes: 16 << 20)
    /// Bytes of the longest content that may be written; over it 413. Nil for no limit but that of the volume.
    public var maximumFileBytes: Int64?
    /// How long an upload over several requests stays, from the last byte on that has come of it.
    public var uploadSeconds: Int64 = 7 * 86_400
    /// Bytes up to which content is read for a digest that somebody wants and nobody has stored. Above it there is none.
    public var digestLimitBytes: Int64 = 64 << 20
    /// PROPFIND with Depth infinity is answered; otherwise 403 with `propfind-finite-depth` (§9.1).
    public var allowsInfiniteDepth = true
    /// Levels below the root of the share that a change may reach: MKCOL, PUT, LOCK, POST, uploads, and COPY and MOVE with
    /// everything below their target; over it 403. What other programs have nested deeper stays readable, and can be
    /// deleted and moved up. At least 1.
    public var maximumDepth = 1_000
    /// SEARCH with `orderby` puts so many results in order; of more, the first ones are told (RFC 5323 §2.3.1).
    public var orderedSearchLimit = 10_000
    /// Steps of one SEARCH, about as many characters as are looked at: 64 for each resource, 16 for each operator, and the
    /// lengths of the texts that are compared. After them the answer ends with what was found (RFC 5323 §2.3.1). By
    /// default enough for 1,000,000 resources and some ten operators on their names; a step takes a few nanoseconds.
    public var searchStepLimit = 1_000_000_000
    /// Steps of a SEARCH after which its thread serves other requests.
    package var searchPieceSteps = 4_000_000
    /// How many may be told of changes as they happen, at a time; over it 503.
    public var eventStreamLimit = 1_024
    /// How long somebody who asks what has changed waits for it to be compared; then 503 with Retry-After.
    public var syncPatience = Duration.seconds(10)
    /// Paths of this share that something else answers for, where it is mounted.
    public var hiddenPaths: [ResourcePath] = []
    /// Which names are served.
    public var rules = ShareRules()
    /// How much is kept of what is deleted and overwritten; nil for nothing.
    public var trash: TrashLimits?
    /// Who is asked before a change, and told of it afterwards.
    public var hooks = ShareHooks()
    /// Where a resource is in the file system, for those who are asked and told.
    public var filePath: @Sendable (ResourcePath) -> String = { $0.description }
    /// Other hosts, in lower case, that are this server: what a proxy in front of it is called.
    public var publicHosts: [String] = []
    /// Those of them that clients reach over TLS.
    public var securePublicHosts: [String] = []
    /// Other sites whose pages may use this share, as browsers write them: `https://app.example`. They may have its events
    /// and archives; answers that a page can read are up to ``DavitServer/CORS``.
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

    /// Content up to this length, in bytes, is copied or read in one piece by short work.
    static var sliceBytes: Int64 { 8 << 20 }

    /// Runs on other threads what may take long, in turns with what other clients need. Ends early when the task is
    /// cancelled.
    /// - Parameter client: who is charged for it.
    /// - Throws: 503 with Retry-After if too much of it waits, or the task was cancelled.
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

    /// Tries something on the event loop, where it must not wait; if it would, does it on another thread.
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

/// Runs a call of a store and gives its error the status that ``WebDAVError`` has for it.
func storing<T>(_ body: () throws(StoreError) -> T) throws(WebDAVError) -> T {
    do throws(StoreError) { return try body() } catch { throw WebDAVError(store: error) }
}
