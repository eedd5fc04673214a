internal import DavitAccess
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

    /// The resources that the client can see: a subset of ``served`` if there is an access policy.
    let resources: any ResourceStore
    /// Whether clients have different rights, so that each request needs a view.
    let hasAccessPolicy: Bool
    /// What the client may do; nil if there is no access policy, and for work outside of requests.
    let access: (any AccessView)?
    /// The resources that clients can see, regardless of their rights: a subset of ``stored`` if there are rules.
    let served: any ResourceStore
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
    let plans: PropFindPlans
    let digests: DigestReader
    /// Nil if clients cannot request changes.
    let journal: JournalReader?
    /// Notifies clients of changes as they happen; nil without a journal.
    package let changeEvents: ChangeEventFeed?

    // MARK: Changes

    package let pathLocks: PathLocks
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
    let uploads: UploadTable
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
        served = self.resources
        access = nil
        hasAccessPolicy = configuration.access != nil
        plans = PropFindPlans()
        pathLocks = PathLocks()
        uploads = UploadTable()
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

    /// Looks up a resource that is served, regardless of the rights of clients. Follows links. Blocks.
    package func lookUpServed(_ path: ResourcePath) throws(StoreError) -> Lookup {
        try served.lookup(path, last: .followed, wait: .allowed)
    }

    // MARK: Views

    /// Creates the view of one client: the same stores and components, but only the resources that the client can see.
    private init(_ share: Share, access: any AccessView) {
        self.access = access
        resources = ScopedStore(share.served, access: access)
        lookup = ResourceLookup(resources, access: access)
        configuration = share.configuration
        hasAccessPolicy = share.hasAccessPolicy
        rules = share.rules
        now = share.now
        report = share.report
        limitLog = share.limitLog
        served = share.served
        stored = share.stored
        state = share.state
        rows = share.rows
        work = share.work
        urls = share.urls
        origins = share.origins
        xmlBodies = share.xmlBodies
        largeReads = share.largeReads
        plans = share.plans
        digests = share.digests
        journal = share.journal
        changeEvents = share.changeEvents
        pathLocks = share.pathLocks
        locks = share.locks
        space = share.space
        receiver = share.receiver
        languages = share.languages
        publisher = share.publisher
        mover = share.mover
        properties = share.properties
        trash = share.trash
        trashMaintenance = share.trashMaintenance
        uploads = share.uploads
        recovery = share.recovery
    }

    /// Returns the share as the client of a request may see it.
    func view(for request: HTTPRequest) -> Share {
        guard let policy = configuration.access else { return self }
        return Share(self, access: policy.view(of: Principal(of: request)))
    }

    /// Whether the client may see trash entries of a resource.
    /// - Parameter path: the path from which the resource was deleted.
    func showsTrashed(_ path: ResourcePath) -> Bool {
        trash.shows(path) && isVisible(path)
    }

    /// Returns a function that decides whether changes at a path are reported to the client. It uses the rights at the
    /// time of each call, because an event stream can outlive a change of rights.
    func eventFilter(for request: HTTPRequest) -> @Sendable (ResourcePath) -> Bool {
        guard let policy = configuration.access else { return { _ in true } }
        let principal = Principal(of: request)
        return { path in
            let access = policy.view(of: principal)
            return access.rights(at: path).contains(.list) || access.leadsToRights(path)
        }
    }

    /// Whether changes at a path are reported to the client.
    func mayReport(_ path: ResourcePath) -> Bool {
        guard let access else { return true }
        return access.rights(at: path).contains(.list) || access.leadsToRights(path)
    }

    /// Whether the client may know of a resource at a canonical path.
    func isVisible(_ path: ResourcePath) -> Bool { access?.rights(at: path).contains(.list) != false }
}

extension Principal {
    init(of request: HTTPRequest) {
        self = request.principal.map { Principal(.account, $0) } ?? .anonymous
    }
}
