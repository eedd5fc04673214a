#if TLS
internal import DavitHTTP
internal import Synchronization

/// Users who have sent the right password and still need to send a code.
///
/// Codes are short, so guesses are limited in three ways: by the number for each password that was sent, by the delays
/// for the address (``LoginFailureTracker``), and by delays for the account that grow to an hour, which hold for all
/// addresses, because a client that guesses codes knows the password. Recovery codes are long and exempt from the last one, so
/// that the user is not locked out.
package final class PendingSignIns: Sendable {
    /// A sign-in that needs a code.
    package struct Entry: Hashable, Sendable {
        package let account: String
        package let credential: SessionCredential
        let expiry: Int64
        var attempts = 0
    }

    private struct Guesses: Sendable {
        var failures = 0
        var blockedUntil: Int64 = 0
    }

    /// How long a code can be sent after the password, in seconds.
    private static let lifetime: Int64 = 300
    /// Maximum number of codes for one password.
    package static let attemptLimit = 5
    /// Maximum number of entries of one account, and in total. The oldest one is removed.
    package static let perAccount = 8
    package static let total = 1024
    /// Maximum number of accounts with recorded guesses; only accounts whose password was sent are recorded.
    private static let guessLimit = 4096
    package static let backoff = LoginFailureTracker.Backoff(free: 9, limitSeconds: 3600)

    private struct State: Sendable {
        var entries: [[UInt8]: Entry] = [:]
        var guesses = BoundedCache<String, Guesses>(limit: guessLimit)
    }

    private let state = Mutex(State())
    /// Returns the time in seconds since 1970.
    private let now: @Sendable () -> Int64

    package init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// Returns a token for the form that asks for the code; nil if OpenSSL fails.
    package func begin(_ account: String, _ credential: SessionCredential) -> String? {
        let token = BrowserSession.makeToken()
        guard let hash = BrowserSession.hash(of: token) else { return nil }
        let now = now()
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.expiry > now }
            let own = state.entries.filter { $0.value.account == account }
            let all = own.count >= Self.perAccount ? own : state.entries
            if own.count >= Self.perAccount || all.count >= Self.total,
                let oldest = all.min(by: { $0.value.expiry < $1.value.expiry })
            {
                state.entries[oldest.key] = nil
            }
            state.entries[hash] = Entry(account: account, credential: credential, expiry: now + Self.lifetime)
        }
        return token
    }

    /// Returns the sign-in of a form and counts the attempt; nil if the user has to send the password again.
    package func attempt(_ token: String) -> Entry? {
        guard let hash = BrowserSession.hash(of: token) else { return nil }
        let now = now()
        return state.withLock { state in
            guard var entry = state.entries[hash], entry.expiry > now else { return nil }
            entry.attempts += 1
            state.entries[hash] = entry.attempts < Self.attemptLimit ? entry : nil
            return entry
        }
    }

    /// Ends a sign-in that has succeeded.
    package func end(_ token: String) {
        guard let hash = BrowserSession.hash(of: token) else { return }
        state.withLock { $0.entries[hash] = nil }
    }

    // MARK: Guesses

    /// Returns the remaining wait in seconds before a code for an account is accepted from anyone; nil if there is none.
    package func wait(for account: String) -> Int64? {
        let now = now()
        let until = state.withLock { $0.guesses[account]?.blockedUntil } ?? 0
        // The clock may have been set back.
        return until > now ? min(until - now, Self.backoff.seconds(after: .max)) : nil
    }

    package func recordWrongCode(for account: String) {
        let now = now()
        state.withLock { state in
            var guesses = state.guesses[account] ?? Guesses()
            guesses.failures = min(guesses.failures + 1, 1000)
            guesses.blockedUntil = now + Self.backoff.seconds(after: guesses.failures)
            state.guesses.set(guesses, for: account)
        }
    }

    package func recordRightCode(for account: String) {
        state.withLock { $0.guesses.set(Guesses(), for: account) }
    }
}
#endif
