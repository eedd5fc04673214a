import DavitCommand
import Testing

/// The TLS options of `davit serve`.
struct TLSOptionsTests {
    #if TLS
    static let understood: [(line: [String], options: TLSOptions)] = [
        (["--tls-self-signed"], options { $0.isSelfSigned = true }),
        (
            ["--tls-cert", "a", "--tls-key=b", "--tls-cert=c", "--tls-key", "c"],
            options {
                $0.certificates = ["a", "c"]
                $0.keys = ["b", "c"]
            }
        ),
        (
            ["--tls-self-signed", "--tls-client-ca", "d", "--tls-clients", "optional"],
            options {
                $0.isSelfSigned = true
                $0.clientAuthorities = "d"
                $0.clients = .optional
            }
        ),
        (
            ["--tls-cert=a", "--tls-key=a", "--tls-self-signed", "--tls-client-ca=d"],
            options {
                $0.certificates = ["a"]
                $0.keys = ["a"]
                $0.isSelfSigned = true
                $0.clientAuthorities = "d"
            }
        ),
    ]

    private static func options(_ change: (inout TLSOptions) -> Void) -> TLSOptions {
        var options = TLSOptions()
        change(&options)
        return options
    }

    @Test(arguments: understood)
    func tlsOptionsAreParsed(line: [String], options: TLSOptions) throws {
        guard case .serve(let serve) = try Arguments.parse(["serve", "/srv"] + line) else {
            Issue.record("parsed as a command other than serve")
            return
        }
        #expect(serve.tls == options)
        #expect(serve.tls.isOn)
    }

    static let refused: [(line: [String], error: UsageError)] = [
        (["--tls-cert", "a"], .certificatesAndKeys(certificates: 1, keys: 0)),
        (["--tls-key", "a"], .certificatesAndKeys(certificates: 0, keys: 1)),
        (
            ["--tls-cert=a", "--tls-key=b", "--tls-cert=c"], .certificatesAndKeys(certificates: 2, keys: 1)
        ),
        (["--tls-client-ca", "a"], .optionNeedsCertificate("--tls-client-ca")),
        (["--tls-clients", "required"], .optionNeedsCertificate("--tls-clients")),
        (["--tls-self-signed", "--tls-clients", "required"], .clientsWithoutAuthority),
        (["--tls-self-signed", "--tls-clients", "all"], .badTLSClients("all")),
        (["--tls-self-signed=yes"], .unwantedValue(option: "--tls-self-signed")),
        // TLS does not replace accounts.
    ]
    #else
    static let refused: [(line: [String], error: UsageError)] = [
        (["--tls-cert", "a", "--tls-key", "b"], .noTLS(option: "--tls-cert")),
        (["--tls-self-signed"], .noTLS(option: "--tls-self-signed")),
        (["--tls-client-ca", "a"], .noTLS(option: "--tls-client-ca")),
    ]
    #endif

    @Test(arguments: refused)
    func invalidTLSOptionsAreRefused(line: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["serve", "/srv"] + line) }
        #expect(!error.message.isEmpty)
        #expect(!error.advice(for: .serve).isEmpty)
    }
}
