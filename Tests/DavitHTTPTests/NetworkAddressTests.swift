import DavitHTTP
import Testing

struct NetworkAddressTests {
    /// RFC 5952, given the groups of an address.
    static let texts: [(groups: [UInt64], text: String)] = [
        ([0, 0, 0, 0, 0, 0, 0, 0], "::"), ([0, 0, 0, 0, 0, 0, 0, 1], "::1"),
        ([1, 0, 0, 0, 0, 0, 0, 0], "1::"),
        // §4.1: no leading zeros.
        ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], "2001:db8::1"),
        ([0x2001, 0xdb8, 1, 1, 1, 1, 1, 0xAB], "2001:db8:1:1:1:1:1:ab"),
        // §4.2.2: a single group of zeros is not abbreviated.
        ([0x2001, 0xdb8, 0, 1, 1, 1, 1, 1], "2001:db8:0:1:1:1:1:1"),
        ([0, 1, 1, 1, 1, 1, 1, 1], "0:1:1:1:1:1:1:1"),
        ([1, 1, 1, 1, 1, 1, 1, 0], "1:1:1:1:1:1:1:0"),
        // §4.2.3: the longest run, or the first of several equal ones.
        ([0x2001, 0, 0, 1, 0, 0, 0, 1], "2001:0:0:1::1"),
        ([0x2001, 0xdb8, 0, 0, 1, 0, 0, 1], "2001:db8::1:0:0:1"),
        ([0, 0, 1, 0, 0, 0, 0, 0], "0:0:1::"), ([0, 0, 1, 1, 1, 0, 0, 1], "::1:1:1:0:0:1"),
        // §4.3: lower case.
        (
            [0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF],
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
        ),
        // §5: IPv4 addresses embedded in IPv6 addresses.
        ([0, 0, 0, 0, 0, 0xFFFF, 0xC000, 0x0221], "::ffff:192.0.2.33"),
        ([0, 0, 0, 0, 0, 0xFFFE, 0xC000, 0x0221], "::fffe:c000:221"),
    ]

    @Test(arguments: texts)
    func ipv6AddressesAreFormattedAsInRFC5952(groups: [UInt64], text: String) {
        let address = Self.address(groups)
        #expect(address.host == text)
        #expect(address.description == "[\(text)]:8080")
        #expect(address.bytes == groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
        #expect(address.isIPv6)
    }

    @Test(arguments: [
        (NetworkAddress.ipv4(127, 0, 0, 1, port: 1), "127.0.0.1"), (.ipv4(0, 0, 0, 0, port: 1), "0.0.0.0"),
        (.ipv4(255, 255, 255, 255, port: 1), "255.255.255.255"),
        (.ipv4(10, 9, 100, 0, port: 1), "10.9.100.0"),
    ])
    func ipv4AddressesAreFormatted(address: NetworkAddress, text: String) {
        #expect(address.host == text)
        #expect(address.description == "\(text):1")
        #expect(address.bytes.map(String.init).joined(separator: ".") == text)
        #expect(!address.isIPv6)
    }

    @Test func localEndpointHasNoAddress() {
        #expect(NetworkAddress.local.host == "unix:")
        #expect(NetworkAddress.local.description == "unix:")
        #expect(NetworkAddress.local.bytes == [])
        #expect(NetworkAddress.local.isLoopback)
        #expect(!NetworkAddress.local.isIPv6)
    }

    @Test func scopeIsPartOfTheText() {
        let address = NetworkAddress(
            family: .ipv6, high: 0xFE80 << 48, low: 1, scope: 4_294_967_295, port: 80)
        #expect(address.host == "fe80::1%4294967295")
    }

    @Test(arguments: [
        (NetworkAddress.ipv4(127, 200, 1, 1, port: 1), true), (.ipv4(128, 0, 0, 1, port: 1), false),
        (address([0, 0, 0, 0, 0, 0, 0, 1]), true), (address([0, 0, 0, 0, 0, 0, 0, 2]), false),
        (address([1, 0, 0, 0, 0, 0, 0, 1]), false),
    ])
    func loopbackAddressesAreRecognized(address: NetworkAddress, isLoopback: Bool) {
        #expect(address.isLoopback == isLoopback)
    }

    private static func address(_ groups: [UInt64]) -> NetworkAddress {
        NetworkAddress(
            family: .ipv6, high: groups[..<4].reduce(0) { $0 << 16 | $1 },
            low: groups[4...].reduce(0) { $0 << 16 | $1 }, port: 8080)
    }
}
