public import DavitHTTP
public import DavitServer
public import DavitStore

/// The stores and settings of one share, and the components that its methods have in common.
///
/// A class rather than a struct, so that passing it through a request does not copy it.
public final class Share: Sendable {
    // MARK: Settings

    let configuration: ShareConfiguration
    /// Nil if all names are served.
    let rules: ShareRules?
    /// Returns the current wall-clock time.
    let now: @Sendable () -> Timestamp
    /// Reports errors that cannot be returned in a response. The text may contain arbitrary bytes and must be
    /// escaped before it is logged.
    let report: @Sendable (String) -> Void
    /// Logs requests that were refused because of a limit.
    let limitLog: LimitLog

    // MARK: Stores

    /// The resources that clients can see: a subset of ``stored`` if there are rules.
    let resources: any ResourceStore
    /// All stored resources: moving or removing a collection includes the members that the rules hide.
    let stored: any ResourceStore
    /// Locks, properties, uploads and trash entries.
    let state: ShareState
    let rows: ResourceRows

    // MARK: Requests

    let work: BlockingWork
    let lookup: ResourceLookup
    let urls: URLMapping
    let origins: OriginPolicy
    package let xmlBodies: XMLBodyReader
    /// Limits the responses that concurrently hold the properties of a resource with many properties.
    package let largeReads: ClientSlots
    let plans = PropFindPlans()
    let digests: DigestReader
    /// Nil if clients cannot request changes.
    let journal: JournalReader?
    /// Notifies clients of changes as they happen; nil without a journal.
    package let changeEvents: ChangeEventFeed?

    // MARK: Changes

    package let pathLocks = PathLocks()
    package let locks: LockRegistry
    let space: VolumeSpace
    let receiver: ContentReceiver
    let languages: ContentLanguages
    let publisher: ContentPublisher
    let mover: ResourceMover
    let properties: PropertyUpdater
    package let trash: TrashCan
    package let trashMaintenance: TrashMaintenance
    /// Uploads in use by requests, or with running digests.
    let uploads = UploadTable()
    package let recovery: CrashRecovery

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
        self.work = BlockingWork(work)
        self.configuration = configuration
        self.now = now
        self.report = report
        self.limitLog = limitLog
        lookup = ResourceLookup(self.resources)
        urls = URLMapping(rules: rules, publicHosts: configuration.publicHosts)
        origins = OriginPolicy(configuration)
        self.journal = journal.map { [work = self.work] in
            JournalReader($0, work, timeout: configuration.syncTimeout)
        }
        changeEvents = journal.map {
            ChangeEventFeed($0, state, readerLimit: configuration.eventStreamLimit, now: now)
        }
        rows = ResourceRows(state, stored, now: now, report: report)
        let intents = RenameIntents(self.resources, rows, report: report)
        trash = TrashCan(
            configuration.trash, self.resources, stored, rules, state, rows, intents, now: now,
            report: report)
        trashMaintenance = TrashMaintenance(
            trash, self.resources, state, pathLocks, self.work, now: now, report: report)
        space = VolumeSpace(self.resources, stored, state, trash, trashMaintenance)
        receiver = ContentReceiver(self.work, space, maximumBytes: configuration.maximumFileBytes)
        languages = ContentLanguages(self.resources, state, rows, intents, self.work)
        publisher = ContentPublisher(state, rows, trash, languages)
        mover = ResourceMover(
            self.resources, state, intents, trash, propertyLimitBytes: configuration.propertyLimitBytes)
        properties = PropertyUpdater(
            self.resources, state, rows, intents, trash.versions,
            limitBytes: configuration.propertyLimitBytes)
        locks = LockRegistry(self.resources, state, rows, pathLocks, configuration, now: now)
        recovery = CrashRecovery(
            TrashRecovery(
                self.resources, stored, state, rows, trashMaintenance, pathLocks, now: now, report: report),
            self.resources, stored, state, intents, report: report)
        digests = DigestReader(
            self.resources, lookup, state, self.work, limitBytes: configuration.digestLimitBytes, now: now)
        largeReads = ClientSlots(
            "concurrent responses with large properties", limit: configuration.largeReadLimit,
            limitPerClient: configuration.largeReadLimitPerClient, limitLog)
        xmlBodies = XMLBodyReader(
            limitBytes: configuration.bodyLimitBytes,
            ClientSlots(
                "concurrent requests with a large body", limit: configuration.largeBodyLimit,
                limitPerClient: configuration.largeBodyLimitPerClient, limitLog))
    }
}
