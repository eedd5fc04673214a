#if TLS
internal import COpenSSL

/// What a server brings to every TLS connection: its identities, its rules for clients, its ticket keys.
///
/// TLS 1.2 and 1.3. To reload certificates, make another one with the same ``TicketKeys`` and give it to new
/// connections; those that run keep theirs.
package final class TLSContext: Sendable {
    package enum Problem: Error, Equatable, Sendable {
        case noIdentity
        /// Client certificates are wanted, but no authority can have signed them.
        case noAuthority
        /// OpenSSL does not take a certificate or a key, such as an RSA key of less than 2048 bits.
        case refused(CryptoError)
    }

    /// One for each identity, in their order; the first is for clients that ask for no name or for another one.
    let contexts: [ServerContext]
    let tickets: TicketKeys

    /// Whether a handshake may take so long that it should not hold up an event loop: with an RSA key.
    package let handshakesSlowly: Bool

    /// - Parameters:
    ///   - identities: at least one. A client that names a host (RFC 6066 §3) gets the first that has this very
    ///     name, or else the first with a wildcard for it, or else the first. Choosing is linear in their number.
    ///   - tickets: the same for all contexts of one server.
    package init(
        identities: [TLSIdentity], clients: ClientCertificates = .off, tickets: TicketKeys
    ) throws(Problem) {
        guard !identities.isEmpty else { throw .noIdentity }
        if case .off = clients {} else if clients.authorities.isEmpty { throw .noAuthority }
        self.tickets = tickets
        handshakesSlowly = identities.contains { $0.key.signsSlowly }
        do throws(CryptoError) {
            let sessionContext = try Self.sessionContext(of: clients)
            var contexts: [ServerContext] = []
            for identity in identities {
                contexts.append(
                    try ServerContext(identity, clients: clients, sessionContext: sessionContext))
            }
            self.contexts = contexts
        } catch {
            throw .refused(error)
        }
        for context in contexts {
            do throws(CryptoError) { try context.setOwner(self) } catch { throw .refused(error) }
        }
    }

    /// A session is resumed only under the rules for client certificates that it was made under: who came in
    /// while none was demanded, or with one of another authority, makes a full handshake again.
    private static func sessionContext(of clients: ClientCertificates) throws(CryptoError) -> [UInt8] {
        let rule: UInt8 =
            switch clients {
            case .off: 0
            case .asked: 1
            case .demanded: 2
            }
        var rules = [rule]
        for authority in clients.authorities { rules += try authority.fingerprint() }
        return try Digest.of(rules, .sha256)
    }

    /// The context for a host that a client names; nil if no certificate is for it.
    func context(for name: String) -> ServerContext? {
        contexts.first { $0.certificate.covers(name, wildcards: false) }
            ?? contexts.first { $0.certificate.covers(name) }
    }
}
#endif
