import Davit
import DavitACME
import DavitCommand
import Testing

/// The options for certificates of an ACME authority.
struct ACMEArgumentsTests {
    private static let main = ["--acme", "files.example.org", "--acme-agree"]

    static let wrong: [(line: [String], error: UsageError)] = [
        (["--acme-agree"], .useless(option: "--acme-agree", without: "--acme")),
        (["--acme-http", "80"], .useless(option: "--acme-http", without: "--acme")),
        (["--acme-email", "a@b"], .useless(option: "--acme-email", without: "--acme")),
        (["--acme-account-key-file", "f"], .useless(option: "--acme-account-key-file", without: "--acme")),
        (
            ["--acme", "files.example.org"],
            .badACME("--acme requires --acme-agree, which agrees to the terms of service of the ACME server")
        ),
        (
            ["--acme", "*.example.org", "--acme-agree"],
            .badACME(
                "'*.example.org' needs a certificate for a wildcard, for which davit cannot prove control of the domain"
            )
        ),
        (
            ["--acme", "localhost", "--acme-agree"],
            .badACME("'localhost' is not a domain name in ASCII with at least two labels")
        ),
        (
            main + ["--acme-directory", "http://a"],
            .badACME("the directory 'http://a' is not an https URL")
        ),
        (main + ["--acme-email", "a"], .badACME("'a' is not an email address")),
        (
            main + ["--acme-account", "a"],
            .incomplete(option: "--acme-account", needs: "--acme-account-key-file")
        ),
        (
            main + ["--acme-account-key-file", "f"],
            .useless(option: "--acme-account-key-file", without: "--acme-account")
        ),
    ]

    @Test(arguments: wrong)
    func wrongOptionsAreRefused(line: [String], error: UsageError) {
        let error =
            ACMELibrary.isAvailable ? error : .traitNeeded(option: line[0], trait: "ACME")
        #expect(throws: error) { try Arguments.parse(["serve", "/srv"] + line) }
    }

    @Test(.enabled(if: ACMELibrary.isAvailable, "needs the package trait ACME"))
    func optionsAreParsed() throws {
        var options = ServeOptions(folder: "/srv")
        var settings = ACMESettings(domains: ["a.example", "b.example"])
        settings.agreesToTerms = true
        settings.directory = "https://ca/dir"
        settings.email = "a@b.example"
        settings.authorities = "ca.pem"
        settings.prefersHTTP = true
        settings.externalAccount = .init(keyID: "k", key: "AAAAAAAAAAAAAAAAAAAAAA")
        options.tls.acme.settings = settings
        options.tls.acme.plainPort = 80
        options.tls.acme.externalKeyFile = "f"
        let line = [
            "--acme", "a.example", "--acme-agree", "--acme", "b.example", "--acme-directory=https://ca/dir",
            "--acme-email", "a@b.example", "--acme-ca", "ca.pem", "--acme-http", "80", "--acme-account", "k",
            "--acme-account-key-file", "f",
        ]
        #expect(try Arguments.parse(["serve", "/srv"] + line) == .serve(options))
        #expect(options.tls.isOn)
    }

    @Test(.enabled(if: ACMELibrary.isAvailable, "needs the package trait ACME"))
    func clientCertificatesCanBeRequired() throws {
        let line = Self.main + ["--tls-client-ca", "ca.pem"]
        #expect(throws: Never.self) { try Arguments.parse(["serve", "/srv"] + line) }
    }
}
