public import DavitAccess
public import DavitHTTP
public import DavitStore

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
    /// The maximum number of requests that may concurrently receive an XML body, or process a form without files, that is
    /// larger than 64 KiB or of undeclared length, in total and per client. Further requests wait; if too many are waiting,
    /// they are refused with 503.
    public var largeBodyLimit = 64
    public var largeBodyLimitPerClient = 16
    /// The maximum total size in bytes of the names and values of all dead properties of one resource; a
    /// request that would exceed it is refused with 507 and `quota-not-exceeded`.
    public var propertyLimitBytes = 1 << 20
    /// The maximum number of responses that may concurrently hold the properties of a resource with more than
    /// 64 KiB of them, or more than 64 KiB of sorted results or of the members of a form, in total and per client. Further
    /// responses wait; if too many are waiting, they fail.
    public var largeReadLimit = 16
    public var largeReadLimitPerClient = 4
    /// The maximum number of uploads that are examined at the same time (``UploadCheck``), in total and per client.
    /// Further ones wait; if too many are waiting, they fail.
    package var uploadCheckLimit = 8
    package var uploadCheckLimitPerClient = 2
    /// The maximum size in bytes of the stored `owner` of a lock; larger ones are refused with 507.
    public var lockOwnerLimitBytes = 8_192
    /// The maximum number of shared locks with the same root; a request that would exceed it is refused
    /// with 507.
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
    /// Seconds after which an incomplete resumable upload expires, counted from its creation or from the end of
    /// the last request that added bytes.
    public var uploadSeconds: Int64 = 7 * 86_400
    /// The maximum size in bytes of content that is read to compute a requested digest that is not stored. For
    /// larger content, only a stored digest is returned.
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
    /// The maximum number of concurrent event streams, in total and per client; further requests are refused with 503.
    public var eventStreamLimit = 1_024
    public var eventStreamLimitPerClient = 64
    /// How long a request for changes waits until the share has been compared with the file system; then it
    /// fails with 503 and Retry-After.
    public var syncTimeout = Duration.seconds(10)
    /// Paths of this share that are hidden because another handler serves them.
    public var hiddenPaths: [ResourcePath] = []
    /// The rules that decide which names are served.
    public var rules = ShareRules()
    /// The limits of the trash; nil to disable it.
    public var trash: TrashLimits?
    /// Decides what each client may do; nil if every client may do everything.
    public var access: (any AccessPolicy)?
    /// Whether ``access`` is the database of accounts, groups and rules in the state folder, which administrators can change.
    package var hasAccountDatabase = false
    /// Callbacks that can refuse changes and are notified of them.
    public var hooks = ShareHooks()
    /// Records changes; nil without an audit log.
    public var audit: ShareAudit?
    /// Stores events for other programs; nil if there are none.
    package var outbox: ShareOutbox?
    /// Returns the file system path of a resource, for hooks.
    public var filePath: @Sendable (ResourcePath) -> String = { $0.description }
    /// Additional host names of this server, in lower case, such as the public name of a proxy in front of
    /// it.
    public var publicHosts: [String] = []
    /// The ``publicHosts``, each with its port unless it is the default of the scheme. Pages of these origins belong to this
    /// server.
    public var publicAuthorities: [String] = []
    /// The subset of ``publicHosts`` that clients reach over TLS.
    public var securePublicHosts: [String] = []
    /// The origins of other sites whose pages may use this share, as browsers send them:
    /// `https://app.example`. Requests from these sites may receive events and archives; ``DavitServer/CORS``
    /// decides which responses their pages can read.
    public var pageOrigins: [String] = []

    public init() {}
}
