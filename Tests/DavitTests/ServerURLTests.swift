import Davit
import DavitSystem
import Testing

struct ServerURLTests {
    static let rows: [(hosts: [String], port: UInt16, isSecure: Bool, primary: [String], url: String?)] = [
        (["127.0.0.1", "::1"], 8080, false, [], "http://localhost:8080/"),
        (["::1"], 80, false, [], "http://localhost/"),
        (["127.0.0.2"], 443, true, [], "https://localhost/"),
        (["192.0.2.7"], 80, false, [], "http://192.0.2.7/"),
        (["192.0.2.7"], 80, true, [], "https://192.0.2.7:80/"),
        (["2001:db8::1"], 81, false, [], "http://[2001:db8::1]:81/"),
        (["0.0.0.0", "::"], 80, false, ["198.51.100.1", "2001:db8::2"], "http://198.51.100.1/"),
        (["0.0.0.0", "::"], 80, false, ["", "2001:db8::2"], "http://[2001:db8::2]/"),
        (["::"], 80, false, ["198.51.100.1", "2001:db8::2"], "http://[2001:db8::2]/"),
        (["0.0.0.0"], 8080, false, ["", "2001:db8::2"], "http://localhost:8080/"), ([], 0, false, [], nil),
    ]

    // The URL has the primary address, and omits a default port (W022 in docs/coming-from-gcdwebserver.md).
    @Test(arguments: rows)
    func urlHasThePrimaryAddressAndOmitsDefaultPorts(
        hosts: [String], port: UInt16, isSecure: Bool, primary: [String], url: String?
    ) {
        let addresses = hosts.map { BoundAddress(host: $0, port: port) }
        let text = ServerURL.text(of: addresses, isSecure: isSecure) { family in
            let address = primary.dropFirst(family == .ipv4 ? 0 : 1).first ?? ""
            return address.isEmpty ? nil : address
        }
        #expect(text == url)
    }

    @Test func unixSocketHasItsOwnURL() {
        let local = BoundAddress(path: "/run/d a.sock")
        let url = ServerURL.text(of: [local], isSecure: false) { _ in nil }
        #expect(url == "http+unix://%2Frun%2Fd%20a.sock/")
        let internet = BoundAddress(host: "127.0.0.1", port: 81)
        #expect(
            ServerURL.text(of: [local, internet], isSecure: false) { _ in nil } == "http://localhost:81/")
    }

    // The test does not know the addresses of the machine; an address that is found must belong to it and be
    // reachable from other machines (W069 in docs/coming-from-gcdwebserver.md).
    @Test(arguments: [SocketAddress.Family.ipv4, .ipv6])
    func primaryAddressBelongsToThisMachine(family: SocketAddress.Family) {
        let all = InterfaceAddresses.all()
        #expect(all.contains { $0.isLoopback })
        guard let primary = InterfaceAddresses.primary(family) else {
            #expect(!all.contains { $0.family == family && !$0.isLoopback && !$0.isLinkLocal })
            return
        }
        #expect(primary.family == family)
        #expect(!primary.isLoopback && !primary.isLinkLocal && !primary.isUnspecified)
        #expect(all.contains { $0.text == primary.text })
    }

    @Test func w069PrimaryAddressIsPublic() {
        let text = InterfaceAddresses.primary(.ipv4)?.text
        #expect(WebServer.primaryAddress()?.host == text && WebServer.primaryAddress()?.port ?? 0 == 0)
        #expect(WebServer.primaryAddress(.ipv6)?.host == InterfaceAddresses.primary(.ipv6)?.text)
        #expect(WebServer.primaryAddress(.local) == nil)
    }
}
