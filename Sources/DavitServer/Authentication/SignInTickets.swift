#if TLS
internal import DavitCrypto
internal import DavitHTTP

/// What a browser presents when it returns from a ``SignInProvider``: a text in a cookie. The server does not remember
/// sign-ins that have begun, so that clients cannot make it do so.
///
/// A ticket contains random bytes, from which only this process derives the secrets of the attempt.
package struct SignInTickets: Sendable {
    /// A valid ticket.
    package struct Ticket: Hashable, Sendable {
        /// The URL to which the browser returns, as in a Location field.
        package let destination: String
        fileprivate let seed: [UInt8]
    }

    /// How long a user can take to sign in, in seconds.
    package static let lifetime: Int64 = 600
    /// Maximum length of a destination in bytes; browsers limit cookies to 4096.
    package static let destinationBytes = 2048
    private static let seedBytes = 24
    private static let codeBytes = 32

    private let key = RandomBytes.make(count: 32)

    package init() {}

    /// Returns a new ticket and the value of its cookie; nil if OpenSSL fails.
    /// - Parameters:
    ///   - destination: at most ``destinationBytes``.
    ///   - now: in seconds since 1970.
    package func make(to destination: String, now: Int64) -> (ticket: Ticket, value: String)? {
        guard destination.utf8.count <= Self.destinationBytes else { return nil }
        let seed = RandomBytes.make(count: Self.seedBytes)
        let expiry = UInt64(bitPattern: now + Self.lifetime)
        let content =
            seed + (0..<8).map { UInt8(truncatingIfNeeded: expiry >> UInt64(8 * (7 - $0))) }
            + destination.utf8
        guard let code = derive("ticket", content) else { return nil }
        return (Ticket(destination: destination, seed: seed), Base64URL.encode(code + content))
    }

    /// Returns the ticket of a cookie; nil if it is not one of this process, or has expired.
    package func open(_ value: String, now: Int64) -> Ticket? {
        let head = Self.codeBytes + Self.seedBytes + 8
        guard value.utf8.count <= (head + Self.destinationBytes + 2) / 3 * 4,
            let bytes = Base64URL.decode(value.utf8), bytes.count >= head
        else { return nil }
        let content = Array(bytes[Self.codeBytes...])
        guard let code = derive("ticket", content),
            ConstantTime.areEqual(code, Array(bytes[..<Self.codeBytes]))
        else { return nil }
        let expiry = content[Self.seedBytes..<(Self.seedBytes + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The clock may have been set back.
        guard case 0...Self.lifetime = Int64(bitPattern: expiry) - now,
            let destination = String(validating: content[(Self.seedBytes + 8)...], as: UTF8.self)
        else { return nil }
        return Ticket(destination: destination, seed: Array(content[..<Self.seedBytes]))
    }

    /// Returns the secrets of the attempt of a ticket; nil if OpenSSL fails.
    package func attempt(of ticket: Ticket, redirectURL: String) -> SignInAttempt? {
        guard let state = derive("state", ticket.seed), let nonce = derive("nonce", ticket.seed),
            let verifier = derive("verifier", ticket.seed)
        else { return nil }
        return SignInAttempt(
            redirectURL: redirectURL, state: Base64URL.encode(state), nonce: Base64URL.encode(nonce),
            verifier: Base64URL.encode(verifier))
    }

    private func derive(_ use: String, _ content: [UInt8]) -> [UInt8]? {
        do throws(CryptoError) {
            return try HMACSHA256.make(for: (Array(use.utf8) + [0] + content).span, key: key.span)
        } catch { return nil }
    }
}
#endif
