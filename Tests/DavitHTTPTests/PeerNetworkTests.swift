import DavitHTTP
import Testing

struct PeerNetworkTests {
    static let same = [
        ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "0:0:0:0:0:FFFF:192.0.2.1"],
        ["2001:db8::1", "2001:db8:0:0:ffff::", "2001:0db8::2:3:4", "2001:db8::%2"],
        ["2001:db8:0:1::", "2001:db8:0:1:2:3:4:5", "2001:DB8::1:0:0:0:0"],
        ["::1", "::", "::192.0.2.1", "0::5"], ["fe80::1%eth0", "fe80::2"], ["192.0.2.2"], ["198.51.100.1"],
        ["2001:db8:1::"], ["1:2:3:4::"], ["1:2:3:5:6:7:8:9"],
    ]

    @Test func equivalentAddressesAreOneNetwork() {
        for (index, names) in Self.same.enumerated() {
            for name in names { #expect(PeerNetwork(of: name) == PeerNetwork(of: names[0]), "\(name)") }
            for others in Self.same[(index + 1)...] {
                for (name, other) in zip(names, others) {
                    #expect(PeerNetwork(of: name) != PeerNetwork(of: other), "\(name) and \(other)")
                }
            }
        }
    }

    /// Proxies may pass on arbitrary text.
    @Test(arguments: [
        "", "unknown", ":", ":::", "1.2.3", "1.2.3.4.5", "999999999999999999999.1.1.1",
        "1:2:3:4:5:6:7:8:9:10", "_hidden", "%",
    ])
    func invalidAddressesShareOneNetwork(text: String) {
        #expect(PeerNetwork(of: text) == PeerNetwork(of: nil as IPAddress?))
    }
}
