internal import DavitLogging
internal import DavitSystem

/// What is announced, and where.
struct AnnouncementRequest: Sendable {
    var services: [AnnouncedService]
    var addresses: [SocketAddress]
    /// The names of interfaces, as in ``ServiceAnnouncement/interfaces``.
    var interfaces: [String]

    var selection: InterfaceSelection { InterfaceSelection(addresses: addresses, names: interfaces) }
}

/// What the code for each announcing daemon needs from an ``Announcer``.
final class AnnouncingContext: Sendable {
    let thread: RequestThread<AnnouncementRequest>
    let log: Log
    /// The address of the message bus on systems with Avahi; nil for the default.
    let busAddress: String?
    /// Returns the interfaces of this machine.
    let interfaces: @Sendable () -> [NetworkInterface]
    private let onName: @Sendable (String) -> Void

    init(
        log: Log, busAddress: String?, interfaces: @escaping @Sendable () -> [NetworkInterface],
        onName: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        thread = try RequestThread(named: "davit-announcer")
        self.log = log
        self.busAddress = busAddress
        self.interfaces = interfaces
        self.onName = onName
    }

    /// Reports that services are announced.
    /// - Parameter name: the name of the first service, with its number.
    func announced(as name: String, on places: [InterfaceSelection.Place]) {
        log.info(
            "server announced in the local network",
            ["name": name, "interfaces": places.map(\.name).joined(separator: ",")])
        onName(name)
    }
}
