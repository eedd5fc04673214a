import DavitHTTP
import DavitSystem
import DavitTransport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct BindingTests {
    static func server(_ endpoints: [TransportConfiguration.Endpoint]) throws -> TestServer {
        try TestServer { $0.endpoints = endpoints }
    }

    @Test func localhostBindsBothFamiliesToOnePort() throws {
        let server = try Self.server([.init(host: "localhost", port: 0)])
        #expect(server.addresses.map(\.host) == ["127.0.0.1", "::1"])
        #expect(Set(server.addresses.map(\.port)).count == 1)
        #expect(server.addresses[1].authority == "[::1]:\(server.addresses[1].port)")
        for address in server.addresses {
            let peer = try Peer(address)
            try peer.send(RequestTests.get)
            #expect(try peer.response().text == "GET /a ")
        }
    }

    @Test func endpointsWithoutAPortShareOnePort() throws {
        let server = try Self.server([.init(host: "127.0.0.1", port: 0), .init(host: "127.0.0.2", port: 0)])
        #expect(server.addresses.map(\.host) == ["127.0.0.1", "127.0.0.2"])
        #expect(Set(server.addresses.map(\.port)).count == 1)
    }

    @Test func duplicateEndpointIsBoundOnce() throws {
        let server = try Self.server([.init(host: "127.0.0.1", port: 0), .init(host: "127.0.0.1", port: 0)])
        #expect(server.addresses.count == 1)
    }

    @Test func portInUseIsReported() throws {
        let first = try Self.server([.init(host: "127.0.0.1", port: 0)])
        let port = first.addresses[0].port
        #expect(throws: TransportError(.inUse, host: "127.0.0.1", port: port)) {
            try Self.server([.init(host: "127.0.0.1", port: port)])
        }
    }

    @Test func unavailableAddressIsReported() {
        // Reserved for documentation (RFC 5737), so no interface has it.
        #expect(throws: TransportError(.notAvailable, host: "192.0.2.1", port: 0)) {
            try Self.server([.init(host: "192.0.2.1", port: 0)])
        }
    }

    @Test func emptyEndpointListIsAnError() {
        #expect(throws: TransportError(.noEndpoint)) { try Self.server([]) }
    }

    @Test func serverStartsOnlyOnce() throws {
        let server = try Self.server([.init(host: "127.0.0.1", port: 0)])
        #expect(throws: TransportError(.alreadyStarted)) { try server.server.start() }
    }
}
