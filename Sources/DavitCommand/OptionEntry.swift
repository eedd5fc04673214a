internal import DavitCrypto

/// The description of an option of `davit serve`. Command line, environment, configuration file, help, JSON Schema and the list
/// of defaults all follow from it.
struct OptionEntry: Sendable {
    let section: OptionSection
    /// The name of the value in the help; empty for an option without a value.
    let argument: String
    let kind: OptionKind
    /// One line of help, without the default; a statement without a period.
    let help: String
    let standard: OptionDefault
    /// A sentence that follows the default in the help.
    let note: String?
    let isRepeatable: Bool
    /// Whether the value must not be shown.
    let isSecret: Bool
    let scope: OptionScope
    let reload: OptionReload

    init(
        _ section: OptionSection, _ argument: String, _ kind: OptionKind, _ help: String,
        standard: OptionDefault = .none, note: String? = nil, isRepeatable: Bool = false,
        isSecret: Bool = false, in scope: OptionScope = .server, reload: OptionReload = .restart
    ) {
        self.section = section
        self.argument = argument
        self.kind = kind
        self.help = help
        self.standard = standard
        self.note = note
        self.isRepeatable = isRepeatable
        self.isSecret = isSecret
        self.scope = scope
        self.reload = reload
    }

    /// Creates the entry of an option without a value.
    init(
        _ section: OptionSection, _ kind: OptionKind, _ help: String, in scope: OptionScope = .server
    ) {
        self.init(section, "", kind, help, in: scope)
    }
}

/// The default of an option.
enum OptionDefault: Hashable, Sendable {
    /// Off, or not set.
    case none
    /// A value as on the command line.
    case value(String)
    /// A value that applies together with another option; it is an error to set it alone.
    case implied(String)
    /// Described in words, because it depends on something.
    case described(String)

    /// The text in the help; nil if the help does not mention it.
    var text: String? {
        switch self {
        case .none: nil
        case .value(let text), .implied(let text), .described(let text): text
        }
    }
}

/// Where an option can be given, in addition to the command line.
enum OptionScope: Hashable, Sendable {
    /// Not in a configuration file.
    case commandLine
    /// For the server, at the top of a configuration file.
    case server
    /// For each share, and at the top of a configuration file for all shares that do not have it.
    case share
}

/// What a reload does when the value of an option has changed.
enum OptionReload: Hashable, Sendable {
    case takesEffect
    /// The running value is kept.
    case restart
}

/// The sections of the help and of the list of defaults.
enum OptionSection: CaseIterable, Sendable {
    case listening, access, tls, acme, files, page, storage, clients, trash, durability, proxy, ldap, oidc,
        pam
    case logging, programs, privileges, testing, other

    var title: String {
        switch self {
        case .listening: "listening"
        case .access: "access"
        case .tls:
            "TLS 1.2 and 1.3" + (CryptoLibrary.isAvailable ? "" : " (not included in this build)")
        case .acme: "certificates of an ACME authority such as Let's Encrypt (package trait ACME)"
        case .files: "files served"
        case .page: "browser page"
        case .storage: "storage limits (SIZE in bytes, or with a suffix K, M, G or T)"
        case .clients: "limits for clients"
        case .trash: "trash"
        case .durability: "durability (acknowledged changes always survive a crash of the server)"
        case .proxy: "behind a proxy"
        case .ldap: "users without an account, verified by an LDAP directory (package trait LDAP)"
        case .oidc:
            "users without an account, signed in by an OpenID Connect provider in the browser (package trait "
                + "OIDC); requires --public-url"
        case .pam: "users without an account, verified by PAM (package trait PAM)"
        case .logging: "logging"
        case .programs:
            "programs and services (COMMAND is an absolute path, and arguments separated by spaces)"
        case .privileges: "privileges (Linux)"
        case .testing: "testing clients"
        case .other: "other"
        }
    }
}

extension ServeOption {
    /// The name without dashes, which is the key in a configuration file.
    var key: String { String(rawValue.dropFirst(2)) }

    /// The name of the environment variable, such as `DAVIT_LOG_LEVEL`.
    var variable: String {
        "DAVIT_" + String(key.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    var takesValue: Bool {
        if case .flag = entry.kind { false } else { true }
    }

    /// The range of a number.
    var range: ClosedRange<Int> {
        if case .number(let range) = entry.kind { range } else { 0...Int.max }
    }
}
