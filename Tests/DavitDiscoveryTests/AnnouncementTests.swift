import DavitSystem
import Testing

@testable import DavitDiscovery

struct AnnouncementTests {
    static let problems: [(ServiceAnnouncement, ServiceAnnouncement.Problem?)] = [
        (.init(), nil), (.init(name: "Büro"), nil), (.init(name: String(repeating: "a", count: 63)), nil),
        // RFC 6763 §4.1.1: a label of at most 63 bytes without control characters.
        (.init(name: String(repeating: "ä", count: 32)), .name(String(repeating: "ä", count: 32))),
        (.init(name: "a\u{7}"), .name("a\u{7}")), (.init(name: "a\u{7F}"), .name("a\u{7F}")),
        (.init(services: [.init(type: "_x-1._tcp", name: "b")]), nil),
        (.init(services: [.init(type: "_http._tcp", name: "")]), .name("")),
        // RFC 6335 §5.1: 1 to 15 letters, digits and hyphens, not at the ends.
        (.init(services: [.init(type: "_http._udp")]), .type("_http._udp")),
        (.init(services: [.init(type: "http._tcp")]), .type("http._tcp")),
        (.init(services: [.init(type: "_._tcp")]), .type("_._tcp")),
        (.init(services: [.init(type: "_-a._tcp")]), .type("_-a._tcp")),
        (.init(services: [.init(type: "_a.b._tcp")]), .type("_a.b._tcp")),
        (.init(services: [.init(type: "_abcdefghijklmnop._tcp")]), .type("_abcdefghijklmnop._tcp")),
        // RFC 6763 §6.4: a key without "=", and strings of at most 255 bytes.
        (.init(services: [.init(type: "_a._tcp", properties: ["": "b"])]), .property(key: "")),
        (.init(services: [.init(type: "_a._tcp", properties: ["a=": "b"])]), .property(key: "a=")),
        (.init(services: [.init(type: "_a._tcp", properties: ["ä": "b"])]), .property(key: "ä")),
        (
            .init(services: [.init(type: "_a._tcp", properties: ["a": String(repeating: "b", count: 253)])]),
            nil
        ),
        (
            .init(services: [.init(type: "_a._tcp", properties: ["a": String(repeating: "b", count: 254)])]),
            .property(key: "a")
        ),
    ]

    @Test(arguments: problems)
    func announcementIsValidated(announcement: ServiceAnnouncement, problem: ServiceAnnouncement.Problem?) {
        #expect(announcement.problem == problem)
    }

    @Test func recordHasALimit() {
        var properties: [String: String] = [:]
        for index in 0..<6 { properties["k\(index)"] = String(repeating: "v", count: 220) }
        #expect(
            ServiceAnnouncement(services: [.init(type: "_a._tcp", properties: properties)]).problem != nil)
    }

    @Test func pathIsTheFirstProperty() {
        let service = ServiceAnnouncement.Service(
            type: "_a._tcp", properties: ["u": "anna", "a": "1", "path": "/"])
        #expect(AnnouncedService(service, name: "n", port: 1).properties == ["path=/", "a=1", "u=anna"])
    }

    static let numbered: [(String, Int, String)] = [
        ("Office", 1, "Office"), ("Office", 2, "Office (2)"), ("Office", 100, "Office (100)"),
        (String(repeating: "a", count: 63), 2, String(repeating: "a", count: 59) + " (2)"),
        // Characters remain whole.
        (String(repeating: "é", count: 31), 2, String(repeating: "é", count: 29) + " (2)"),
    ]

    @Test(arguments: numbered)
    func numberFitsIntoTheName(name: String, number: Int, expected: String) {
        let service = AnnouncedService(.init(type: "_a._tcp"), name: name, port: 1)
        #expect(service.name(number: number) == expected)
    }
}

struct InterfaceSelectionTests {
    static let lan = SocketAddress(family: .ipv4, high: 0, low: 0x0A00_0001, scope: 0, port: 0)
    static let lan6 = SocketAddress(family: .ipv6, high: 0xFE80 << 48, low: 1, scope: 2, port: 0)
    static let bridge = SocketAddress(family: .ipv4, high: 0, low: 0xAC11_0001, scope: 0, port: 0)

    static let interfaces: [NetworkInterface] = [
        .init(
            name: "lo", index: 1, isLoopback: true,
            addresses: [.ipv4Loopback(port: 0), .ipv6Loopback(port: 0)]),
        .init(name: "eth0", index: 2, addresses: [lan, lan6]),
        .init(name: "tun0", index: 3, hasMulticast: false, addresses: [lan]),
        .init(name: "docker0", index: 4, addresses: [bridge]),
        .init(name: "br-1234", index: 5, addresses: [bridge]),
        .init(name: "veth12", index: 6, addresses: [bridge]),
        .init(name: "virbr0", index: 7, addresses: [bridge]),
        .init(name: "cni0", index: 8, addresses: [bridge]),
        .init(name: "podman1", index: 9, addresses: [bridge]),
        .init(name: "br0", index: 10, addresses: [bridge]),
    ]

    static let cases: [(addresses: [SocketAddress], names: [String], places: [String])] = [
        ([.ipv4Any(port: 80), .ipv6Any(port: 80)], [], ["eth0 46", "br0 4"]),
        ([.ipv4Any(port: 80)], [], ["eth0 4", "br0 4"]), ([.ipv6Any(port: 80)], [], ["eth0 6"]),
        ([lan], [], ["eth0 4"]), ([lan, .ipv4Loopback(port: 80)], [], ["eth0 4"]),
        ([.ipv4Loopback(port: 80), .ipv6Loopback(port: 80)], [], []),
        // Only named explicitly.
        ([bridge], [], ["br0 4"]), ([.ipv4Any(port: 80)], ["docker0"], ["docker0 4"]),
        ([lan], ["docker0"], []), ([.ipv4Any(port: 80)], ["lo"], []), ([.ipv4Any(port: 80)], ["missing"], []),
    ]

    @Test(arguments: cases)
    func interfacesAreSelected(addresses: [SocketAddress], names: [String], places: [String]) {
        let found = InterfaceSelection(addresses: addresses, names: names).places(among: Self.interfaces)
        #expect(found.map { "\($0.name) \($0.hasIPv4 ? "4" : "")\($0.hasIPv6 ? "6" : "")" } == places)
    }

    @Test func systemInterfacesIncludeLoopback() throws {
        let loopback = try #require(NetworkInterface.all().first { $0.isLoopback })
        #expect(loopback.addresses.contains { $0.isLoopback } && loopback.index > 0)
    }
}
