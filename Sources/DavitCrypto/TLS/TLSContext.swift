#if TLS
internal import COpenSSL

/// The settings shared by all TLS connections of a server: identities, rules for client certificates, and
/// ticket keys.
///
/// Supports TLS 1.2 and 1.3. To reload certificates, create another context with the same ``TicketKeys`` for
/// new connections; existing connections keep theirs.
package final class TLSContext: Sendable {
    package enum Problem: Error, Equatable, Sendable {
        case noIdentity
        /// Client certificates are requested, but there is no authority to verify them.
        case noAuthority
        /// OpenSSL rejected a certificate or a key, such as an RSA key of less than 2048 bits.
        case refused(CryptoError)
    }

    /// One for each identity, in order; the first is the default for clients that specify no name or an
    /// unknown one.
    let contexts: [TLSServerContext]
    let tickets: TicketKeys
    /// Nil if the server does not answer challenges of ACME servers.
    let challenges: TLSChallenges?

    /// Whether a handshake may take too long for an event loop, because of an RSA key.
    package let handshakesSlowly: Bool

    /// - Parameters:
    ///   - identities: at least one. A client that specifies a host (RFC 6066 §3) gets the first identity
    ///     with exactly this name, otherwise the first with a matching wildcard, otherwise the first one. The
    ///     selection is linear in their number.
    ///   - tickets: the same for all contexts of one server.
    ///   - challenges: the answers to challenges of ACME servers; nil without any.
    package init(
        identities: [TLSIdentity], clients: ClientCertificates = .off, tickets: TicketKeys,
        challenges: TLSChallenges? = nil
    ) throws(Problem) {
        guard !identities.isEmpty else { throw .noIdentity }
        if case .off = clients {} else if clients.authorities.isEmpty { throw .noAuthority }
        self.tickets = tickets
        self.challenges = challenges
        handshakesSlowly = identities.contains { $0.key.signsSlowly }
        do throws(CryptoError) {
            let sessionContext = try Self.sessionContext(of: clients)
            var contexts: [TLSServerContext] = []
            for identity in identities {
                contexts.append(
                    try TLSServerContext(identity, clients: clients, sessionContext: sessionContext))
            }
            self.contexts = contexts
            // Every handshake begins with the first one.
            if let challenges { contexts[0].setChallenges(challenges) }
        } catch {
            throw .refused(error)
        }
        for context in contexts {
            do throws(CryptoError) { try context.setOwner(self) } catch { throw .refused(error) }
        }
    }

    /// Returns an identifier of the rules for client certificates. A session is only resumed under the rules
    /// under which it was established: a client that connected without a required certificate, or with one of
    /// another authority, must perform a full handshake again.
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

    /// Returns the context for a host name; nil if no certificate is valid for it.
    func context(for name: String) -> TLSServerContext? {
        contexts.first { $0.certificate.covers(name, wildcards: false) }
            ?? contexts.first { $0.certificate.covers(name) }
    }
}
#endif
