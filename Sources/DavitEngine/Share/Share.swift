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
    let work: BlockingWork
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
        self.work = BlockingWork(work)
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
