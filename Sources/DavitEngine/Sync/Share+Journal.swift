internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

extension Share {
    /// Waits until the journal has everything that has happened in a collection before this call.
    ///
    /// In short steps: between two, others use the threads and the journal.
    /// - Parameter isDeep: also in the collections below it.
    /// - Throws: 503 with Retry-After if that takes longer than anybody should wait.
    func compared(
        _ path: ResourcePath, isDeep: Bool
    ) async throws(WebDAVError) -> JournalPosition {
        let pass = JournalPass(path, isDeep: isDeep)
        let deadline = ContinuousClock.now + configuration.syncPatience
        while true {
            let position = try await askingJournal { journal throws(JournalError) in
                try journal.advance(pass)
            }
            if let position { return position }
            guard ContinuousClock.now < deadline else { throw .notCompared }
        }
    }

    /// Asks the journal on another thread, when nobody else does.
    /// - Throws: 403 with `supported-report` where there is none.
    func askingJournal<T: Sendable>(
        _ body: @escaping @Sendable (any ChangeJournal) throws(JournalError) -> T
    ) async throws(WebDAVError) -> T {
        guard let journal else { throw WebDAVError(.forbidden, .supportedReport) }
        guard await journalGate.enter() else { throw .busy }
        defer { journalGate.leave() }
        return try await offload { () throws(WebDAVError) in
            do throws(JournalError) { return try body(journal) } catch { throw WebDAVError(journal: error) }
        }
    }

    /// The submitted tokens that say what a collection is now (RFC 6578 §5): nothing below it has changed since.
    ///
    /// - Parameter path: canonical.
    /// - Throws: `wouldBlock`; 503 where the journal has not compared it yet.
    func currentSyncTokens(
        at path: ResourcePath, in context: RequestContext, _ wait: Wait
    ) throws(WebDAVError) -> Set<String> {
        guard let journal else { return [] }
        let tokens = context.submittedTokens.compactMap { SyncToken(parsing: $0) }
        if tokens.isEmpty { return [] }
        if wait == .never { throw WebDAVError(store: .wouldBlock) }
        do throws(JournalError) {
            guard let position = try journal.advance(JournalPass(path, isDeep: true)) else {
                throw .interrupted
            }
            var current: Set<String> = []
            for token in tokens where token.isWhole && token.isValid(at: position) {
                let changes = try journal.changes(
                    in: path, isDeep: true, after: token.number, through: position.last, limit: 1)
                if changes.isEmpty { current.insert(token.text) }
            }
            return current
        } catch {
            throw WebDAVError(journal: error)
        }
    }
}
