#if NATMapping
internal import CMiniUPnPC
internal import DavitServer

/// Mappings through UPnP, with the service WANIPConnection of an Internet gateway device.
@safe final class UPnPGateway {
    private static let searchMilliseconds: Int32 = 2_000
    /// Another mapping has the port, or the router does not map it.
    private static let conflicts: Set<Int32> = [501, 718, 729]
    /// The router only has mappings without an end.
    private static let onlyPermanentLeases: Int32 = 725

    private let gateway: UnsafeMutablePointer<davit_upnp>

    /// Searches for a gateway for two seconds.
    init() throws(PortGatewayError) {
        guard let found = unsafe davit_upnp_find(Self.searchMilliseconds) else {
            throw PortGatewayError(reason: "UPnP: no gateway was found")
        }
        unsafe gateway = found
    }

    deinit { unsafe davit_upnp_free(gateway) }

    /// Removes the mapping of a public port.
    func unmap(_ external: UInt16) { unsafe _ = davit_upnp_remove(gateway, UInt32(external)) }

    func map(
        _ port: UInt16, to wanted: UInt16, seconds: Int
    ) throws(PortGatewayError) -> PortLease {
        let address = try publicAddress()
        // If the wanted port is in use, any other one.
        var external = wanted
        var lease = seconds
        var code: Int32 = 0
        for _ in 0..<4 {
            code = unsafe davit_upnp_add(gateway, UInt32(port), UInt32(external), UInt32(clamping: lease))
            switch code {
            case 0: return PortLease(address: address, port: external, seconds: lease, method: "UPnP")
            case Self.onlyPermanentLeases: lease = 0
            case _ where Self.conflicts.contains(code): external = .random(in: 49_152...65_535)
            default: throw Self.error(code)
            }
        }
        throw Self.error(code)
    }

    private func publicAddress() throws(PortGatewayError) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let code = unsafe davit_upnp_address(gateway, &text)
        guard code == 0 else { throw Self.error(code) }
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard !address.isEmpty else {
            throw PortGatewayError(reason: "UPnP: the gateway has no public address")
        }
        return address
    }

    private static func error(_ code: Int32) -> PortGatewayError {
        PortGatewayError(reason: "UPnP: \(unsafe String(cString: davit_upnp_error(code))) (\(code))")
    }
}
#endif
