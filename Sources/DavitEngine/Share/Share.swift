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
    /// Whether changes are recorded, because reading this takes less time than copying the setting.
    let hasAudit: Bool
    /// Whether changes are passed on to other programs.
    let hasOutbox: Bool
    /// Whether hooks are called for changes, and whether they can refuse them.
    let hasHooks: Bool
    let hooksCanRefuse: Bool
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
    /// See ``DavitAccess/AccessPolicy/changes``.
    private let accessChanges: AccessChangeCounter?
    /// What the client may do; nil if there is no access policy, and for work outside of requests.
    let access: (any AccessView)?
    /// The client to which this view of the share belongs; nil like ``access``.
    private let principal: Principal?
    /// The share of which this is a view; nil like ``access``.
    private let base: Share?
    /// The identity of the client in requests; nil without a view.
    private let name: String?
    private let identityDetails: (any AnyObject & Sendable)?
    /// The number of changes of the policy before the view was created.
    private let changeCount: UInt64
    /// The resources that clients can see, regardless of their rights: a subset of ``stored`` if there are rules.
    let served: any ResourceStore
    /// All stored resources: moving or removing a collection includes the members that the rules hide.
    let stored: any ResourceStore
    /// See ``ResourceStore/mountPoints``; in a form that is the same for all Unicode spellings.
    private let mountPoints: [ResourcePath]
    /// Locks, properties, uploads and trash entries.
    let state: any ShareState
    let rows: ResourceRows

    // MARK: Requests

    let work: BlockingWork
    /// Whether the stores are in a database that several servers use, so that a change is one of its transactions, and each
    /// query may block and fail.
    let hasSessions: Bool
    let lookup: ResourceLookup
    let urls: URLMapping
    let origins: OriginPolicy
    package let xmlBodies: XMLBodyReader
    /// Slots for forms with many fields, until the response has been sent.
    package let largeForms: ClientSlots
    /// Limits the responses that concurrently hold the properties of a resource with many properties, or many results.
    package let largeReads: ClientSlots
    /// Limits the uploads that are examined at the same time.
    package let uploadChecks: ClientSlots
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
    let ruleMoves: RuleMoves
    let properties: PropertyUpdater
    package let trash: TrashCan
    package let trashMaintenance: TrashMaintenance
    /// Uploads in use by requests, or with running digests.
    let uploads: UploadTable
    package let recovery: CrashRecovery

    public init(
        resources: any ResourceStore, state: any ShareState, journal: (any ChangeJournal)? = nil,
        work: any BlockingWorkRunner, sessions: (any StoreSessions)? = nil,
        configuration: ShareConfiguration,
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void,
        limitLog: LimitLog = LimitLog { _ in }
    ) {
        var allRules = configuration.rules
        allRules.hiddenPaths = configuration.hiddenPaths
        let rules = allRules.areEmpty ? nil : allRules
        self.rules = rules
        stored = resources
        mountPoints = resources.mountPoints.map(\.equivalenceKey)
        self.resources = rules.map { FilteredStore(resources, rules: $0) } ?? resources
        served = self.resources
        access = nil
        principal = nil
        base = nil
        name = nil
        identityDetails = nil
        changeCount = 0
        hasAccessPolicy = configuration.access != nil
        accessChanges = configuration.access?.changes
        plans = PropFindPlans()
        pathLocks = PathLocks()
        uploads = UploadTable()
        self.state = state
        self.work = BlockingWork(work, sessions, syncsChanges: resources.syncsChanges)
        hasSessions = sessions != nil
        self.configuration = configuration
        hasAudit = configuration.audit != nil
        hasOutbox = configuration.outbox != nil
        hasHooks = !configuration.hooks.areEmpty
        hooksCanRefuse = configuration.hooks.canRefuse
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
            ChangeEventFeed(
                $0, state, readerLimit: configuration.eventStreamLimit,
                readerLimitPerClient: configuration.eventStreamLimitPerClient, now: now)
        }
        rows = ResourceRows(state, stored, now: now, report: report)
        let intents = RenameIntents(self.resources, rows, report: report)
        ruleMoves = RuleMoves(
            configuration.access?.ruleMover, self.resources, state, sessions, report: report)
        trash = TrashCan(
            configuration.trash, self.resources, stored, rules, state, rows, intents, ruleMoves, now: now,
            report: report)
        trashMaintenance = TrashMaintenance(
            trash, self.resources, state, pathLocks, self.work, configuration.audit, now: now, report: report)
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
            self.resources, stored, state, intents, ruleMoves, report: report)
        digests = DigestReader(
            self.resources, lookup, state, self.work, limitBytes: configuration.digestLimitBytes, now: now)
        largeReads = ClientSlots(
            "concurrent responses with large properties or many results",
            limit: configuration.largeReadLimit,
            limitPerClient: configuration.largeReadLimitPerClient, waitingLimit: 256,
            waitingLimitPerClient: 16,
            limitLog)
        largeForms = ClientSlots(
            "concurrent large forms", limit: configuration.largeBodyLimit,
            limitPerClient: configuration.largeBodyLimitPerClient, limitLog)
        uploadChecks = ClientSlots(
            "concurrent checks of uploads", limit: configuration.uploadCheckLimit,
            limitPerClient: configuration.uploadCheckLimitPerClient, limitLog)
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

    /// Checks that a resource can be moved, removed or replaced.
    /// - Throws: 403 if it is a mount point, or contains one.
    func checkMovable(_ path: ResourcePath) throws(WebDAVError) {
        if hasMountPoint(in: path) { throw WebDAVError(.forbidden) }
    }

    /// Whether a folder is mounted at a path or below it, so that the resource cannot be moved, removed or replaced.
    func hasMountPoint(in path: ResourcePath) -> Bool { mountPoints(in: path) != .none }

    /// Where folders are mounted in a resource; `below` also if one is mounted at the resource itself.
    enum MountPoints { case none, itself, below }

    func mountPoints(in path: ResourcePath) -> MountPoints {
        if mountPoints.isEmpty { return .none }
        let key = path.equivalenceKey
        var found = MountPoints.none
        for point in mountPoints where key.contains(point) {
            if point != key { return .below }
            found = .itself
        }
        return found
    }

    /// Whether what a client may do differs between resources: there is an access policy, or folders are mounted.
    var hasRights: Bool { hasAccessPolicy || !mountPoints.isEmpty }

    // MARK: Views

    /// Creates the view of the client of a request: the same stores and components, but only the resources that the client
    /// can see.
    private init(_ share: Share, _ policy: any AccessPolicy, for request: HTTPRequest) {
        let principal = request.identity
        let access: any AccessView
        if let changes = share.accessChanges {
            let view = RequestView(of: principal, policy, changes)
            changeCount = view.changeCount
            access = view
        } else {
            changeCount = 0
            access = policy.view(of: principal)
        }
        self.access = access
        self.principal = principal
        base = share
        name = request.principal
        identityDetails = request.identityDetails
        resources = ScopedStore(share.served, access: access)
        lookup = ResourceLookup(resources, access: access)
        configuration = share.configuration
        hasAudit = share.hasAudit
        hasOutbox = share.hasOutbox
        hasHooks = share.hasHooks
        hooksCanRefuse = share.hooksCanRefuse
        hasAccessPolicy = share.hasAccessPolicy
        accessChanges = share.accessChanges
        rules = share.rules
        now = share.now
        report = share.report
        limitLog = share.limitLog
        served = share.served
        stored = share.stored
        mountPoints = share.mountPoints
        state = share.state
        rows = share.rows
        work = share.work
        hasSessions = share.hasSessions
        urls = share.urls
        origins = share.origins
        xmlBodies = share.xmlBodies
        largeForms = share.largeForms
        largeReads = share.largeReads
        uploadChecks = share.uploadChecks
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
        ruleMoves = share.ruleMoves
        properties = share.properties
        trash = share.trash
        trashMaintenance = share.trashMaintenance
        uploads = share.uploads
        recovery = share.recovery
    }

    /// Returns the share as the client of a request may see it. Consecutive requests of a client on a connection use the same
    /// view while its rights do not change.
    func view(for request: HTTPRequest) -> Share {
        if let known = request.memory.view as? Share, known.isView(of: self, for: request) { return known }
        guard let policy = configuration.access else { return self }
        let view = Share(self, policy, for: request)
        if accessChanges != nil { request.memory.view = view }
        return view
    }

    /// Whether this is what the client of a request may see of a share at present.
    private func isView(of share: Share, for request: HTTPRequest) -> Bool {
        guard let accessChanges else { return false }
        return base === share && changeCount == accessChanges.current
            && identityDetails === request.identityDetails && name == request.principal
    }

    /// What the client may do now, which can differ from ``access`` if its rights have changed since the request began. Nil
    /// if there is no access policy, and for work outside of requests.
    var currentAccess: (any AccessView)? {
        guard let principal, let policy = configuration.access else { return nil }
        return policy.view(of: principal)
    }

    /// The rights of the client in sync tokens; see ``DavitStore/SyncToken/view``.
    var tokenView: UInt64? { access?.fingerprint }

    /// Whether the client may see a trash entry.
    func showsTrashed(_ entry: TrashEntry) -> Bool {
        trash.shows(entry.path) && isVisible(entry)
    }

    /// Whether the client may know of a trash entry.
    func isVisible(_ entry: TrashEntry) -> Bool {
        guard let view = view(ofTrashed: entry) ?? access else { return true }
        return view.rights(at: entry.path).contains(.list)
    }

    /// What the client may do with a trash entry, at its original path, if the entry has brought rules to the trash: these
    /// apply, so that no client has more rights to it than before. Nil if the rights to its original path apply.
    func view(ofTrashed entry: TrashEntry) -> (any AccessView)? {
        guard let principal else { return nil }
        return configuration.access?.view(of: principal, ofTrashed: entry.id, from: entry.path)
    }

    /// Whether changes at a path are reported to the client.
    func mayReport(_ path: ResourcePath) -> Bool { access?.shows(path) != false }

    /// Whether the client may know of a resource at a canonical path.
    func isVisible(_ path: ResourcePath) -> Bool { access?.rights(at: path).contains(.list) != false }
}
