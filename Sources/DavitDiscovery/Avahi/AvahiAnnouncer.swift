internal import DavitLogging
internal import DavitSystem

/// Announces services with avahi-daemon. Used by one thread, which it blocks.
final class AvahiAnnouncer {
    private enum Token {
        static let bus: UInt64 = 1
        static let interfaces: UInt64 = 2
    }

    /// The time until a failed connection or registration is tried again.
    private static let retryNanoseconds: Int64 = 10_000_000_000

    private let context: AnnouncingContext
    private var queue: SystemEventQueue { context.thread.queue }
    private var log: Log { context.log }
    private var request: AnnouncementRequest?
    private var requestNumber = 0
    private var connection: DBusConnection?
    private var session: AvahiSession?
    /// Nil if changes of interfaces cannot be observed.
    private let monitor: InterfaceMonitor?
    /// The time of the next attempt, if one is needed.
    private var retryTime: Int64?
    /// What was logged last, so that repeated attempts do not fill the log.
    private var lastProblem: String?

    init(_ context: AnnouncingContext) {
        self.context = context
        monitor = try? InterfaceMonitor()
    }

    /// Carries out requests until the thread has to end. Blocks.
    func run() {
        if let descriptor = monitor?.descriptor {
            try? queue.watchAccepting(descriptor, token: Token.interfaces)
        }
        defer { if let descriptor = monitor?.descriptor { queue.unwatch(descriptor) } }
        while true {
            switch context.thread.step {
            case .carryOut(let wanted, let number): if number != requestNumber { begin(wanted, number) }
            case .withdraw: withdraw()
            case .end: return withdraw()
            }
            let count = queue.wait(milliseconds: waitingMilliseconds)
            for index in 0..<count { handle(queue.event(at: index).token) }
            if let retryTime, Clock.now() >= retryTime { retry() }
        }
    }

    private var waitingMilliseconds: Int32 {
        guard let retryTime else { return -1 }
        // Rounded up, so that the time has come after the wait.
        return Int32(clamping: max(0, retryTime - Clock.now()) / 1_000_000 + 1)
    }

    private func handle(_ token: UInt64) {
        switch token {
        case Token.bus: receive()
        case Token.interfaces:
            monitor?.drain()
            useInterfaces()
        default: break
        }
    }

    // MARK: Requests

    private func begin(_ wanted: AnnouncementRequest, _ number: Int) {
        withdraw()
        requestNumber = number
        request = wanted
        lastProblem = nil
        connect()
    }

    private func withdraw() {
        if var session { perform(session.stop()) }
        close()
        request = nil
        retryTime = nil
    }

    private func places(for request: AnnouncementRequest) -> [InterfaceSelection.Place] {
        let places = request.selection.places(among: context.interfaces())
        if places.isEmpty { warn("server not announced: no network interface for it is up") }
        return places
    }

    private func useInterfaces() {
        guard let request, session != nil else { return }
        perform(session?.use(places(for: request)) ?? [])
    }

    // MARK: The bus

    private func connect() {
        guard let request else { return }
        retryTime = nil
        do throws(DBusConnection.Failure) {
            let connection = try DBusConnection(path: DBusConnection.path(inAddress: context.busAddress))
            try? queue.watchAccepting(connection.descriptor, token: Token.bus)
            self.connection = connection
            let session = AvahiSession(services: request.services, places: places(for: request))
            self.session = session
            perform(session.start())
        } catch {
            lose(error)
        }
    }

    private func close() {
        if let connection { queue.unwatch(connection.descriptor) }
        connection = nil
        session = nil
    }

    private func lose(_ failure: DBusConnection.Failure) {
        close()
        warn("server not announced: no connection to the system's message bus; retrying", "\(failure)")
        retryTime = Clock.now() + Self.retryNanoseconds
    }

    private func receive() {
        guard let connection else { return }
        do throws(DBusConnection.Failure) {
            for message in try connection.receive() { perform(session?.handle(message) ?? []) }
        } catch {
            lose(error)
        }
    }

    private func retry() {
        retryTime = nil
        if connection == nil { connect() } else { perform(session?.retry() ?? []) }
    }

    // MARK: Actions

    private func perform(_ actions: [AvahiSession.Action]) {
        for action in actions {
            switch action {
            case .send(let message, let call):
                guard let connection else { return }
                do throws(DBusConnection.Failure) {
                    session?.sent(call, as: try connection.send(message))
                } catch {
                    return lose(error)
                }
            case .report(let event): report(event)
            }
        }
    }

    private func report(_ event: AvahiSession.Event) {
        guard let session, let first = session.services.first else { return }
        switch event {
        case .established(let number):
            lastProblem = nil
            context.announced(as: first.name(number: number), on: session.places)
        case .collision(let number):
            log.warning(
                "another server in the local network has the announced name; trying the next number",
                ["name": first.name(number: number)])
        case .daemonMissing:
            warn("server not announced: avahi-daemon is not running; it will be announced when it starts")
        case .failed(let reason):
            warn("server not announced: avahi-daemon has refused it; retrying", reason)
            retryTime = Clock.now() + Self.retryNanoseconds
        }
    }

    private func warn(_ message: StaticString, _ reason: String? = nil) {
        let problem = message.description + (reason ?? "")
        if problem == lastProblem { return }
        lastProblem = problem
        if let reason { log.warning(message, ["reason": reason]) } else { log.warning(message) }
    }
}
