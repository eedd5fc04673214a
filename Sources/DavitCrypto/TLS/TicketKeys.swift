#if TLS
package import DavitHTTP
internal import Synchronization

/// The keys that encrypt session tickets (RFC 5077 §4).
///
/// One object is shared by all contexts of a server, including later ones, so that clients can resume
/// sessions after certificates have been replaced. Keys are random, exist only in memory, and are rotated
/// when new connections arrive; a leaked key can decrypt only the tickets issued during one lifetime.
package final class TicketKeys: Sendable {
    /// How long a key encrypts tickets, in seconds. After that, it decrypts tickets for the same time.
    package static let lifetimeSeconds: Int64 = 7200

    struct Key: Sendable {
        /// Identifies the key; included in the ticket unencrypted.
        let name = RandomBytes.make(count: 16)
        /// The key for AES-256.
        let cipherKey = RandomBytes.make(count: 32)
        /// The key for HMAC with SHA-256.
        let codeKey = RandomBytes.make(count: 32)
        let madeAt: Timestamp
    }

    private struct Keys {
        var current: Key
        var previous: Key?
    }

    private let keys: Mutex<Keys>

    package init(now: Timestamp) { keys = Mutex(Keys(current: Key(madeAt: now))) }

    /// Replaces the current key if its lifetime has expired. Called for every new connection.
    package func rotate(now: Timestamp) {
        keys.withLock { keys in
            let age = now.seconds - keys.current.madeAt.seconds
            // If the clock was set back by a whole lifetime or more, replace the key as well, so that it is
            // not used for too long.
            guard abs(age) >= Self.lifetimeSeconds else { return }
            let next = Key(madeAt: now)
            keys.previous = abs(age) < 2 * Self.lifetimeSeconds ? keys.current : nil
            keys.current = next
        }
    }

    /// The key that encrypts new tickets.
    var current: Key { keys.withLock { $0.current } }

    /// Returns the key with this name, and whether it is the current one; nil if it no longer exists.
    func key(named name: borrowing Span<UInt8>) -> (key: Key, isCurrent: Bool)? {
        keys.withLock { keys in
            if ConstantTime.areEqual(keys.current.name.span, name) { return (keys.current, true) }
            if let previous = keys.previous, ConstantTime.areEqual(previous.name.span, name) {
                return (previous, false)
            }
            return nil
        }
    }
}
#endif
