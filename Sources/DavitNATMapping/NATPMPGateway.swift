#if NATMapping
internal import CNATPMP
internal import DavitServer
internal import DavitSystem

/// Mappings through NAT-PMP.
enum NATPMPGateway {
    /// How long a request is repeated without a response, in milliseconds. RFC 6886 §3.1 permits 64 seconds, but a
    /// router in the local network answers sooner.
    private static let milliseconds: Int64 = 2_000

    static func map(_ port: UInt16, to external: UInt16, seconds: Int) throws(PortGatewayError) -> PortLease {
        var gateway = try Self.open()
        defer { unsafe _ = closenatpmp(&gateway) }
        let found = try ask(&gateway)
        let address = unsafe davit_natpmp_address(&found.response)
        let mapped = try ask(&gateway, port, external, UInt32(clamping: seconds))
        return PortLease(
            address: text(address), port: unsafe davit_natpmp_port(&mapped.response),
            seconds: Int(unsafe davit_natpmp_seconds(&mapped.response)), method: "NAT-PMP")
    }

    /// A duration of 0 removes the mapping (RFC 6886 §3.4).
    static func unmap(_ port: UInt16) {
        guard var gateway = try? Self.open() else { return }
        defer { unsafe _ = closenatpmp(&gateway) }
        _ = try? ask(&gateway, port, 0, 0)
    }

    private static func open() throws(PortGatewayError) -> natpmp_t {
        var gateway = natpmp_t()
        try check(unsafe initnatpmp(&gateway, 0, 0))
        return gateway
    }

    private final class Answer {
        var response = natpmpresp_t()
    }

    /// Sends a request for the public address, or for the mapping of a port, and waits for the response.
    private static func ask(
        _ gateway: inout natpmp_t, _ port: UInt16 = 0, _ external: UInt16 = 0, _ seconds: UInt32 = 0
    ) throws(PortGatewayError) -> Answer {
        try check(unsafe davit_natpmp_send(&gateway, port, external, seconds))
        let answer = Answer()
        let deadline = Clock.now() + milliseconds * 1_000_000
        while true {
            let left = (deadline - Clock.now()) / 1_000_000
            guard left > 0 else { throw PortGatewayError(reason: "NAT-PMP: no response") }
            let code = unsafe davit_natpmp_receive(&gateway, &answer.response, Int32(left))
            if code == NATPMP_TRYAGAIN { continue }
            try check(code)
            return answer
        }
    }

    private static func check(_ code: Int32) throws(PortGatewayError) {
        let reason: String
        switch code {
        case 0: return
        case NATPMP_ERR_CANNOTGETGATEWAY: reason = "there is no default gateway"
        case NATPMP_ERR_NOGATEWAYSUPPORT: reason = "the gateway does not support it"
        case NATPMP_ERR_NOTAUTHORIZED: reason = "the gateway has refused it"
        case NATPMP_ERR_NETWORKFAILURE: reason = "the gateway has no public address"
        case NATPMP_ERR_OUTOFRESOURCES: reason = "the gateway has too many mappings"
        default: reason = "error \(code)"
        }
        throw PortGatewayError(reason: "NAT-PMP: \(reason)")
    }

    /// Returns the text of an address in network byte order.
    private static func text(_ address: UInt32) -> String {
        let number = UInt32(bigEndian: address)
        return [24, 16, 8, 0].map { String(number >> $0 & 0xFF) }.joined(separator: ".")
    }
}
#endif
