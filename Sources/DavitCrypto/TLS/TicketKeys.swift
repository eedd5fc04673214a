#if TLS
package import DavitHTTP
internal import Synchronization

/// The keys that session tickets are sealed with (RFC 5077 §4).
///
/// One object is shared by all contexts of a server, one after the other as well: a client resumes its session
/// after certificates were replaced. Keys are made at random, live in memory only, and change as connections
/// come; who learns one can read no session older than twice ``lifetimeSeconds``.
package final class TicketKeys: Sendable {
    /// How long a key seals tickets. It opens them for as long again.
    package static let lifetimeSeconds: Int64 = 7200

    struct Key: Sendable {
        /// Stands in the ticket, in the clear.
        let name = RandomBytes.make(count: 16)
        /// For AES-256.
        let cipherKey = RandomBytes.make(count: 32)
        /// For HMAC with SHA-256.
        let codeKey = RandomBytes.make(count: 32)
        let madeAt: Timestamp
    }

    private struct Keys {
        var current: Key
        var previous: Key?
    }

    private let keys: Mutex<Keys>

    package init(now: Timestamp) { keys = Mutex(Keys(current: Key(madeAt: now))) }

    /// Makes a new key if the current one has served its time. Cheap otherwise; every new connection asks.
    package func rotate(now: Timestamp) {
        keys.withLock { keys in
            let age = now.seconds - keys.current.madeAt.seconds
            // A clock that was set back by a whole lifetime must not give a key a long life.
            guard abs(age) >= Self.lifetimeSeconds else { return }
            let next = Key(madeAt: now)
            keys.previous = abs(age) < 2 * Self.lifetimeSeconds ? keys.current : nil
            keys.current = next
        }
    }

    /// The key that seals new tickets.
    var current: Key { keys.withLock { $0.current } }

    /// The key of this name, and whether it is the current one; nil if there is none any more.
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
