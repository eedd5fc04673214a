#if TLS
import COpenSSL
import DavitCrypto
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

private let openSSLCommandIsPresent = unsafe system("command -v openssl >/dev/null 2>&1") == 0

/// Verifies generated certificates with the installed `openssl` command, whatever its version.
@Suite(.enabled(if: openSSLCommandIsPresent, "the openssl command is not installed"))
struct OpenSSLCommandTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // Use the system clock, as the command does.
        let authority = try TestPKI.authority.get()
        let leaf = try CertificateGenerator.makeLeaf(
            names: ["files.example", "*.files.example"], addresses: ["192.0.2.1", "2001:db8::1"],
            authority: authority, now: TestPKI.now)
        try write(authority.certificate.pem(), "ca.pem")
        try write(leaf.certificate.pem(), "leaf.pem")
        try write(leaf.key.pem(), "key.pem")
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        let file = try unsafe made(BIO_new_file("\(folder.path)/\(name)", "w"))
        defer { unsafe BIO_free(file) }
        try #require(unsafe BIO_write(file, bytes, Int32(bytes.count)) == bytes.count)
    }

    /// Returns the exit status and the output.
    func run(_ command: String) throws -> (status: Int32, output: String) {
        let status = unsafe system("cd '\(folder.path)' && openssl \(command) >output 2>&1 </dev/null")
        let file = try unsafe made(BIO_new_file("\(folder.path)/output", "r"))
        defer { unsafe BIO_free(file) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        let count = unsafe BIO_read(file, &bytes, Int32(bytes.count))
        return (status, String(decoding: bytes[..<max(0, Int(count))], as: UTF8.self))
    }

    @Test(arguments: [
        "-verify_hostname files.example", "-verify_hostname x.files.example", "-verify_ip 192.0.2.1",
        "-verify_ip 2001:db8::1",
    ])
    func certificateIsValidForItsHosts(host: String) throws {
        let verify = "verify -x509_strict -purpose sslserver -CAfile ca.pem \(host) leaf.pem"
        let (status, output) = try run(verify)
        #expect(status == 0, "\(output)")
        #expect(output.contains("leaf.pem: OK"))
    }

    @Test func certificateIsInvalidForOtherHostsAndPurposes() throws {
        for option in ["-verify_hostname other.example", "-verify_ip 192.0.2.2", "-purpose sslclient"] {
            #expect(try run("verify -CAfile ca.pem \(option) leaf.pem").status != 0)
        }
    }

    @Test func leafHasTheExpectedFields() throws {
        let (status, text) = try run("x509 -in leaf.pem -noout -text")
        #expect(status == 0, "\(text)")
        for line in [
            "Version: 3", "Signature Algorithm: ecdsa-with-SHA256", "NIST CURVE: P-256", "CA:FALSE",
            "Digital Signature", "TLS Web Server Authentication", "Issuer: CN = Tests",
            "DNS:files.example, DNS:*.files.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1",
        ] {
            // Spaces around "=" differ between versions of OpenSSL.
            let compact = text.replacing(" = ", with: "=")
            #expect(compact.contains(line.replacing(" = ", with: "=")), "\(line)")
        }
    }

    @Test func authorityHasTheExpectedConstraints() throws {
        let (_, text) = try run("x509 -in ca.pem -noout -text")
        for line in ["CA:TRUE, pathlen:0", "Certificate Sign, CRL Sign"] { #expect(text.contains(line)) }
    }

    @Test func fingerprintEqualsThatOfOpenSSL() throws {
        let (_, text) = try run("x509 -in ca.pem -noout -fingerprint -sha256")
        #expect(text.contains("=\(try TestPKI.authority.get().certificate.fingerprintText())\n"))
    }

    @Test func keyIsValid() throws {
        let (status, text) = try run("pkey -in key.pem -check -noout")
        #expect(status == 0)
        #expect(text.contains("Key is valid"))
    }
}
#endif
