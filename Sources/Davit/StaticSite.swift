internal import DavitFileStore
internal import DavitHTTP
public import DavitServer
public import DavitSite
internal import DavitSystem

/// A folder to serve as a website, for ``WebServer``.
///
/// ```swift
/// let server = try WebServer { routes in
///     routes.mount("/", StaticSite("/srv/www"))
///     routes.get("/api/time") { _ in .text("\(ContinuousClock.now)") }
/// }
/// ```
public struct StaticSite: Mountable {
    /// The folder that contains the pages.
    public var folder: String
    /// Which files are served, and how.
    public var options: SiteOptions

    /// Creates the settings of a website. Opens nothing yet.
    public init(_ folder: String, options: SiteOptions = SiteOptions()) {
        self.folder = folder
        self.options = options
    }

    /// Opens the folder.
    /// - Throws: ``ServerError/shareNotUsable(path:_:)``.
    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        let resources: FileResourceReader
        do throws(FileResourceStore.RootError) {
            resources = try FileResourceReader(root: folder, rules: options.contentRules)
        } catch {
            throw ServerError.shareNotUsable(path: folder, error)
        }
        environment.addLifecycleObserver(OpenSite(resources))
        let log = environment.log
        return SiteHandler(
            resources: resources, work: environment.work, options: options,
            now: { Timestamp(nanoseconds: Clock.coarseWallNow()) },
            report: { log(.error, "cannot read a file of the website", ["reason": $0]) })
    }
}

/// The open folder of a website, for the lifetime of its server.
private final class OpenSite: LifecycleObserver {
    private let resources: FileResourceReader

    init(_ resources: FileResourceReader) { self.resources = resources }

    func performMaintenance() -> Bool { resources.closeUnusedFiles() }
}
