#if TLS
import DavitCrypto
import DavitHTTP
import Testing

struct CertificateMakerTests {
    static let day: Int64 = 86_400
    /// 2026-01-01.
    static let now = Timestamp(seconds: 1_767_225_600)
    static let authority = Result { try CertificateGenerator.makeAuthority(named: "davit on büro", now: now) }

    static func leaf(
        names: [String] = ["files.example"], addresses: [String] = [], at time: Timestamp = now
    ) throws -> Certificate {
        try CertificateGenerator.makeLeaf(
            names: names, addresses: addresses, authority: try authority.get(), now: time
        ).certificate
    }

    @Test func authorityIsValidForTenYears() throws {
        let validity = try Self.authority.get().certificate.validity()
        #expect(validity.lowerBound == Self.now.adding(seconds: -3600))
        #expect(validity.upperBound == Self.now.adding(seconds: 3652 * Self.day - 3600))
    }

    @Test func leafIsValidFor825DaysAndRenewedEarlier() throws {
        let leaf = try Self.leaf()
        let validity = try leaf.validity()
        #expect(validity.lowerBound == Self.now.adding(seconds: -3600))
        // Both ends of the validity period are inclusive.
        let last = validity.lowerBound.adding(seconds: 825 * Self.day - 1)
        #expect(validity.upperBound == last)
        let renewal = last.adding(seconds: -30 * Self.day)
        #expect(try !leaf.needsRenewal(now: Self.now))
        #expect(try !leaf.needsRenewal(now: renewal.adding(seconds: -1)))
        #expect(try leaf.needsRenewal(now: renewal))
        #expect(try leaf.needsRenewal(now: last.adding(seconds: 1)))
        // A clock that is set to a much earlier time does not cause a renewal.
        #expect(try !leaf.needsRenewal(now: Timestamp(seconds: 0)))
    }

    @Test func leafExpiresNoLaterThanItsAuthority() throws {
        let end = try Self.authority.get().certificate.validity().upperBound
        #expect(try Self.leaf(at: end.adding(seconds: -Self.day)).validity().upperBound == end)
        #expect(throws: CertificateGenerator.Problem.self) { try Self.leaf(at: end.adding(seconds: 3601)) }
    }

    @Test func leafIsSignedByItsAuthority() throws {
        let authority = try Self.authority.get().certificate
        let sameName = try CertificateGenerator.makeAuthority(named: "davit on büro", now: Self.now)
            .certificate
        let leaf = try Self.leaf()
        #expect(leaf.isSigned(by: authority))
        #expect(!leaf.isSigned(by: sameName))
        #expect(!authority.isSigned(by: leaf))
        #expect(authority.isSigned(by: authority))
        #expect(try authority.subject() == #"CN=davit on b\C3\BCro"#)
    }

    static let hosts: [(host: String, isCovered: Bool)] = [
        ("files.example", true), ("FILES.Example", true), ("x.wild.example", true), ("localhost", true),
        ("wild.example", false), ("x.y.wild.example", false), ("other.example", false), ("", false),
        (".example", false), ("files.example.", false), ("files.example\0", false), ("192.0.2.1\0", false),
        ("*.example", false),
        ("192.0.2.1", true), ("2001:db8::1", true), ("2001:DB8:0:0::1", true), ("::1", true),
        ("192.0.2.2", false), ("2001:db8::2", false), ("127.0.0.1", false), ("192.0.2", false),
    ]

    @Test(arguments: hosts)
    func leafCoversOnlyItsHosts(host: String, isCovered: Bool) throws {
        let leaf = try Self.leaf(
            names: ["Files.example", "*.wild.example", "localhost"],
            addresses: ["192.0.2.1", "2001:db8::1", "::1"])
        #expect(leaf.covers(host) == isCovered)
    }

    @Test func certificateNeedsNoNameIfItHasAnAddress() throws {
        let leaf = try Self.leaf(names: [], addresses: ["192.0.2.1"])
        #expect(leaf.covers("192.0.2.1"))
        #expect(try leaf.subject() == "CN=192.0.2.1")
    }

    @Test func longNameIsCoveredWithoutCommonName() throws {
        let name = String(repeating: "abcdefghi.", count: 20) + "example"
        let leaf = try Self.leaf(names: [name])
        #expect(leaf.covers(name))
        #expect(try leaf.subject() == "CN=davit")
    }

    static let badNames = [
        "", ".", "a.", ".a", "a..b", "-a", "a-", "a b", "a,DNS:b", "DNS:a", "a\n", "a\0", "bücher.example",
        "*",
        "*.example", "a.*.example", "*a.example.org", "192.0.2.1", "1", String(repeating: "a", count: 64),
        String(repeating: "a.", count: 127),
    ]

    @Test(arguments: badNames)
    func invalidNamesAreRefused(name: String) throws {
        #expect(throws: CertificateGenerator.Problem.badName(name)) { try Self.leaf(names: ["a", name]) }
    }

    static let badAddresses = [
        "", "192.0.2", "192.0.2.256", "192.0.2.1,DNS:evil", "192.0.2.1 ", "fe80::1%eth0", "::g", "1::2::3",
        "localhost", "[::1]", "192.0.2.1/24",
    ]

    @Test(arguments: badAddresses)
    func invalidAddressesAreRefused(address: String) throws {
        #expect(throws: CertificateGenerator.Problem.badAddress(address)) {
            try Self.leaf(addresses: ["::1", address])
        }
    }

    @Test func emptyHostListIsRefused() throws {
        #expect(throws: CertificateGenerator.Problem.noHost) { try Self.leaf(names: []) }
    }

    @Test func certificatesAndKeysRoundTripThroughPEM() throws {
        let pair = try CertificateGenerator.makeLeaf(
            names: ["a"], addresses: [], authority: try Self.authority.get(), now: Self.now)
        let identity = try TLSIdentity(chain: try pair.certificate.pem(), key: try pair.key.pem())
        #expect(try identity.certificate.fingerprint() == pair.certificate.fingerprint())
        #expect(try identity.key.pem() == pair.key.pem())
        #expect(identity.key.belongs(to: pair.certificate))
        #expect(try !identity.key.belongs(to: Self.authority.get().certificate))
    }

    @Test func everyCertificateIsUnique() throws {
        #expect(try Self.leaf().fingerprint() != Self.leaf().fingerprint())
        let text = try Self.leaf().fingerprintText()
        #expect(text.utf8.count == 95)
        #expect(text.split(separator: ":").allSatisfy { UInt8($0, radix: 16) != nil })
    }
}
#endif
