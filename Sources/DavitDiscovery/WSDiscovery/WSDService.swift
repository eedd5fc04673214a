internal import DavitHTTP
package import DavitLogging
package import DavitSystem

/// Makes a server known to Windows with WS-Discovery, while it listens. Owns a thread while the server runs. All methods can be
/// called on any thread.
package final class WSDService: Sendable {
    struct Request: Sendable {
        var addresses: [SocketAddress]
        var interfaces: [String]
        var metadataPort: UInt16
    }

    let device: WSDDevice
    let log: Log
    let thread: RequestThread<Request>
    private let interfaces: [String]

    /// - Parameter interfaces: as in ``Announcement/interfaces``.
    /// - Throws: the system error if no descriptor is left.
    package init(_ device: WSDDevice, interfaces: [String], log: Log) throws(SystemError) {
        self.device = device
        self.interfaces = interfaces
        self.log = log
        thread = try RequestThread(named: "davit-wsd")
    }

    /// Prepares for the start of the server; until then, and after ``stop()``, requests are ignored.
    package func prepare() { thread.prepare() }

    /// Announces the device, and answers questions about it. Returns immediately.
    /// - Parameters:
    ///   - addresses: the addresses on which the metadata can be fetched.
    ///   - metadataPort: the port for that.
    package func announce(on addresses: [SocketAddress], metadataPort: UInt16) {
        let request = Request(addresses: addresses, interfaces: interfaces, metadataPort: metadataPort)
        do throws(SystemError) {
            try thread.request(request) { [self] in WSDWorker(self).run() }
        } catch {
            log.warning(
                "server not announced to Windows: cannot start a thread", ["error": error.description])
        }
    }

    /// Announces that the device leaves. Returns immediately.
    package func withdraw() { thread.withdraw() }

    /// Announces that the device leaves, and returns when this is done.
    package func stop() { thread.stop() }
}

/// Carries out the requests of a ``WSDService``. Used by one thread, which it blocks.
private final class WSDWorker {
    /// The sockets of one interface and family.
    private struct Place {
        var interface: String
        var index: UInt32
        var own: SocketAddress
        var socket: MulticastSocket
        /// Where the metadata can be fetched.
        var url: String

        /// Whether a place of the system is the same.
        func isSame(as other: (interface: String, index: UInt32, own: SocketAddress)) -> Bool {
            (interface, index, own) == other
        }
    }

    /// 239.255.255.250 and ff02::c (WS-Discovery §2.4).
    private static let groups: [SocketAddress.Family: SocketAddress] = [
        .ipv4: SocketAddress(family: .ipv4, high: 0, low: 0xEFFF_FFFA, scope: 0, port: WSDNames.port),
        .ipv6: SocketAddress(family: .ipv6, high: 0xFF02 << 48, low: 0xC, scope: 0, port: WSDNames.port),
    ]
    /// The token of the monitor of interfaces; those of places begin with 0.
    private static let interfaces = UInt64(1) << 32
    /// The delay until Hello is repeated (SOAP-over-UDP, Appendix I).
    private static let repetitionNanoseconds: Int64 = 250_000_000
    /// The maximum number of datagrams that are read before other events are handled.
    private static let batch = 32

    private let service: WSDService
    private let monitor: InterfaceMonitor?
    private var responder: WSDResponder
    private var request: (content: WSDService.Request, number: Int)?
    private var places: [UInt64: Place] = [:]
    private var nextToken: UInt64 = 0
    /// The places to which Hello is sent again, and when.
    private var repetition: (time: Int64, tokens: [UInt64])?
    private var lastNames: [String]?

    private var queue: SystemEventQueue { service.thread.queue }

    init(_ service: WSDService) {
        self.service = service
        responder = WSDResponder(service.device)
        monitor = try? InterfaceMonitor()
    }

    func run() {
        if let monitor { try? queue.watchAccepting(monitor.descriptor, token: Self.interfaces) }
        defer { if let monitor { queue.unwatch(monitor.descriptor) } }
        while true {
            switch service.thread.step {
            case .carryOut(let wanted, let number):
                if request?.number != number {
                    withdraw()
                    request = (wanted, number)
                    useInterfaces()
                }
            case .withdraw: withdraw()
            case .end: return withdraw()
            }
            var milliseconds: Int32 = -1
            if let repetition {
                milliseconds = Int32(clamping: max(0, repetition.time - Clock.now()) / 1_000_000 + 1)
            }
            let count = queue.wait(milliseconds: milliseconds)
            for index in 0..<count { handle(queue.event(at: index).token) }
            if let repetition, Clock.now() >= repetition.time {
                self.repetition = nil
                for token in repetition.tokens { sayHello(token) }
            }
        }
    }

