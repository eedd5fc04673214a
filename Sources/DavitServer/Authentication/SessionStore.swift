/// Storage in which sessions survive a restart of the server. Calls block.
package protocol SessionStore: Sendable {
    /// Whether other servers begin and end sessions in this store.
    var isShared: Bool { get }
    /// Returns a session; nil if there is none.
    /// - Parameter hash: see ``BrowserSession/tokenHash``.
    func session(withHash hash: [UInt8]) throws(SessionStoreError) -> BrowserSession?
    /// Returns the sessions among some that exist, and when they were used.
    func uses(of ids: [Int64]) throws(SessionStoreError) -> [Int64: Int64]
    /// Returns all sessions.
    func sessions() throws(SessionStoreError) -> [BrowserSession]
    /// Adds a session and removes others, if its credential is still valid. When the credential changes later, the session is
    /// removed together with it, so that the session cannot begin again after a crash.
    /// - Parameter isCurrent: returns whether the credential is valid; it cannot change between this call and the end of the
    ///   operation.
    /// - Returns: whether `isCurrent` returned true. Otherwise, nothing has changed.
    /// - Throws: an error if the account does not exist; nothing has then changed.
    func insert(
        _ session: BrowserSession, removing removed: [Int64], if isCurrent: () -> Bool
    ) throws(SessionStoreError) -> Bool
    /// Removes sessions, and records when and from where others were used. Ignores sessions that do not exist.
    func update(removing removed: [Int64], used: [BrowserSession]) throws(SessionStoreError)
}

extension SessionStore {
    package var isShared: Bool { false }
    package func session(withHash hash: [UInt8]) throws(SessionStoreError) -> BrowserSession? { nil }
    package func uses(of ids: [Int64]) throws(SessionStoreError) -> [Int64: Int64] { [:] }
}

/// The reason why sessions could not be stored or read, for administrators.
package struct SessionStoreError: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}
