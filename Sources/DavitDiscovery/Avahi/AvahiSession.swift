/// The conversation with avahi-daemon over one connection to the bus, without sockets or clocks: it takes messages, and
/// returns messages to send and what has happened.
///
/// All services are in one entry group, so that they have the same number if a name is in use.
struct AvahiSession {
    /// Something that the caller has to do.
    enum Action: Hashable {
        /// Send a message, and report its serial with ``AvahiSession/sent(_:as:)``.
        case send(DBusMessage, Call)
        case report(Event)
    }

    /// Something that the caller logs or passes on.
    enum Event: Hashable {
        /// avahi-daemon is not running; the services are registered when it starts.
        case daemonMissing
        /// The services are announced under their names with this number.
        case established(number: Int)
        /// A name with this number is in use; the next number follows.
        case collision(number: Int)
        /// Registration failed; the caller should call ``AvahiSession/retry()`` later.
        case failed(String)
    }

    /// A method call whose reply is awaited.
    enum Call: Hashable {
        case hello
        case subscription
        case daemonState
        case newGroup(attempt: Int)
        case registration(attempt: Int)
        /// A call whose reply does not matter.
        case other
    }

    static let busName = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"
    static let daemon = "org.freedesktop.Avahi"
    static let server = "org.freedesktop.Avahi.Server"
    static let entryGroup = "org.freedesktop.Avahi.EntryGroup"
    static let collisionError = "org.freedesktop.Avahi.CollisionError"
    /// Names that are tried, because each number is a round in the network that takes about a second.
    static let numberLimit = 100
    /// The state of a server that can register services.
    private static let running: Int32 = 2
    private static let established: Int32 = 2

    private(set) var services: [AnnouncedService]
    private(set) var places: [InterfaceSelection.Place]
    private var number = 1
    private var calls: [UInt32: Call] = [:]
    private var isDaemonRunning = false
    /// The object of the current entry group.
    private var group: String?
    /// Identifies the current registration, because replies for an earlier one may still arrive.
    private var attempt = 0

    init(services: [AnnouncedService], places: [InterfaceSelection.Place], number: Int = 1) {
        self.services = services
        self.places = places
        self.number = number
    }

    // MARK: Input

    /// The first actions on a new connection.
    func start() -> [Action] {
        // The signals of the daemon are unicast, except those about its state.
        let rules = [
            "type='signal',sender='\(Self.busName)',interface='\(Self.busName)',member='NameOwnerChanged',arg0='\(Self.daemon)'",
            "type='signal',sender='\(Self.daemon)',interface='\(Self.server)',member='StateChanged'",
        ]
        return [.send(bus("Hello"), .hello)]
            + rules.map { rule in .send(bus("AddMatch") { $0.add(rule) }, .subscription) }
            + [askForState(starts: true)]
    }

    /// Records that a call was sent.
    mutating func sent(_ call: Call, as serial: UInt32) {
        if call != .other { calls[serial] = call }
    }

    /// Handles a message from the bus.
    mutating func handle(_ message: DBusMessage) -> [Action] {
        switch message.kind {
        case .reply, .error:
            guard let serial = message.replySerial, let call = calls.removeValue(forKey: serial) else {
                return []
            }
            return message.kind == .reply ? reply(message, to: call) : error(message, to: call)
        case .signal: return signal(message)
        // Nothing can be called here.
        case .call: return []
        }
    }

    /// Announces on other interfaces. Does nothing if they are the same.
    mutating func use(_ places: [InterfaceSelection.Place]) -> [Action] {
        if places == self.places { return [] }
        self.places = places
        return isDaemonRunning ? freeGroup() + register() : []
    }

    /// Registers again after a failure.
    mutating func retry() -> [Action] {
        // The reply then registers the services, even if the daemon has been running all the time.
        isDaemonRunning = false
        return freeGroup() + [askForState(starts: false)]
    }

    /// Withdraws all services. The connection can be closed after the messages have been sent.
    mutating func stop() -> [Action] { freeGroup() }

    // MARK: Replies

    private mutating func reply(_ message: DBusMessage, to call: Call) -> [Action] {
        var reader = message.reader
        switch call {
        case .daemonState: return stateChanged((try? reader.number()).map { Int32(bitPattern: $0) } ?? 0)
        case .newGroup(let attempt):
            guard let path = try? reader.string() else {
                return [.report(.failed("EntryGroupNew: malformed reply"))]
            }
            // A group for an earlier registration is not needed any more.
            guard attempt == self.attempt, isDaemonRunning else { return [free(path)] }
            group = path
            return addServices(to: path)
        case .hello, .subscription, .registration, .other: return []
        }
    }

