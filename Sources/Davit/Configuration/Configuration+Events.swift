public import DavitAccess

extension Configuration {
    /// Where events about changes are delivered.
    ///
    /// An event is stored in the state folder of the first share before its change is committed, and is delivered to
    /// each receiver at least once, in the order of the changes, also after a crash of the server. See
    /// `docs/events.md`.
    public struct Events: Hashable, Sendable {
        /// A program or a service.
        public enum Receiver: Hashable, Sendable {
            /// A program that is run for each event: its absolute path, and its arguments.
            case command(String, arguments: [String] = [])
            /// The https URL of a service that receives each event as a POST request; http is allowed for a service on
            /// this machine. Requires the package trait `Webhooks`.
            case webhook(url: String)
        }

        /// The operations whose events are delivered unless others are chosen: those that change content or names.
        public static let standardOperations: Set<AuditEvent.Operation> = [
            .upload, .createCollection, .copy, .move, .delete, .restore, .purge,
        ]
        /// The operations that can be chosen.
        public static let possibleOperations: Set<AuditEvent.Operation> = standardOperations.union([
            .setProperties, .lock, .unlock, .breakLock,
        ])

        /// The receivers; each has its own queue.
        public var receivers: [Receiver]
        /// The operations whose events are delivered, of ``possibleOperations``.
        public var operations = standardOperations
        /// The secret with which requests to services are signed: `whsec_` and Base64, or any text, of at least 24
        /// bytes; nil for requests without a signature.
        public var secret: String?
        /// A file with the authorities that may have issued the certificates of the services, in PEM; nil for those of
        /// the system.
        public var authorities: String?

        /// Creates settings with the defaults of the other properties.
        public init(_ receivers: [Receiver]) { self.receivers = receivers }
    }
}
