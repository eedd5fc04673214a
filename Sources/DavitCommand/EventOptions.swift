package import Davit
package import DavitAccess
internal import DavitOutbox

/// The options of events.
package struct EventOptions: Hashable, Sendable {
    package var receivers: [Configuration.Events.Receiver] = []
    /// Nil for the default of ``Configuration/Events``.
    package var operations: Set<AuditEvent.Operation>?
    /// The file with the secret of services; nil for none.
    package var secretFile: String?
    /// The file with the authorities of services; nil for those of the system.
    package var authorities: String?

    package init() {}

    /// Whether events are sent to services.
    var hasServices: Bool { receivers.contains { if case .webhook = $0 { true } else { false } } }
    /// The paths of the programs that receive events.
    var programs: [String] {
        receivers.compactMap { if case .command(let path, _) = $0 { path } else { nil } }
    }
    /// Whether events are passed to programs.
    var hasPrograms: Bool { receivers.contains { if case .command = $0 { true } else { false } } }

    /// - Throws: an error if an option has no effect without another one.
    func check() throws(UsageError) {
        if operations != nil, receivers.isEmpty {
            throw .useless(
                option: ServeOption.eventTypes.rawValue,
                without: "\(ServeOption.eventCommand.rawValue) or \(ServeOption.eventURL.rawValue)")
        }
        guard !hasServices else { return }
        let option: ServeOption? =
            secretFile != nil ? .eventSecretFile : authorities != nil ? .eventCA : nil
        if let option { throw .useless(option: option.rawValue, without: ServeOption.eventURL.rawValue) }
    }

    /// Returns the settings of events; nil without receivers. Reads the file with the secret.
    func settings() throws(CommandFailure) -> Configuration.Events? {
        if receivers.isEmpty { return nil }
        var events = Configuration.Events(receivers)
        if let operations { events.operations = operations }
        if let secretFile { events.secret = try LDAPOptions.secret(in: secretFile) }
        events.authorities = authorities
        return events
    }

    /// The names of the operations that can be chosen, in alphabetical order.
    static let operationNames = Configuration.Events.possibleOperations.map(\.rawValue).sorted()
}

extension Arguments {
    /// Adds the value of an option of events.
    static func eventOption(
        _ option: ServeOption, _ value: String, _ options: inout EventOptions
    ) throws(UsageError) {
        switch option {
        case .eventCommand:
            let words = try command(value, option: option)
            options.receivers.append(.command(words[0], arguments: Array(words.dropFirst())))
        case .eventURL:
            do throws(WebhookReceiver.Problem) { _ = try WebhookReceiver(value, secret: nil) } catch {
                if error == .notIncluded { throw .traitNeeded(option: option.rawValue, trait: "Webhooks") }
                throw .badEventURL(value)
            }
            options.receivers.append(.webhook(url: value))
        case .eventTypes:
            var operations: Set<AuditEvent.Operation> = []
            for word in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let operation = AuditEvent.Operation(rawValue: String(word)),
                    Configuration.Events.possibleOperations.contains(operation),
                    operations.insert(operation).inserted
                else { throw .badEventTypes(value) }
            }
            options.operations = operations
        case .eventSecretFile: options.secretFile = value
        case .eventCA: options.authorities = value
        default: break
        }
    }
}
