package import DavitDiscovery
internal import DavitLogging
internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// Returns what announces the server, or nil if it is not announced.
    /// - Parameters:
    ///   - isShare: whether the root is a share.
    ///   - onName: called when the server is announced under a name.
    func announcer(
        isShare: Bool, log: Log, onName: @escaping @Sendable (String) -> Void
    ) throws(ServerError) -> ServerAnnouncer? {
        guard let announcement else { return nil }
        if let problem = announcement.problem { throw .announcementMalformed(problem) }
        do throws(SystemError) {
            let announcer = try Announcer(
                announcement, services: announcedServices(isShare: isShare), log: log, onName: onName)
            guard announcement.includesWindows, MulticastSocket.isAvailable else {
                return ServerAnnouncer(announcer, nil)
            }
            return ServerAnnouncer(
                announcer,
                try WindowsDiscovery(
                    self, name: announcement.displayName, interfaces: announcement.interfaces, log: log))
        } catch {
            throw .cannotListen(TransportError(.system(error)))
        }
    }

    /// The services of an announcement that does not contain any.
    func announcedServices(isShare: Bool) -> [ServiceAnnouncement.Service] {
        announcedServices(ofShares: isShare ? [""] : []) + [
            .init(type: tls == nil ? "_http._tcp" : "_https._tcp", properties: ["path": prefix + "/"])
        ]
    }

    /// Returns a service for each share.
    /// - Parameter paths: the paths of the shares below the prefix, such as `/team`; empty for the root.
    package func announcedServices(ofShares paths: [String]) -> [ServiceAnnouncement.Service] {
        paths.map { path in
            var properties = ["path": path.hasSuffix("/") ? prefix + path : prefix + path + "/"]
            // The registered key for the name of the user. Clients fill it in.
            if accounts.count == 1, passwordVerifiers.isEmpty, signInProvider == nil,
                let account = accounts.first
            {
                properties["u"] = account.name
            }
            return .init(type: tls == nil ? "_webdav._tcp" : "_webdavs._tcp", properties: properties)
        }
    }
}

extension Configuration {
    /// Announces each of several shares under a name of its own: that of the announcement, followed by the path of the share.
    package mutating func announceShares(at paths: [String]) {
        guard let announcement, announcement.services == nil else { return }
        var services = announcedServices(ofShares: paths) + announcedServices(isShare: false)
        for (index, path) in paths.enumerated() where path != "/" {
            let suffix = " (\(path.dropFirst()))"
            services[index].name = AnnouncedService.shortened(announcement.name, followedBy: suffix)
        }
        self.announcement?.services = services
    }
}

/// Announces a server with all protocols that are configured. All methods can be called on any thread.
final class ServerAnnouncer: Sendable {
    private let announcer: Announcer
    private let windows: WindowsDiscovery?

    init(_ announcer: Announcer, _ windows: WindowsDiscovery?) {
        self.announcer = announcer
        self.windows = windows
    }

    /// Prepares for the start of the server; until then, and after ``stop()``, requests are ignored.
    func prepare() {
        announcer.prepare()
        windows?.prepare()
    }

    /// Announces the server, which listens on these addresses.
    func announce(on addresses: [SocketAddress]) {
        announcer.announce(on: addresses)
        windows?.announce(on: addresses)
    }

    /// Withdraws the announcement. Returns immediately.
    func withdraw() {
        announcer.withdraw()
        windows?.withdraw()
    }

    /// Withdraws the announcement, and returns when this is done.
    func stop() {
        announcer.stop()
        windows?.stop()
    }
}

extension TransportConfiguration {
    /// Withdraws an announcement as soon as the server begins to stop.
    mutating func withdraw(_ announcer: ServerAnnouncer) {
        let next = willStop
        willStop = {
            announcer.withdraw()
            next?()
        }
    }
}

extension LifecycleController {
    /// Announces the server while it listens.
    /// - Parameter inherited: the sockets that the server has not opened itself.
    func announce(with announcer: ServerAnnouncer, inherited: [Int32]) {
        onListening { addresses in
            if addresses.isEmpty {
                announcer.withdraw()
            } else {
                var all = addresses.compactMap { SocketAddress($0) }
                // A service manager may pass one socket for both families.
                for address in all where address.family == .ipv6 && address.isUnspecified {
                    if inherited.contains(where: { Socket.acceptsBothFamilies($0) }) {
                        all.append(.ipv4Any(port: address.port))
                    }
                }
                announcer.announce(on: all)
            }
        }
    }
}
