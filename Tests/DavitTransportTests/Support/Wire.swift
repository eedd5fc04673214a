import DavitCrypto
import DavitSystem
import DavitTesting

/// What is between the peers and the servers of these tests: TLS everywhere if the environment has `DAVIT_TEST_TLS`,
/// so that whatever holds for a connection holds for one with TLS.
enum Wire {
    static let isSecure = CryptoLibrary.isAvailable && Environment.variable("DAVIT_TEST_TLS") != nil

    #if TLS
    /// A server for `localhost`.
    static func context(
        clients: ClientCertificates = .off, tickets: TicketKeys? = nil, identities: [TLSIdentity]? = nil
    ) throws -> TLSContext {
        try TLSContext(
            identities: try identities ?? [try Shop.server.get()], clients: clients,
            tickets: tickets ?? TicketKeys(now: Shop.now))
    }
    #endif
}
