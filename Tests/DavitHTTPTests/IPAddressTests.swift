import DavitHTTP
import Testing

struct IPAddressTests {
    static let addresses: [(text: String, written: String)] = [
        ("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"),
        // RFC 5952 §4.1 to §4.3.
        ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:DB8::A", "2001:db8::a"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("fe80::1:0:0:1", "fe80::1:0:0:1"),
        // RFC 4291 §2.5.5.2: an IPv4-mapped IPv6 address identifies the same host as the IPv4 address.
        ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:0201", "192.0.2.1"),
    ]

    @Test(arguments: addresses)
    func addressesAreParsedAndFormatted(text: String, written: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.text == written)
        #expect(IPAddress(written) == address)
    }

    static let refused = [
        "", ".", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.-4",
        "0x7f.0.0.1",
        ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "g::",
        "::1%1",
        "fe80::1%eth0", "[::1]", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "1.2.3.4::", "localhost", "127.1", ":1",
        "1:",
    ]

    @Test(arguments: refused)
    func malformedAddressesAreRefused(text: String) { #expect(IPAddress(text) == nil) }

    // RFC 7239 §6, and the format of X-Forwarded-For.
    static let nodes: [(text: String, address: String?)] = [
        ("192.0.2.43", "192.0.2.43"), ("192.0.2.43:47011", "192.0.2.43"),
        ("[2001:db8:cafe::17]", "2001:db8:cafe::17"),
        ("[2001:db8:cafe::17]:47011", "2001:db8:cafe::17"), ("2001:db8:cafe::17", "2001:db8:cafe::17"),
        ("[::ffff:192.0.2.1]:1", "192.0.2.1"), ("192.0.2.43:", nil), ("192.0.2.43:65536", nil),
        ("192.0.2.43:123456", nil), ("192.0.2.43:_port", nil), ("[2001:db8::1", nil), ("[2001:db8::1]x", nil),
        ("[192.0.2.43]", nil), ("[]", nil), ("", nil), ("unknown", nil), ("_hidden", nil),
        ("_gazonk:80", nil),
    ]

    @Test(arguments: nodes)
    func forwardedNodesAreParsed(text: String, address: String?) {
        #expect(IPAddress(node: Array(text.utf8).span)?.text == address)
    }

    static let networks: [(network: String, inside: [String], outside: [String])] = [
        (
            "10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"],
            ["11.0.0.0", "9.255.255.255", "::a00:1"]
        ),
        ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
        ("192.0.2.1/32", ["192.0.2.1"], ["192.0.2.0"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "::1"]),
        ("::/0", ["::", "2001:db8::1"], ["127.0.0.1"]),
        (
            "2001:db8::/32", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:db9::", "2001:db7::1"]
        ),
        ("2001:db8::/64", ["2001:db8::ffff:0:0:1"], ["2001:db8:0:1::"]),
        ("2001:db8:0:0:8000::/65", ["2001:db8::8000:0:0:1"], ["2001:db8::7fff:0:0:1"]),
        ("::1", ["::1"], ["::2", "127.0.0.1"]), ("fe80::/10", ["fe80::1", "febf::1"], ["fec0::1"]),
    ]

    @Test(arguments: networks)
    func networkContainsItsAddresses(text: String, inside: [String], outside: [String]) throws {
        let network = try #require(IPNetwork(text))
        for address in inside { #expect(network.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!network.contains(try #require(IPAddress(address))), "\(address)") }
    }

    /// Compares every prefix of an all-ones address with a bitwise computation.
    @Test func everyPrefixLengthMatchesBitwise() throws {
        let ones = String(repeating: "1", count: 128)
        for length in 0...128 {
            let bits = ones.prefix(length) + String(repeating: "0", count: 128 - length)
            let network = try #require(IPNetwork(Self.text(String(bits)) + "/\(length)"))
            #expect(network.contains(try #require(IPAddress(Self.text(ones)))))
            guard length > 0 else { continue }
            var other = Array(ones)
            other[length - 1] = "0"
            #expect(!network.contains(try #require(IPAddress(Self.text(String(other))))), "/\(length)")
        }
    }

    /// Returns an IPv6 address from 128 binary digits.
    private static func text(_ bits: String) -> String {
        let digits = Array(bits)
        return (0..<8).map { group in
            String(Int(String(digits[(group * 16)..<(group * 16 + 16)]), radix: 2) ?? 0, radix: 16)
        }.joined(separator: ":")
    }

    static let noNetworks = [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/+8",
        "10.0.0.0/ 8",
        "10.0.0.1/8", "2001:db8::1/32", "::/129", "localhost", "unix", "10.0.0.0/08000",
        "::ffff:10.0.0.0/104",
    ]

    @Test(arguments: noNetworks)
    func malformedNetworksAreRefused(text: String) { #expect(IPNetwork(text) == nil) }
}
