internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Runs work that may block, on threads other than the event loops.
///
/// A class rather than a struct, so that the types that need it share one reference.
final class BlockingWork: Sendable {
    /// The maximum size in bytes of content that is copied or read in one piece as short work.
    static let sliceBytes: Int64 = 8 << 20

    private let runner: any BlockingWorkRunner
    /// Nil if the stores need none, because their calls never fail for want of a database.
    let sessions: (any StoreSessions)?
    /// Whether changes in one folder run one after the other. In parallel, they would wait for each other in the kernel.
    /// If they wait for a disk or a database, they can do so together.
    private let sequencesChanges: Bool

    /// - Parameter syncsChanges: whether changes wait for a disk.
    init(_ runner: any BlockingWorkRunner, _ sessions: (any StoreSessions)?, syncsChanges: Bool) {
        self.runner = runner
        self.sessions = sessions
        sequencesChanges = sessions == nil && !syncsChanges
    }

    /// Runs `body`, which calls the stores, as one unit on the present thread.
    @inline(__always)
    private func result<T>(
        of body: @Sendable () throws(WebDAVError) -> T, attempts: Int = 1
    ) -> Result<T, WebDAVError> {
        if let sessions { return Self.result(of: body, in: sessions, attempts: attempts) }
        do throws(WebDAVError) { return .success(try body()) } catch { return .failure(error) }
    }

    @inline(never)
    private static func result<T>(
        of body: @Sendable () throws(WebDAVError) -> T, in sessions: any StoreSessions, attempts: Int
    ) -> Result<T, WebDAVError> {
        var attempt = 0
        while true {
            attempt += 1
            do throws(StoreSessionError) {
                return try sessions.run {
                    do throws(WebDAVError) { return .success(try body()) } catch { return .failure(error) }
                }
            } catch {
                guard error == .conflict, attempt < attempts else {
                    return .failure(WebDAVError(session: error))
                }
            }
        }
    }

    /// Runs a change or a short read on another thread.
    /// - Throws: any error that `body` throws; 503 with Retry-After if too much work is waiting.
    func run<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T { try await run(body, attempts: 1) }

    /// Like ``run(_:)``, for a change of names in the folder of `path`.
    func run<T: Sendable>(
        inFolderOf path: ResourcePath, _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        guard sequencesChanges else { return try await run(body) }
        let result = await runner.run(sequence: sequence(ofFolderOf: path)) { () -> Result<T, WebDAVError> in
            self.result(of: body)
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// Returns the same number for all paths in one folder of the share.
    private func sequence(ofFolderOf path: ResourcePath) -> Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(self))
        let length = path.bytes.count - path.name.count
        unsafe path.bytes.withUnsafeBytes { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
        return hasher.finalize()
    }

    /// Like ``run(_:)``, for work that usually takes much less than a millisecond, and blocks only where a disk has to
    /// be read.
    func runBriefly<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        // Every call of a database waits for it.
        guard sessions == nil else { return try await run(body) }
        let result = await runner.runBriefly { () -> Result<T, WebDAVError> in self.result(of: body) }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// Like ``run(_:)``, but repeats `body` if changes of other servers were in the way.
    func runRepeatedly<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T { try await run(body, attempts: 4) }

    private func run<T: Sendable>(
        _ body: @escaping @Sendable () throws(WebDAVError) -> T, attempts: Int
    ) async throws(WebDAVError) -> T {
        let result = await runner.run { () -> Result<T, WebDAVError> in
            self.result(of: body, attempts: attempts)
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// Runs long work on other threads, alternating with the work of other clients. Ends early if the task is
    /// cancelled.
    /// - Parameter client: the client that the work is charged to.
    /// - Throws: any error that `body` throws; 503 with Retry-After if too much long work is waiting, or if the
    ///   task was cancelled.
    func runLong<T: Sendable>(
        for client: ClientKey, _ stage: LongWorkStage = .begins,
        _ body: @escaping @Sendable () throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        let result = await runner.runLong(for: client.text, stage) { () -> Result<T, WebDAVError> in
            self.result(of: body)
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// Tries `body` on the event loop, where it must not block; runs it on another thread if it would block. `body` may run
    /// several times.
    func attempt<T: Sendable>(
        _ body: @escaping @Sendable (Wait) throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        if sessions == nil {
            do throws(WebDAVError) {
                return try body(.never)
            } catch {
                guard error.wouldBlock else { throw error }
            }
        }
        return try await runRepeatedly { () throws(WebDAVError) in try body(.allowed) }
    }

    /// Runs `body`, which opens a path and does nothing else that can block. Several calls cost little more than one, if the
    /// stores are in a database.
    func opening<T: Sendable>(
        _ path: ResourcePath, _ body: @escaping @Sendable (Wait) throws(WebDAVError) -> T
    ) async throws(WebDAVError) -> T {
        let prepared = await sessions?.whenPrepared(toOpen: path) { () -> Result<T, WebDAVError> in
            do throws(WebDAVError) { return .success(try body(.never)) } catch { return .failure(error) }
        }
        switch prepared {
        case .success(let value): return value
        case .failure(let error) where !error.wouldBlock: throw error
        default: return try await runRepeatedly { () throws(WebDAVError) in try body(.allowed) }
        }
    }

    /// Runs cleanup that can be skipped, on another thread. If too much work is waiting, the cleanup is
    /// skipped; files that it would have removed are removed later as leftovers.
    /// - Returns: nil if the cleanup was skipped.
    @discardableResult
    func cleanUp<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T? {
        await runner.run { self.cleanUpNow(body) } ?? nil
    }

    /// Runs the cleanup of entire trees as long work; see ``LongWorkStage/cleansUp``.
    /// - Returns: nil if the cleanup was skipped.
    @discardableResult
    func cleanUpTree<T: Sendable>(
        for client: ClientKey, _ body: @escaping @Sendable () -> T
    ) async -> T? {
        await runner.runLong(for: client.text, .cleansUp) { self.cleanUpNow(body) } ?? nil
    }

    /// - Returns: nil if the stores could not do it.
    private func cleanUpNow<T: Sendable>(_ body: () -> T) -> T? {
        guard let sessions else { return body() }
        return try? sessions.run(body)
    }
}

/// Runs a call of a store and converts its error to a ``WebDAVError``.
func storing<T>(_ body: () throws(StoreError) -> T) throws(WebDAVError) -> T {
    do throws(StoreError) { return try body() } catch { throw WebDAVError(store: error) }
}

/// Like ``storing(_:)``, for methods that only read.
func reading<T>(_ body: () throws(StoreError) -> T) throws(WebDAVError) -> T {
    do throws(StoreError) { return try body() } catch { throw WebDAVError(reading: error) }
}
