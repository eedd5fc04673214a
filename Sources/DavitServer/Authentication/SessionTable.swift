#if TLS
package import DavitAccess
internal import DavitHTTP
internal import Synchronization

/// The sessions of all accounts: in memory, and in a store if there is one.
///
/// Looking a session up never waits for the store. A session begins when the store has it, and ends
/// immediately; if the store then fails, its removal is repeated later.
///
/// Times are seconds since 1970.
package final class SessionTable: Sendable {
    /// A session and what identifies it in this process.
    package struct Entry: Sendable {
        package var session: BrowserSession
        /// The ``HTTPRequest/credentialNumber`` of the requests of this session.
        package let number: UInt64
        /// What the session is bound to; nil while the session itself changes it, and for users without an account here.
        var credential: SessionCredential?
        /// The user, if there is no account here. Such sessions are not stored.
        package let principal: Principal?

        func isExpired(at now: Int64, _ limits: BrowserSession.Limits) -> Bool {
            session.isExpired(at: now, limits)
                || principal != nil && now - session.createdAt > limits.lifetimeElsewhereSeconds
        }
    }

    fileprivate struct State {
        var entries: [[UInt8]: Entry] = [:]
        var ofAccount: [String: Set<[UInt8]>] = [:]
        /// Sessions that were used since the last flush.
        var used: Set<[UInt8]> = []
        /// Sessions that have ended and may still be in the store.
        var removed: Set<Int64> = []
        var flushedAt: Int64 = 0
        /// Hashes of tokens that were not in the store, until the next ``SessionTable/refresh()``.
        var unknown: Set<[UInt8]> = []
    }

    /// The interval in seconds at which ``BrowserSession/usedAt`` is updated.
    private static let usePrecision: Int64 = 60
    /// The interval in seconds at which uses are written to the store.
    private static let flushInterval: Int64 = 600

    private let limits: BrowserSession.Limits
    private let store: (any SessionStore)?
    private let work: any BlockingWorkRunner
    private let now: @Sendable () -> Int64
    private let report: @Sendable (SessionStoreError) -> Void
    private let ended = Mutex<(@Sendable (Set<UInt64>) -> Void)?>(nil)
    /// Returns the current credential of an account.
    private let credential = Mutex<(@Sendable (String) -> SessionCredential?)?>(nil)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - store: nil to keep sessions only in memory.
    ///   - report: called if the store fails.
    ///   - now: returns the time in seconds since 1970.
    package init(
        limits: BrowserSession.Limits = BrowserSession.Limits(), store: (any SessionStore)?,
        work: any BlockingWorkRunner,
        report: @escaping @Sendable (SessionStoreError) -> Void, now: @escaping @Sendable () -> Int64
    ) {
        self.limits = limits
        self.store = store
        self.work = work
        self.report = report
        self.now = now
    }

    /// Reads the sessions in the store. Blocks.
    /// - Parameter credential: returns the current credential of an account, or nil if it cannot be used.
    package func load(
        credential: @escaping @Sendable (String) -> SessionCredential?
    ) throws(SessionStoreError) {
        guard let store else { return }
        self.credential.withLock { $0 = credential }
        let stored = try store.sessions()
        let now = now()
        state.withLock { state in
            // While the clock is wrong, sessions cannot be used, but must not be removed.
            for session in stored where !session.isAhead(of: now) {
                guard let credential = credential(session.account), !session.isExpired(at: now, limits) else {
                    state.removed.insert(session.id)
                    continue
                }
                state.insert(session, credential)
            }
        }
    }

    /// Sets an action that receives the numbers of sessions that have ended, to end their requests.
    package func onEnd(_ action: @escaping @Sendable (Set<UInt64>) -> Void) { ended.withLock { $0 = action } }

    // MARK: Requests

    /// Returns the session with this token, and records its use from an address; nil if there is none. Does not
    /// block.
    package func use(_ token: String, from address: String) -> Entry? {
        guard let hash = BrowserSession.hash(of: token) else { return nil }
        let now = now()
        return state.withLock { state in
            guard var entry = state.entries[hash], !entry.isExpired(at: now, limits) else {
                return nil
            }
            if abs(now - entry.session.usedAt) >= Self.usePrecision {
                entry.session.usedAt = now
                entry.session.address = address
                state.entries[hash] = entry
                state.used.insert(hash)
            }
            return entry
        }
    }

    // MARK: Sessions of other servers

    /// The maximum number of tokens that are known not to be in the store.
    private static let unknownLimit = 1024

    /// Whether a token may be that of a session that another server has begun; ``find(_:)`` then looks for it.
    package func mayBeElsewhere(_ token: String) -> Bool {
        guard let store, store.isShared, let hash = BrowserSession.hash(of: token) else { return false }
        return state.withLock { $0.entries[hash] == nil && !$0.unknown.contains(hash) }
    }

    /// Looks for a session that another server has begun, so that ``use(_:from:)`` finds it.
    package func find(_ token: String) async {
        guard let store, let hash = BrowserSession.hash(of: token) else { return }
        let result = await work.run { () -> Result<BrowserSession?, SessionStoreError> in
            do throws(SessionStoreError) { return .success(try store.session(withHash: hash)) } catch {
                return .failure(error)
            }
        }
        var found: BrowserSession?
        switch result {
        case .success(let session)?: found = session
        case .failure(let error)?: report(error)
        case nil: break
        }
        let credential = found.flatMap { session in self.credential.withLock { $0 }?(session.account) }
        let now = now()
        state.withLock { state in
            // One that has just ended here may still be in the store.
            if let found, let credential, !state.removed.contains(found.id), !found.isAhead(of: now),
                !found.isExpired(at: now, limits)
            {
                if state.entries[hash] == nil { state.insert(found, credential) }
                return
            }
            if state.unknown.count >= Self.unknownLimit { state.unknown = [] }
            state.unknown.insert(hash)
        }
    }

    /// Ends the sessions that other servers have ended, and takes over when they were used there. Blocks.
    private func refresh() {
        guard let store, store.isShared else { return }
        let ids = state.withLock { state in
            state.unknown = []
            return state.entries.values.filter { $0.principal == nil }.map(\.session.id)
        }
        if ids.isEmpty { return }
        let uses: [Int64: Int64]
        do throws(SessionStoreError) { uses = try store.uses(of: ids) } catch { return report(error) }
        let asked = Set(ids)
        let ended = state.withLock { state in
            for (hash, entry) in state.entries {
                guard let used = uses[entry.session.id], used > entry.session.usedAt else { continue }
                state.entries[hash]?.session.usedAt = used
            }
            let ended = state.remove { asked.contains($0.session.id) && uses[$0.session.id] == nil }
            // The store does not contain them any more.
            state.removed.subtract(ended.map(\.session.id))
            return ended
        }
        finish(ended)
    }

    // MARK: Changes

    /// Begins a session of a user without an account here. It lasts an hour, and does not survive a restart.
    /// - Returns: the token for the cookie.
    /// - Throws: an error if the token cannot be hashed.
    package func begin(
        _ principal: Principal, from address: String, agent: String
    ) throws(SessionStoreError) -> String {
        let name = principal.name ?? ""
        let (token, session) = try makeSession(of: name, from: address, agent)
        let evicted = state.withLock { state in
            let evicted = state.evict(for: name, limits)
            state.insert(session, nil, principal)
            return evicted
        }
        finish(evicted)
        return token
    }

    /// Begins a session of an account that has just signed in.
    /// - Parameters:
    ///   - credential: that with which the account signed in.
    ///   - isCurrent: returns whether this is still the credential of the account; called when the session is stored, and again
    ///     when it is in the table.
    /// - Returns: the token for the cookie, and the session; nil if the credential is no longer current.
    /// - Throws: an error if the session cannot be stored.
    package func begin(
        _ account: String, _ credential: SessionCredential, from address: String, agent: String,
        isCurrent: @escaping @Sendable () -> Bool
    ) async throws(SessionStoreError) -> (token: String, entry: Entry)? {
        let (token, session) = try makeSession(of: account, from: address, agent)
        let evicted = state.withLock { $0.evict(for: account, limits) }
        finish(evicted)
        guard try await insert(session, removing: evicted.map(\.session.id), if: isCurrent) else {
            return nil
        }
        let entry = state.withLock { $0.insert(session, credential) }
        // The account may have changed in the meantime, when the session was not in the table yet.
        guard isCurrent() else {
            await end([session.id], of: account)
            return nil
        }
        return (token, entry)
    }

    private func makeSession(
        of account: String, from address: String, _ agent: String
    ) throws(SessionStoreError) -> (token: String, session: BrowserSession) {
        let token = BrowserSession.makeToken()
        guard let hash = BrowserSession.hash(of: token) else {
            throw SessionStoreError(reason: "the token cannot be hashed")
        }
        let now = now()
        let session = BrowserSession(
            id: Int64.random(in: 1...Int64.max), tokenHash: hash, account: account, createdAt: now,
            usedAt: now, address: address, agent: agent)
        return (token, session)
    }

    private func insert(
        _ session: BrowserSession, removing ids: [Int64], if isCurrent: @escaping @Sendable () -> Bool
    ) async throws(SessionStoreError) -> Bool {
        guard let store else { return true }
        let result = await work.run { () -> Result<Bool, SessionStoreError> in
            do throws(SessionStoreError) {
                return .success(try store.insert(session, removing: ids, if: isCurrent))
            } catch { return .failure(error) }
        }
        switch result {
        case .success(let isInserted)?:
            if isInserted { state.withLock { $0.removed.subtract(ids) } }
            return isInserted
        case .failure(let error)?:
            report(error)
            throw error
        case nil: throw SessionStoreError(reason: "too many operations are queued")
        }
    }

    /// Ends sessions of an account, and their requests. Ignores sessions that do not exist.
    package func end(_ ids: Set<Int64>, of account: String) async {
        let ended = state.withLock { state in
            state.remove { $0.session.account == account && ids.contains($0.session.id) }
        }
        finish(ended)
        if store == nil || ended.isEmpty { return }
        _ = await work.run { self.flush(force: true) }
    }

    /// Ends a session, whichever account it belongs to, and its requests. Blocks until the store has removed it.
    /// - Returns: the session; nil if it does not exist.
    package func end(_ id: Int64) -> BrowserSession? {
        let ended = state.withLock { $0.remove { $0.session.id == id } }
        finish(ended)
        if !ended.isEmpty { flush(force: true) }
        return ended.first?.session
    }

    /// Ends the sessions of accounts that were removed or disabled or whose password has changed, and their
    /// requests. Does not block.
    /// - Parameter credential: returns the current credential of an account, or nil if it cannot be used.
    package func endSessions(unless credential: (String) -> SessionCredential?) {
        let ended = state.withLock { state in
            let known = state.ofAccount.keys.map { ($0, credential($0)) }
            let current = Dictionary(known) { first, _ in first }
            return state.remove { entry in
                // A user without an account here loses the session when an account gets the name.
                if entry.principal != nil { return current[entry.session.account] != .some(nil) }
                return entry.credential != nil && current[entry.session.account] != .some(entry.credential)
            }
        }
        finish(ended)
    }

    /// Ends the sessions of users without an account here, and their requests. Does not block.
    package func endSessions(elsewhere names: Set<String>) {
        finish(state.withLock { $0.remove { $0.principal?.name.map(names.contains) == true } })
    }

    /// Binds a session to another credential of its account. A session that changes the credential is bound to nil
    /// before the change, and to the new one afterwards.
    package func bind(_ id: Int64, of account: String, to credential: SessionCredential?) {
        state.withLock { state in
            for hash in state.ofAccount[account] ?? [] where state.entries[hash]?.session.id == id {
                state.entries[hash]?.credential = credential
            }
        }
    }

    /// Returns the sessions of an account, or of all users, the most recently used first.
    package func sessions(of account: String?) -> [BrowserSession] {
        let now = now()
        let all = state.withLock { state in
            guard let account else { return Array(state.entries.values) }
            return (state.ofAccount[account] ?? []).compactMap { state.entries[$0] }
        }
        return all.filter { !$0.isExpired(at: now, limits) }.map(\.session)
            .sorted { ($0.usedAt, $0.createdAt, $0.id) > ($1.usedAt, $1.createdAt, $1.id) }
    }

    /// The number of sessions in memory.
    package var count: Int { state.withLock { $0.entries.count } }

    private func finish(_ ended: [Entry]) {
        guard !ended.isEmpty else { return }
        self.ended.withLock { $0 }?(Set(ended.map(\.number)))
    }

    // MARK: Store

    /// Removes expired sessions, and writes what has changed to the store. Blocks.
    /// - Parameter force: whether to write now; otherwise, at most every ten minutes.
    package func flush(force: Bool) {
        let now = now()
        let (expired, removed, used) = state.withLock { state -> ([Entry], [Int64], [BrowserSession]) in
            // The clock may have been set back.
            guard force || abs(now - state.flushedAt) >= Self.flushInterval else { return ([], [], []) }
            state.flushedAt = now
            let expired = state.remove { $0.isExpired(at: now, limits) }
            let used = state.used.compactMap { state.entries[$0]?.session }
            state.used = []
            return (expired, Array(state.removed), used)
        }
        finish(expired)
        guard let store else { return state.withLock { $0.removed = [] } }
        guard !removed.isEmpty || !used.isEmpty else { return }
        do throws(SessionStoreError) {
            try store.update(removing: removed, used: used)
            state.withLock { $0.removed.subtract(removed) }
        } catch {
            state.withLock { $0.used.formUnion(used.map(\.tokenHash)) }
            report(error)
        }
    }
}

