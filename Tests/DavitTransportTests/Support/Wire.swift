import DavitCrypto
import DavitSystem
import DavitTesting

/// The transport between peers and servers in these tests: TLS everywhere if the environment variable
/// `DAVIT_TEST_TLS` is set, so that the same tests cover connections with TLS.
enum Wire {
    static let isSecure = CryptoLibrary.isAvailable && Environment.variable("DAVIT_TEST_TLS") != nil

    #if TLS
    /// Creates a TLS context, by default with a certificate for `localhost`.
    static func context(
        clients: ClientCertificates = .off, tickets: TicketKeys? = nil, identities: [TLSIdentity]? = nil
    ) throws -> TLSContext {
        try TLSContext(
            identities: try identities ?? [try TestPKI.server.get()], clients: clients,
            tickets: tickets ?? TicketKeys(now: TestPKI.now))
    }
    #endif
}
