internal import DavitHTTP

/// A program or a service that receives events.
package protocol EventReceiver: Sendable {
    /// Identifies the receiver, also after a restart; for the log, too.
    var name: String { get }

    /// Delivers an event. Blocks.
    /// - Parameter isCancelled: called at least about once a second; the delivery ends if the result is true.
    func deliver(_ event: DeliveredEvent, isCancelled: @escaping @Sendable () -> Bool) -> DeliveryResult
}

/// An event as a receiver gets it.
package struct DeliveredEvent: Sendable {
    /// The ID, which is the same for each attempt.
    package let id: String
    /// The JSON object of the audit log, with `id` and `sequence` before the other members.
    package let json: [UInt8]

    package init(id: String, sequence: Int64, record: [UInt8]) {
        self.id = id
        var json: [UInt8] = []
        json.reserveCapacity(record.count + 80)
        json.append(#"{"id":""#)
        json.append(contentsOf: id.utf8)
        json.append(#"","sequence":"#)
        json.appendDecimal(sequence)
        json.append(",")
        json.append(contentsOf: record.dropFirst())
        self.json = json
    }
}

/// The result of an attempt to deliver an event.
package enum DeliveryResult: Hashable, Sendable {
    case delivered
    /// The receiver has refused this event; others may succeed.
    case refused(reason: String)
    /// The receiver cannot be used now.
    case unavailable(reason: String)
    /// The caller has ended the attempt.
    case cancelled
}

/// When deliveries are attempted again, and when an event is given up.
package enum DeliverySchedule {
    /// The number of attempts after which an event that its receiver refuses is given up.
    static let refusalLimit = 5
    /// How long an event is kept whose receiver cannot be used, in nanoseconds: three days.
    static let lifetime: Int64 = 3 * 86_400 * 1_000_000_000

    /// Returns the pause after a failed attempt, in milliseconds: 1, 2, 4 … 300 seconds.
    /// - Parameter attempts: the number of failed attempts, at least 1.
    package static func pause(after attempts: Int) -> Int64 {
        1000 * min(1 << Int64(min(attempts - 1, 9)), 300)
    }
}
