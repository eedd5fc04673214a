internal import DavitFileStore
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Creates the home folder of each account before a request of the account is handled: at the first one, and again if the
/// folder has been removed since.
///
/// Each request with an account looks its folder up, usually in one system call. Nothing is remembered about existing
/// folders, because other programs can remove them at any time.
final class HomeFolders: Handler {
    /// The maximum number of accounts whose failures are remembered; when it is reached, all are forgotten, and their failures
    /// are logged again.
    private static let limit = 10_000

    private let mountPoint: ResourcePath
    private let store: FileResourceStore
    private let rules: ShareRules
    private let work: any BlockingWorkRunner
    private let log: ServerEnvironment.LogLine
    private let next: any Handler
    /// The accounts whose folders could not be created.
    private let failed = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - mountPoint: the path of the folder in the share.
    ///   - store: the folder that contains the home folders.
    ///   - rules: the rules for names in the share.
    ///   - next: handles all requests.
    init(
        at mountPoint: ResourcePath, in store: FileResourceStore, _ rules: ShareRules,
        _ environment: ServerEnvironment, next: any Handler
    ) {
        self.mountPoint = mountPoint
        self.store = store
        self.rules = rules
        work = environment.work
        log = environment.log
        self.next = next
    }

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard let name = request.principal else { return try next.respond(to: request) }
        guard let path = ResourcePath.root.appending(Array(name.utf8)), MountedStore.canMount(at: path),
            !rules.refuses(in: path)
        else {
            report(name, "the name of the account cannot be the name of a folder")
            return try next.respond(to: request)
        }
        let found = try? store.lookup(path, last: .followed, wait: .never)
        if found?.info?.isCollection == true { return try next.respond(to: request) }
        return .pending { () async throws(HTTPError) in
            if let error = await self.work.run({ self.failure(toCreate: path, of: name) }) ?? nil {
                try self.checkIsElsewhere(request, path, error)
            }
            return try await self.next.respond(to: request).response()
        }
    }

    /// Creates the home folder of an account, unless it exists. Blocks.
    /// - Returns: the reason why there is no home folder; nil if there is one.
    private func failure(toCreate path: ResourcePath, of name: String) -> StoreError? {
        do throws(StoreError) { try store.createPrivateCollection(at: path) } catch {
            report(name, error.text)
            return error
        }
        failed.withLock { _ = $0.remove(name) }
        return nil
    }

    /// Logs a failure once; every request of the account tries again.
    private func report(_ name: String, _ reason: String) {
        let isNew = failed.withLock { failed in
            if failed.count >= Self.limit { failed = [] }
            return failed.insert(name).inserted
        }
        if isNew { log(.warning, "cannot create home folder", ["account": name, "reason": reason]) }
    }

    /// - Throws: 507 or 500 if a request refers to the home folder that could not be created, or to something in it.
    private func checkIsElsewhere(
        _ request: HTTPRequest, _ path: ResourcePath, _ error: StoreError
    ) throws(HTTPError) {
        guard let home = ResourcePath(segments: mountPoint.segments + path.segments),
            home.equivalenceKey.contains(try ResourcePath.parse(rawPath: request.rawPath).path.equivalenceKey)
        else { return }
        let isFull = error == .outOfSpace || error == .quotaExceeded
        throw HTTPError(
            isFull ? .insufficientStorage : .internalServerError,
            isFull
                ? "There is no space for your home folder."
                : "Your home folder cannot be created. The log of the server has the reason.")
    }
}