    private mutating func error(_ message: DBusMessage, to call: Call) -> [Action] {
        let name = message.errorName ?? ""
        switch call {
        case .daemonState:
            isDaemonRunning = false
            group = nil
            let missing = ["ServiceUnknown", "NameHasNoOwner"].map { "org.freedesktop.DBus.Error.\($0)" }
            return [.report(missing.contains(name) ? .daemonMissing : .failed(name))]
        case .registration(let attempt):
            guard attempt == self.attempt else { return [] }
            return name == Self.collisionError ? collided() : freeGroup() + [.report(.failed(name))]
        case .newGroup(let attempt):
            return attempt == self.attempt ? [.report(.failed(name))] : []
        case .hello, .subscription: return [.report(.failed(name))]
        case .other: return []
        }
    }

    // MARK: Signals

    private mutating func signal(_ message: DBusMessage) -> [Action] {
        var reader = message.reader
        switch (message.interface, message.member) {
        case (Self.busName, "NameOwnerChanged"):
            guard message.sender == Self.busName, (try? reader.string()) == Self.daemon,
                (try? reader.string()) != nil,
                let owner = try? reader.string()
            else { return [] }
            isDaemonRunning = false
            group = nil
            attempt += 1
            return owner.isEmpty ? [.report(.daemonMissing)] : [askForState(starts: false)]
        case (Self.server, "StateChanged"):
            guard let state = try? reader.number() else { return [] }
            return stateChanged(Int32(bitPattern: state))
        case (Self.entryGroup, "StateChanged"):
            guard let group, message.path == group, let state = try? reader.number() else { return [] }
            switch Int32(bitPattern: state) {
            case Self.established: return [.report(.established(number: number))]
            case 3: return collided()
            case 4:
                let reason = (try? reader.string()) ?? ""
                return freeGroup() + [.report(.failed(reason))]
            default: return []
            }
        default: return []
        }
    }

    /// The daemon registers its host name first, and again when the name is in use. Services have to wait for it.
    private mutating func stateChanged(_ state: Int32) -> [Action] {
        let isRunning = state == Self.running
        if isRunning == isDaemonRunning { return [] }
        isDaemonRunning = isRunning
        return isRunning ? register() : freeGroup()
    }

    // MARK: Registration

    private mutating func collided() -> [Action] {
        let taken = number
        guard taken < Self.numberLimit else {
            return freeGroup() + [.report(.failed("too many equal names"))]
        }
        number += 1
        return freeGroup() + [.report(.collision(number: taken))] + register()
    }

    private mutating func register() -> [Action] {
        attempt += 1
        if places.isEmpty { return [] }
        return [.send(call("EntryGroupNew", of: Self.server, at: "/"), .newGroup(attempt: attempt))]
    }

    private func addServices(to path: String) -> [Action] {
        var actions: [Action] = []
        for service in services {
            for place in places {
                let message = call("AddService", of: Self.entryGroup, at: path) { arguments in
                    arguments.add(Int32(bitPattern: place.index))
                    // Avahi's numbers of the protocols; -1 is both.
                    arguments.add(Int32(place.hasIPv4 ? (place.hasIPv6 ? -1 : 0) : 1))
                    arguments.add(UInt32(0))
                    arguments.add(service.name(number: number))
                    arguments.add(service.type)
                    // The default domain and the name of this machine.
                    arguments.add("")
                    arguments.add("")
                    arguments.add(service.port)
                    arguments.add(service.properties.map { Array($0.utf8) })
                }
                actions.append(.send(message, .registration(attempt: attempt)))
            }
        }
        return actions + [
            .send(call("Commit", of: Self.entryGroup, at: path), .registration(attempt: attempt))
        ]
    }

    private mutating func freeGroup() -> [Action] {
        attempt += 1
        guard let path = group.take() else { return [] }
        return [free(path)]
    }

    private func free(_ path: String) -> Action {
        .send(call("Free", of: Self.entryGroup, at: path), .other)
    }

    // MARK: Messages

    private func askForState(starts: Bool) -> Action {
        var message = call("GetState", of: Self.server, at: "/")
        message.doesNotStart = !starts
        return .send(message, .daemonState)
    }

    private func bus(_ member: String, _ arguments: (inout DBusWriter) -> Void = { _ in }) -> DBusMessage {
        DBusMessage(calling: member, of: Self.busName, at: Self.busPath, on: Self.busName, arguments)
    }

    private func call(
        _ member: String, of interface: String, at path: String,
        _ arguments: (inout DBusWriter) -> Void = { _ in }
    ) -> DBusMessage {
        DBusMessage(calling: member, of: interface, at: path, on: Self.daemon, arguments)
    }
}
