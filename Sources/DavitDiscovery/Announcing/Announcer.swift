package import DavitLogging
package import DavitSystem

/// Announces the services of a server while it listens.
///
/// Owns a thread while the server runs, because the daemons that announce services can start, stop and change names at any
/// time. All methods can be called on any thread.
package final class Announcer: Sendable {
    private let announcement: ServiceAnnouncement
    private let services: [ServiceAnnouncement.Service]
    private let context: AnnouncingContext

    /// - Parameters:
    ///   - services: the services of an announcement that does not contain any.
    ///   - busAddress: the address of the message bus on systems with Avahi; nil for the default.
    ///   - interfaces: returns the interfaces of this machine.
    ///   - onName: called on the thread of the announcer when the server is announced under a name.
    /// - Throws: the system error if no descriptor is left.
    package init(
        _ announcement: ServiceAnnouncement, services: [ServiceAnnouncement.Service], log: Log,
        busAddress: String? = Environment.variable("DBUS_SYSTEM_BUS_ADDRESS"),
        interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() },
        onName: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        self.announcement = announcement
        self.services = announcement.services ?? services
        context = try AnnouncingContext(
            log: log, busAddress: busAddress, interfaces: interfaces, onName: onName)
    }

    /// Prepares for the start of the server; until then, and after ``stop()``, requests are ignored.
    package func prepare() { context.thread.prepare() }

    /// Announces the services, or announces them again on other addresses. Returns immediately.
    /// - Parameter addresses: the TCP addresses that the server listens on, all with the same port.
    package func announce(on addresses: [SocketAddress]) {
        guard let port = addresses.first(where: { !$0.isLoopback })?.port else {
            context.log.warning(
                "server not announced: it listens only on addresses that other machines cannot reach")
            return
        }
        let name = announcement.displayName
        let request = AnnouncementRequest(
            services: services.map { AnnouncedService($0, name: name, port: port) }, addresses: addresses,
            interfaces: announcement.interfaces)
        do throws(SystemError) {
            try context.thread.request(request) { [context] in SystemAnnouncer(context).run() }
        } catch {
            context.log.warning(
                "server not announced: cannot start a thread", ["error": error.description])
        }
    }

    /// Withdraws the services. Returns immediately.
    package func withdraw() { context.thread.withdraw() }

    /// Withdraws the services, and returns when this is done, which takes a few seconds if the daemon does not respond.
    package func stop() { context.thread.stop() }
}

#if canImport(dnssd)
private typealias SystemAnnouncer = DNSServiceAnnouncer
#else
private typealias SystemAnnouncer = AvahiAnnouncer
#endif