    private func handle(_ token: UInt64) {
        if token == Self.interfaces {
            monitor?.drain()
            useInterfaces()
        } else if let place = places[token / 2] {
            let descriptor = token % 2 == 0 ? place.socket.groupDescriptor : place.socket.ownDescriptor
            for _ in 0..<Self.batch {
                // One byte more, so that a longer datagram is recognized.
                guard
                    let (bytes, source) = place.socket.receive(
                        on: descriptor, limit: WSDRequest.limitBytes + 1)
                else { break }
                let answer = responder.answer(bytes, from: source, urls: [place.url], now: Clock.now())
                if let answer { place.socket.send(answer, to: source) }
            }
        }
    }

    private func useInterfaces() {
        guard let request = request?.content else { return }
        let wanted = wantedPlaces(request)
        for (token, place) in places where !wanted.contains(where: { place.isSame(as: $0) }) { close(token) }
        var added: [UInt64] = []
        for place in wanted where !places.values.contains(where: { $0.isSame(as: place) }) {
            if let token = open(place, metadataPort: request.metadataPort) { added.append(token) }
        }
        if !added.isEmpty {
            for token in added { sayHello(token) }
            repetition = (Clock.now() + Self.repetitionNanoseconds, added)
        }
        let names = Set(places.values.map(\.interface)).sorted()
        guard names != lastNames else { return }
        lastNames = names
        if names.isEmpty {
            service.log.warning("server not announced to Windows: no network interface for it is up")
        } else {
            service.log.info(
                "server announced to Windows",
                ["name": service.device.name, "interfaces": names.joined(separator: ",")])
        }
    }

    private func wantedPlaces(
        _ request: WSDService.Request
    ) -> [(interface: String, index: UInt32, own: SocketAddress)] {
        let all = NetworkInterface.all()
        let selection = InterfaceSelection(addresses: request.addresses, names: request.interfaces)
        var wanted: [(interface: String, index: UInt32, own: SocketAddress)] = []
        for place in selection.places(among: all) {
            guard let interface = all.first(where: { $0.index == place.index }) else { continue }
            for (family, isUsed) in [(SocketAddress.Family.ipv4, place.hasIPv4), (.ipv6, place.hasIPv6)]
            where isUsed {
                // Questions over IPv6 come from link-local addresses.
                let own = interface.addresses.first {
                    $0.family == family && $0.isInLocalNetwork && (family == .ipv4 || $0.isLinkLocal)
                }
                if let own { wanted.append((interface.name, interface.index, own)) }
            }
        }
        return wanted
    }

    private func open(
        _ place: (interface: String, index: UInt32, own: SocketAddress), metadataPort: UInt16
    ) -> UInt64? {
        guard var group = Self.groups[place.own.family] else { return nil }
        if group.family == .ipv6 {
            // A socket can only be bound to a link-local group with the interface.
            group = SocketAddress(
                family: .ipv6, high: group.high, low: group.low, scope: place.index, port: group.port)
        }
        do throws(SystemError) {
            let socket = try MulticastSocket(group: group, onInterface: place.index, from: place.own)
            let token = nextToken
            nextToken += 1
            try queue.watchAccepting(socket.groupDescriptor, token: token * 2)
            try queue.watchAccepting(socket.ownDescriptor, token: token * 2 + 1)
            let own = place.own
            let isIPv6 = own.family == .ipv6
            let text = NetworkAddress(family: isIPv6 ? .ipv6 : .ipv4, high: own.high, low: own.low, port: 0)
                .host
            let host = isIPv6 ? "[\(text)]" : text
            places[token] = Place(
                interface: place.interface, index: place.index, own: place.own, socket: socket,
                url: "http://\(host):\(metadataPort)\(service.device.path)")
            return token
        } catch {
            // An IPv6 address cannot be used until the system has verified that it is unique; then it reports a change.
            service.log.verbose(
                "interface not used for WS-Discovery",
                ["interface": place.interface, "error": error.description])
            return nil
        }
    }

    private func sayHello(_ token: UInt64) {
        guard let place = places[token] else { return }
        place.socket.sendToGroup(responder.hello(urls: [place.url]))
    }

    private func close(_ token: UInt64) {
        guard let place = places.removeValue(forKey: token) else { return }
        queue.unwatch(place.socket.groupDescriptor)
        queue.unwatch(place.socket.ownDescriptor)
    }

    private func withdraw() {
        for (token, place) in places {
            let bye = responder.bye()
            // Datagrams are lost easily, and there is no other opportunity.
            for _ in 0..<2 { place.socket.sendToGroup(bye) }
            close(token)
        }
        request = nil
        repetition = nil
        lastNames = nil
    }
}
