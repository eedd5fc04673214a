public import DavitServer
internal import Synchronization

/// The router of this machine's network, through NAT-PMP (RFC 6886), which routers with PCP (RFC 6887) support too, or
/// else through UPnP.
public final class NATGateway: PortGateway {
    #if NATMapping
    /// The gateway that has mapped the port through UPnP; nil if none was found, or NAT-PMP is used.
    private let upnp = Mutex<UPnPGateway?>(nil)
    #endif

    /// - Throws: ``PortGatewayError`` if this build does not include NAT mapping (package trait `NATMapping`).
    public init() throws(PortGatewayError) {
        #if !NATMapping
        throw PortGatewayError(reason: "this build does not include NAT mapping")
        #endif
    }

    public func map(
        _ port: UInt16, to external: UInt16, seconds: Int
    ) throws(PortGatewayError) -> PortLease {
        #if NATMapping
        return try upnp.withLock { known throws(PortGatewayError) in
            // A renewal; if it fails, the router may have another address or port now.
            if let gateway = known, let lease = try? gateway.map(port, to: external, seconds: seconds) {
                return lease
            }
            known = nil
            let reason: String
            do throws(PortGatewayError) {
                return try NATPMPGateway.map(port, to: external, seconds: seconds)
            } catch {
                reason = error.reason
            }
            do throws(PortGatewayError) {
                let gateway = try UPnPGateway()
                let lease = try gateway.map(port, to: external, seconds: seconds)
                known = gateway
                return lease
            } catch {
                throw PortGatewayError(reason: "\(reason); \(error.reason)")
            }
        }
        #else
        throw PortGatewayError(reason: "this build does not include NAT mapping")
        #endif
    }

    public func unmap(_ port: UInt16, _ lease: PortLease) {
        #if NATMapping
        upnp.withLock { gateway in
            if let gateway { gateway.unmap(lease.port) } else { NATPMPGateway.unmap(port) }
        }
        #endif
    }
}

/// Whether this build includes NAT mapping (package trait `NATMapping`).
package enum NATMappingLibrary {
    package static var isAvailable: Bool {
        #if NATMapping
        true
        #else
        false
        #endif
    }
}
