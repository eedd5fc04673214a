internal import DavitFileStore
internal import DavitLogging
internal import DavitMetrics
internal import DavitOutbox
internal import DavitServer

/// Delivers the events of a server while it runs.
final class EventDelivery: LifecycleObserver {
    let outbox: Outbox

    init(_ outbox: Outbox) { self.outbox = outbox }

    /// Opens the outbox in the state folder of the first share.
    /// - Throws: ``ServerError/stateNotUsable(path:reason:)``
    func open(in environment: ServerEnvironment) throws(ServerError) {
        var shares: [OpenShare] = []
        environment.forEachLifecycleObserver { if let share = $0 as? OpenShare { shares.append(share) } }
        guard let folder = shares.first?.folder.path else { return }
        let survivesPowerLoss = shares.contains { $0.sync == .full }
        do throws(OutboxError) {
            try outbox.open(folder: folder, survivesPowerLoss: survivesPowerLoss)
        } catch {
            throw .stateNotUsable(path: folder, reason: error.text)
        }
    }

    func serverDidStart() { outbox.start() }
    func serverWillStop() { outbox.stop() }

    static func write(_ report: Outbox.Report, to log: Log) {
        switch report {
        case .unavailable(let receiver, let reason):
            log.warning("events cannot be delivered", ["receiver": receiver, "reason": reason])
        case .availableAgain(let receiver): log.info("events are delivered again", ["receiver": receiver])
        case .givenUp(let receiver, let id, let reason):
            log.error("event was not delivered", ["receiver": receiver, "id": id, "reason": reason])
        case .overflown(let receiver, let count):
            log.error(
                "too many events; the oldest were not delivered",
                ["receiver": receiver, "events": "\(count)"])
        case .broken(let reason): log.error("cannot write the outbox of events", ["reason": reason])
        }
    }

    var metrics: [Metric] {
        let statistics = outbox.statistics
        return [
            Metric(
                "davit_events_waiting", .gauge, "Events that wait to be delivered, for each receiver.",
                value: Double(statistics.waiting)),
            Metric(
                "davit_events_delivered", .counter, "Events that were delivered, for each receiver.",
                value: Double(statistics.delivered)),
            Metric(
                "davit_events_given_up", .counter,
                "Events that were given up, for each receiver: it refused them, or could not be used for too long.",
                value: Double(statistics.givenUp)),
            Metric(
                "davit_event_receivers_unavailable", .gauge, "Receivers of events that cannot be used now.",
                value: Double(statistics.unavailableReceivers)),
        ]
    }

    /// A summary for people.
    var summary: (name: String, text: String) {
        let statistics = outbox.statistics
        return (
            "events",
            "\(statistics.waiting) waiting, \(statistics.delivered) delivered, \(statistics.givenUp) given up"
        )
    }
}

extension Configuration {
    /// Returns what delivers the events; nil without receivers.
    func eventDelivery(reportingTo log: Log) throws(ServerError) -> EventDelivery? {
        guard let events, !events.receivers.isEmpty else { return nil }
        var receivers: [any EventReceiver] = []
        for receiver in events.receivers {
            switch receiver {
            case .command(let path, let arguments):
                try ServerError.check(program: path)
                receivers.append(CommandReceiver(path, arguments: arguments))
            case .webhook(let url): receivers.append(try events.webhook(url))
            }
        }
        // A second queue with the same name would have the same position.
        guard Set(receivers.map(\.name)).count == receivers.count else {
            throw .eventsNotUsable(reason: "a receiver of events is given twice")
        }
        return EventDelivery(
            Outbox(receivers, operations: events.operations) { EventDelivery.write($0, to: log) })
    }
}

extension Configuration.Events {
    fileprivate func webhook(_ url: String) throws(ServerError) -> any EventReceiver {
        #if Webhooks
        do throws(WebhookReceiver.Problem) {
            return try WebhookReceiver(url, secret: secret, authorities: authorities)
        } catch {
            throw .eventsNotUsable(reason: error.text)
        }
        #else
        throw .eventsNotUsable(reason: WebhookReceiver.Problem.notIncluded.text)
        #endif
    }
}

extension WebhookReceiver.Problem {
    /// A description for administrators.
    package var text: String {
        switch self {
        case .badURL(let url): "'\(url)' is not an https URL, or http URL of this machine"
        case .badSecret:
            "the secret for events must have at least 24 bytes, and Base64 after 'whsec_' if it begins so"
        case .notIncluded: "this build does not include webhooks"
        }
    }
}
