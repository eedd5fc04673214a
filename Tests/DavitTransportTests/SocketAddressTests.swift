import DavitSystem
import DavitTransport
import Testing

struct SocketAddressTests {
    static let numeric: [(host: String, text: String)] = [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.1.2.254", "255.1.2.254"), ("::1", "::1"),
        ("::", "::"), ("2001:db8:0:0:0:0:0:1", "2001:db8::1"),
    ]

    @Test(arguments: numeric)
    func numericAddressesKeepTheirValue(host: String, text: String) throws {
        let addresses = try SocketAddress.lookUp(host: host, port: 80)
        #expect(addresses.map(\.text) == [text])
        #expect(addresses.map(\.port) == [80])
    }

    @Test func invalidNameIsUnknown() {
        #expect(throws: SocketAddress.LookUpError.unknown) { try SocketAddress.lookUp(host: "a b", port: 80) }
    }
}
