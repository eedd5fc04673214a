#if TLS
import Davit
import DavitCrypto
import DavitFaults
import DavitHTTP
import DavitSystem
import DavitTesting
import Testing

/// A certificate authority and a certificate that a server creates and stores.
struct SelfSignedCertificatesTests {
    private let folder: TemporaryFolder
    private let now = TestPKI.now
    private static let day: Int64 = 86_400

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/deep/tls" }

    private func maker(_ hosts: [String] = []) throws -> SelfSignedCertificates {
        try #require(SelfSignedCertificates(folder: path, hosts: hosts))
    }

    private func fingerprints(
        _ hosts: [String] = [], after days: Int64 = 0
    ) throws -> (leaf: [UInt8], authority: String) {
        let maker = try maker(hosts)
        let identity = try maker.identity(now: now.adding(seconds: days * Self.day))
        return (try identity.certificate.fingerprint(), try #require(maker.authority).fingerprint)
    }

    @Test func certificateCoversTheNamesAndAddressesOfTheMachine() throws {
        let maker = try maker(["files.example", "[2001:db8::5]", "*", "0.0.0.0", "no name at all"])
        let certificate = try maker.identity(now: now).certificate
        for host in ["localhost", "127.0.0.1", "::1", "files.example", "2001:db8::5"] {
            #expect(certificate.covers(host), "\(host)")
        }
        for address in InterfaceAddresses.all() where address.scope == 0 && !address.isLinkLocal {
            #expect(certificate.covers(address.text))
        }
        #expect(!certificate.covers("0.0.0.0"))
        let authority = try #require(maker.authority)
        let kept = try Certificate.read(pem: try SmallFile(reading: authority.path).bytes)
        #expect(kept.count == 1)
        #expect(certificate.isSigned(by: kept[0]))
        #expect(try kept[0].fingerprintText() == authority.fingerprint)
        let again = try maker.identity(now: now).certificate
        #expect(try again.fingerprint() == certificate.fingerprint())
    }

    /// A certificate for tests of clients has one fault, and is right otherwise. It replaces no stored one.
    @Test(arguments: CertificateFault.allCases)
    func faultyCertificate(_ fault: CertificateFault) throws {
        let maker = try maker()
        let stored = try maker.identity(now: now).certificate
        let authority = try Certificate.read(pem: try SmallFile(reading: path + "/authority.pem").bytes)[0]
        let certificate = try maker.identity(with: fault, now: now).certificate
        let validity = try certificate.validity()
        #expect((validity.upperBound < now) == (fault == .expired))
        #expect((now < validity.lowerBound) == (fault == .notYetValid))
        for host in ["localhost", "127.0.0.1", "::1"] {
            #expect(certificate.covers(host) == (fault != .wrongName))
        }
        #expect(certificate.isSigned(by: authority) == (fault != .untrusted))
        #expect(try maker.identity(now: now).certificate.fingerprint() == stored.fingerprint())
    }

    @Test func keysAreReadableOnlyByTheirOwner() throws {
        _ = try fingerprints()
        #expect(try SmallFile(reading: path + "/authority-key.pem").mode == 0o600)
        #expect(try SmallFile(reading: path + "/server.pem").mode == 0o600)
        let published = try SmallFile(reading: path + "/authority.pem")
        #expect(published.mode == 0o644)
        #expect(!String(decoding: published.bytes, as: UTF8.self).contains("PRIVATE KEY"))
    }

    /// The certificate is valid for 825 days and is replaced 30 days before it expires; the authority
    /// remains.
    @Test(arguments: [(790, true), (796, false), (2000, false)])
    func certificateIsRenewedBeforeItExpires(days: Int64, isSame: Bool) throws {
        let first = try fingerprints()
        let later = try fingerprints(after: days)
        #expect((later.leaf == first.leaf) == isSame)
        #expect(later.authority == first.authority)
    }

    @Test func expiredAuthorityIsReplaced() throws {
        let first = try fingerprints()
        let later = try fingerprints(after: 3650)
        #expect(later.leaf != first.leaf)
        #expect(later.authority != first.authority)
    }

    @Test func newHostRenewsTheCertificate() throws {
        let first = try fingerprints()
        let moved = try fingerprints(["192.0.2.77"])
        #expect(moved.leaf != first.leaf)
        #expect(moved.authority == first.authority)
        #expect(try fingerprints().leaf == moved.leaf, "a removed host should not cause a renewal")
    }

    @Test func brokenCertificateIsReplaced() throws {
        let first = try fingerprints()
        for content in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            try SmallFile.write(Array(content.utf8), to: path + "/server.pem", mode: 0o600)
            let next = try fingerprints()
            #expect(next.leaf != first.leaf)
            #expect(next.authority == first.authority)
        }
    }

    /// Clients trust the authority and would reject a new one.
    @Test func brokenAuthorityIsAnError() throws {
        _ = try fingerprints()
        let keyPath = path + "/authority-key.pem"
        try SmallFile.write(Array("nothing".utf8), to: keyPath, mode: 0o600)
        #expect(throws: ServerError.self) { try fingerprints() }
        #expect(try SmallFile(reading: keyPath).bytes == Array("nothing".utf8))
    }

    @Test func publishedAuthorityIsRewritten() throws {
        let first = try fingerprints()
        try SmallFile.write([], to: path + "/authority.pem", mode: 0o644)
        #expect(try fingerprints().authority == first.authority)
    }
}
#endif
