package import Davit

/// An invalid command line. The command exits with status 64.
package enum UsageError: Error, Hashable, Sendable {
    case unknownCommand(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    case missingValue(option: String)
    /// An environment variable whose value cannot be used.
    case badVariable(String, problem: String)
    case unwantedValue(option: String)
    case missingFolder
    /// `davit log` without a path.
    case missingLogPath
    /// `davit trash restore` without an entry.
    case missingTrash
    case missingRecording
    /// `davit stub` without FILE.
    case missingStubFile
    /// A form of `davit stub` without this argument.
    case missingStubArgument(String)
    /// A command with actions, such as `davit locks`, without one.
    case missingAction
    case missingLock
    /// `davit account`, `group` or `access` without this argument.
    case missingArgument(String)
    case badSubject(String)
    case badPath(String)
    case badRights(String)
    case badSession(String)
    case missingServer
    case badServer(String)
    /// A word that is neither an option nor an argument that the command has.
    case unexpectedArgument(String)
    case badNumber(String, option: String, range: ClosedRange<Int>)
    case badSize(String, option: String)
    /// 0 as a limit for which it makes no sense.
    case limitOfZero(option: String)
    case badAge(String, option: String)
    /// An option of `davit setup` whose value cannot be used.
    case badSetupAnswer(option: String, problem: String)
    case badHome(String)
    case badMount(String)
    case badUser
    case badScheme(String)
    case badOrigin(String)
    /// `*` as an origin.
    case anyOrigin
    case missingName
    case badPublicURL(String)
    case badPrefix(String)
    /// The path of a public URL does not end in the prefix.
    case publicURLOutsidePrefix(String)
    case badLogLevel(String)
    case badSyncLevel(String)
    case badExtensions(String)
    case badMacMetadataPolicy(String)
    case badTrustedProxy(String)
    case badNetwork(String, option: String)
    case badAdminListener(String)
    case badAnnouncement(ServiceAnnouncement.Problem)
    case badProxyFields(String)
    case badIdentityField(String, option: String)
    case badSocketMode(String)
    case badAccessLogFormat(String)
    case badAuditFailure(String)
    case auditLogTooSmall(Int64)
    /// `-` as the audit log.
    case auditLogToStandardError
    case badCommand(String, option: String)
    case quotedCommand(String, option: String)
    case badUploadFailure(String)
    case badEventURL(String)
    case badEventTypes(String)
    case rateTooLow(String, option: String)
    /// An option was given without the option or action to which it applies.
    case useless(option: String, without: String)
    /// The build does not include TLS.
    case noTLS(option: String)
    case certificatesAndKeys(certificates: Int, keys: Int)
    /// The build does not include support for QR codes.
    case noQRCodes(option: String)
    /// The build does not include what an option needs.
    case traitNeeded(option: String, trait: String)
    case incomplete(option: String, needs: String)
    case badRunAs(String)
    /// An option that needs calls which only Linux has.
    case needsLinux(option: String)
    case conflict(option: String, other: String)
    /// The reason why the LDAP options cannot be used.
    case badLDAP(String)
    /// The reason why the OpenID Connect options cannot be used.
    case badOIDC(String)
    /// The reason why the ACME options cannot be used.
    case badACME(String)
    /// A TLS option was given without a server certificate.
    case optionNeedsCertificate(String)
    case badTLSClients(String)
    case badCertificateFault(String)
    case clientsWithoutAuthority

    /// The message, without the prefix `davit: `.
    package var message: String {
        switch self {
        case .unknownCommand(let word, _): "unknown command '\(word)'"
        case .unknownOption(let option, _): "unknown option \(option)"
        case .missingValue(let option): "\(option) requires a value"
        case .badVariable(let name, let problem): "environment variable \(name): \(problem)"
        case .unwantedValue(let option): "\(option) does not take a value"
        case .missingFolder: "missing FOLDER"
        case .missingLogPath: "missing PATH"
        case .missingTrash: "missing ENTRY to restore"
        case .missingRecording: "missing RECORDING"
        case .missingStubFile: "missing FILE"
        case .missingStubArgument(let name): "missing \(name)"
        case .missingAction: "missing action"
        case .missingLock: "missing LOCK"
        case .missingArgument(let name): "missing \(name)"
        case .badSubject(let value):
            "WHO must be user:NAME, group:NAME, everyone or anonymous, not '\(value)'"
        case .badPath(let value): "'\(value)' is not a path in the share"
        case .badSetupAnswer(let option, let problem): "\(option): \(problem)"
        case .badHome(let value): "--home requires FOLDER/{user}, not '\(value)'"
        case .badMount(let value): "--mount requires /PATH=FOLDER, not '\(value)'"
        case .badSession(let value): "'\(value)' is not the ID of a session"
        case .badRights(let value): "unknown rights '\(value)'"
        case .missingServer: "missing --to URL"
        case .badServer(let value): "invalid server URL '\(value)'"
        case .badNumber(let value, let option, let range):
            "\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(value)'"
        case .badSize(let value, let option):
            "\(option) must be a number of bytes, optionally with a suffix K, M, G or T, not '\(value)'"
        case .limitOfZero(let option): "\(option) must be greater than 0"
        case .badAge(let value, let option):
            "\(option) must be from 1 to 10000 days, or hours with a suffix h, not '\(value)'"
        case .badUser: "--user must have the form NAME:PASSWORD"
        case .badScheme(let value):
            "--auth must list schemes separated by commas, each at most once, not '\(value)'"
        case .badOrigin(let value): "invalid origin '\(value)'"
        case .anyOrigin: "--allow-origin '*' would allow any web page to access the folder"
        case .missingName: "--digest requires NAME"
        case .unexpectedArgument(let word): "unexpected argument '\(word)'"
        case .badPublicURL(let value): "invalid public URL '\(value)'"
        case .badPrefix(let value): "invalid path prefix '\(value)'"
        case .publicURLOutsidePrefix(let value):
            "the path of the public URL '\(value)' does not end with the prefix"
        case .badLogLevel(let value): "unknown log level '\(value)'"
        case .badSyncLevel(let value): "--sync must be none, data or full, not '\(value)'"
        case .badExtensions(let value):
            "--allow-extensions must list file extensions separated by commas, not '\(value)'"
        case .badMacMetadataPolicy(let value):
            "--mac-metadata must be keep, hide, refuse or aside, not '\(value)'"
        case .badAnnouncement(.name(let value)):
            "'\(value)' cannot be announced: a name has 1 to 63 bytes without control characters"
        case .badAnnouncement(.type(let value)): "'\(value)' is not the type of a service"
        case .badAnnouncement(.property(let key)): "the property '\(key)' cannot be announced"
        case .badAdminListener(let value):
            "'\(value)' is not the path of a Unix socket or a loopback address with a port"
        case .badNetwork(let value, let option): "\(option): '\(value)' is not an address or a network"
        case .badTrustedProxy(let value): "'\(value)' is not an address, a network or 'unix'"
        case .badProxyFields(let value):
            "--proxy-fields must be forwarded, x-forwarded or either, not '\(value)'"
        case .badIdentityField(let value, let option):
            "\(option) cannot use the header field '\(value)'"
        case .badSocketMode(let value):
            "--unix-socket-mode must be an octal number from 000 to 777, not '\(value)'"
        case .badAccessLogFormat(let value): "unknown access log format '\(value)'"
        case .badAuditFailure(let value): "unknown value '\(value)' of --audit-failure"
        case .auditLogToStandardError: "--audit-log cannot be standard error"
        case .auditLogTooSmall(let bytes): "--audit-log-size \(bytes) is too small"
        case .badCommand(let value, let option): "\(option) '\(value)' does not begin with an absolute path"
        case .quotedCommand(let value, let option):
            "\(option) '\(value)' contains quotes, but a command is only split at its spaces"
        case .badUploadFailure(let value): "unknown value '\(value)' of --check-uploads-failure"
        case .badEventURL(let value): "'\(value)' is not an https URL, or http URL of this machine"
        case .badEventTypes(let value): "'\(value)' is not a list of different types of events"
        case .rateTooLow(let value, let option): "\(option) must be at least 1K, not \(value)"
        case .useless(let option, let other): "\(option) is only valid with \(other)"
        case .noTLS(let option): "\(option) requires TLS, which this build does not include"
        case .noQRCodes(let option): "\(option) requires QR code support, which this build does not include"
        case .traitNeeded(let option, let trait):
            "\(option) requires \(trait), which this build does not include"
        case .badRunAs(let value): "--run-as must be USER or USER:GROUP, not '\(value)'"
        case .needsLinux(let option): "\(option) requires Linux"
        case .conflict(let option, let other): "\(option) cannot be used with \(other)"
        case .incomplete(let option, let needs): "\(option) requires \(needs)"
        case .badLDAP(let problem), .badOIDC(let problem), .badACME(let problem): problem
        case .certificatesAndKeys(let certificates, let keys):
            "each --tls-cert requires a --tls-key: found \(certificates) --tls-cert and \(keys) --tls-key"
        case .optionNeedsCertificate(let option): "\(option) requires a server certificate"
        case .badTLSClients(let value): "--tls-clients must be optional or required, not '\(value)'"
        case .badCertificateFault(let value):
            "--tls-fault must be expired, not-yet-valid, wrong-name or untrusted, not '\(value)'"
        case .clientsWithoutAuthority: "--tls-clients requires --tls-client-ca"
        }
    }

    /// The suggestion that follows the message, in one or more lines.
    ///
    /// - Parameters:
    ///   - command: the command that the user entered, for examples.
    ///   - words: all words that the user entered, from the command on, for examples with the same action.
    package func advice(for command: Subcommand, words: [String] = []) -> String {
        let usage = UsageForms(of: command, fitting: words)
        return switch self {
        case .unknownCommand(_, let nearest?), .unknownOption(_, let nearest?): "Did you mean \(nearest)?"
        case .unknownCommand(_, nil): words.first == command.rawValue ? usage.text : "See 'davit --help'."
        case .unknownOption(_, nil), .missingValue, .unwantedValue, .badNumber:
            "See 'davit \(command.rawValue) --help'."
        case .missingAction: "\(usage.text)\nSee 'davit \(command.rawValue) --help'."
        case .missingFolder, .missingArgument, .missingStubArgument: usage.text
        case .badSubject: "For example: davit access set /srv/files user:anna /team edit"
        case .badPath: "For example: davit access set /srv/files everyone /team view"
        case .badRights:
            "RIGHTS is none, drop, view, add, edit or all, or some of list, read, create, change, delete, share and"
                + " manage, separated by commas."
        case .badSession: "'davit account sessions FOLDER' lists the IDs."
        case .missingLock: "For example: davit locks break /srv/files /report.odt"
        case .missingLogPath: "For example: davit log /docs/plan.txt --audit-log /var/log/davit/audit"
        case .missingTrash: "For example: davit trash restore /srv/files letters/anna.odt"
        case .missingStubFile: "For example: davit stub rules.sqlite"
        case .missingRecording, .missingServer:
            "For example: davit replay /some/recording --to http://127.0.0.1:8080/"
        case .badServer: "For example: http://127.0.0.1:8080/"
        case .unexpectedArgument:
            usage.haveArguments ? "A name with spaces needs quotes.\n\(usage.text)" : usage.text
        case .badSize(_, let option): "For example: \(option) 2G"
        case .limitOfZero(let option): "For example: \(option) 2G. Without the option, there is no limit."
        case .badAge(_, let option): "For example: \(option) 7, or \(option) 12h"
        case .badSetupAnswer: "See 'davit setup --help'."
        case .badHome: "For example: --home '/srv/home/{user}'"
        case .badMount: "For example: --mount /team=/srv/team"
        case .badUser:
            "For example: --user anna:secret. With --user-file, the process list does not show passwords."
        case .badScheme:
            "The schemes are digest-sha-256, digest-md5, digest (both of them) and basic."
        case .badOrigin: "For example: --allow-origin https://app.example, without a path or *."
        case .anyOrigin: "List each origin: --allow-origin https://app.example"
        case .missingName: "For example: davit password anna --digest"
        case .badPublicURL: "For example: --public-url https://files.example.org"
        case .badPrefix: "For example: --prefix /dav"
        case .publicURLOutsidePrefix: "For example: --prefix /dav --public-url https://files.example.org/dav"
        case .badLogLevel:
            "The levels are " + ServeOptions.LogLevel.allCases.map(\.rawValue).joined(separator: ", ") + "."
        case .badExtensions: "For example: --allow-extensions jpg,png"
        case .badSyncLevel, .badMacMetadataPolicy, .useless, .badProxyFields, .badVariable:
            "See 'davit \(command.rawValue) --help'."
        case .badAnnouncement: "For example: --announce 'Office files'"
        case .badAdminListener:
            "For example: --admin-listen /run/davit/admin.sock, or --admin-listen 127.0.0.1:9100"
        case .badNetwork(_, let option): "For example: \(option) 10.0.0.0/8"
        case .badTrustedProxy: "For example: --trusted-proxy 127.0.0.1, or --trusted-proxy 10.0.0.0/24"
        case .badIdentityField: "For example: --remote-user Remote-User --remote-groups Remote-Groups"
        case .badSocketMode: "For example: --unix-socket-mode 660"
        case .badAccessLogFormat: "The formats are davit, common, combined and json."
        case .badAuditFailure: "The values are refuse and count."
        case .badCommand, .quotedCommand:
            "Give the path of a program, and its arguments separated by spaces; for more, write a script."
        case .badUploadFailure: "The values are refuse and accept."
        case .badEventURL: "For example: --event-url https://hooks.example.org/davit"
        case .badEventTypes: "The types are \(EventOptions.operationNames.joined(separator: ", "))."
        case .auditLogToStandardError: "Give a file, syslog or journald: --audit-log /var/log/davit/audit"
        case .auditLogTooSmall: "The smallest size is 64K."
        case .rateTooLow: "The rate is a number of bytes per second, such as 500K or 2M."
        case .noTLS: "Build davit with the package trait TLS, or use a proxy that provides TLS."
        case .noQRCodes: "Build davit with the package trait QRCode."
        case .traitNeeded(_, let trait):
            "Build davit with the package trait \(trait): swift build -c release --traits default,\(trait)"
        case .badLDAP: "For example: --ldap ldaps://ldap.example.org --ldap-base dc=example,dc=org"
        case .badOIDC: "For example: --oidc-issuer https://login.example.org --oidc-client-id davit"
        case .badACME: "For example: --acme files.example.org --acme-email admin@example.org --acme-agree"
        case .badRunAs: "For example: --run-as davit, or --run-as davit:www-data"
        case .needsLinux(let option): "Omit \(option)."
        case .conflict, .incomplete: "See 'davit \(command.rawValue) --help'."
        case .certificatesAndKeys: "Both can be the same file: --tls-cert server.pem --tls-key server.pem"
        case .optionNeedsCertificate:
            "Add --tls-cert FILE --tls-key FILE, --tls-self-signed, or --acme DOMAIN."
        case .badTLSClients, .badCertificateFault, .clientsWithoutAuthority:
            "See 'davit \(command.rawValue) --help'."
        }
    }
}
