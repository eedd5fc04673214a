internal import Davit
package import DavitLogging

/// The options of the audit log.
package struct AuditOptions: Hashable, Sendable {
    /// The smallest size at which a new file is begun.
    package static let leastBytes: Int64 = 64 << 10

    /// A path, `syslog` or `journald`; nil for no audit log.
    package var path: String?
    /// Nil for the default of ``Configuration/Audit``.
    package var failure: AuditLog.FailurePolicy?
    /// The size at which a new file is begun; nil to let the file grow.
    package var bytes: Int64?
    /// The number of former files to keep; nil for the default of ``AuditLog/Rotation``.
    package var count: Int?

    package init() {}

    /// The file of the log; nil if there is none.
    package var file: String? { if case .file(let path)? = destination { path } else { nil } }

    private var destination: AuditLog.Destination? {
        switch path {
        case nil: nil
        case "syslog": .syslog
        case "journald": .journal
        case let path?: .file(path)
        }
    }

    /// - Throws: an error if an option has no effect without another one, or if the size is too small.
    func check() throws(UsageError) {
        func require(_ other: ServeOption, for option: ServeOption, _ isValid: Bool) throws(UsageError) {
            if !isValid { throw .useless(option: option.rawValue, without: other.rawValue) }
        }
        try require(.auditLog, for: .auditFailure, failure == nil || path != nil)
        // Syslog and the journal rotate their files themselves.
        if bytes != nil, path != nil, file == nil {
            throw .useless(option: ServeOption.auditLogSize.rawValue, without: "a file as --audit-log")
        }
        try require(.auditLog, for: .auditLogSize, bytes == nil || file != nil)
        try require(.auditLogSize, for: .auditLogKeep, count == nil || bytes != nil)
        if let bytes, bytes < Self.leastBytes { throw .auditLogTooSmall(bytes) }
    }

    var configuration: Configuration.Audit? {
        destination.map { destination in
            Configuration.Audit(
                destination, failurePolicy: failure ?? .refuse,
                rotation: bytes.map { bytes in
                    count.map { .init(bytes: bytes, count: $0) } ?? .init(bytes: bytes)
                })
        }
    }
}