extension SessionTable: LifecycleObserver {
    package func performMaintenance() -> Bool {
        refresh()
        // The end of a session must be in the store soon, because it would begin again after a crash.
        flush(force: state.withLock { !$0.removed.isEmpty })
        guard let store else { return false }
        return state.withLock { !$0.removed.isEmpty || store.isShared && !$0.entries.isEmpty }
    }

    package func serverDidStop() { flush(force: true) }
}

extension SessionTable.State {
    @discardableResult
    fileprivate mutating func insert(
        _ session: BrowserSession, _ credential: SessionCredential?, _ principal: Principal? = nil
    ) -> SessionTable.Entry {
        let entry = SessionTable.Entry(
            session: session, number: Accounts.nextNumber(), credential: credential, principal: principal)
        entries[session.tokenHash] = entry
        ofAccount[session.account, default: []].insert(session.tokenHash)
        return entry
    }

    /// Removes and returns the sessions for which `isEnded` returns true.
    fileprivate mutating func remove(where isEnded: (SessionTable.Entry) -> Bool) -> [SessionTable.Entry] {
        let ended = entries.values.filter(isEnded)
        for entry in ended { remove(entry) }
        return ended
    }

    private mutating func remove(_ entry: SessionTable.Entry) {
        let hash = entry.session.tokenHash
        entries[hash] = nil
        used.remove(hash)
        removed.insert(entry.session.id)
        ofAccount[entry.session.account]?.remove(hash)
        if ofAccount[entry.session.account]?.isEmpty == true { ofAccount[entry.session.account] = nil }
    }

    /// Removes sessions so that another one of an account is within the limits.
    fileprivate mutating func evict(for account: String, _ limits: BrowserSession.Limits) -> [SessionTable
        .Entry]
    {
        var evicted: [SessionTable.Entry] = []
        let own = (ofAccount[account] ?? []).compactMap { entries[$0] }
        if own.count >= limits.perAccount, let oldest = own.min(by: { $0.session.usedAt < $1.session.usedAt })
        {
            evicted.append(oldest)
            remove(oldest)
        } else if entries.count >= limits.total,
            let oldest = entries.values.min(by: { $0.session.usedAt < $1.session.usedAt })
        {
            evicted.append(oldest)
            remove(oldest)
        }
        return evicted
    }
}
#endif
