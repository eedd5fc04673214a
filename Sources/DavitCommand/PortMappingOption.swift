internal import Davit
internal import DavitNATMapping
internal import DavitServer

extension ServeOptions {
    /// Returns the settings of the mapped port; nil if no port is mapped.
    func portMapping() throws(CommandFailure) -> Configuration.PortMapping? {
        guard let mappedPort else { return nil }
        do throws(PortGatewayError) {
            return Configuration.PortMapping(
                try NATGateway(), externalPort: mappedPort == 0 ? nil : mappedPort)
        } catch {
            throw .other(error.reason)
        }
    }
}
