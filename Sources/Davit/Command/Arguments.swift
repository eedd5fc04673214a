internal import DavitFileStore
internal import DavitServer
internal import DavitStore

/// What the command line asks for.
package enum Invocation: Hashable, Sendable {
    case serve(ServeOptions)
    case check(CheckOptions)
    case password(PasswordOptions)
    case replay(ReplayOptions)
    case help(Help)
    case version
}

/// Reads a command line. Looks at nothing but the words.
package struct Arguments {
    var words: ArraySlice<String>

    /// - Parameter words: without the name of the program.
    /// - Throws: ``UsageError``; the command says it and ends with status 64.
    package static func parse(_ words: [String]) throws(UsageError) -> Invocation {
        var arguments = Arguments(words: words[...])
        return try arguments.invocation()
    }

    private mutating func invocation() throws(UsageError) -> Invocation {
        switch words.popFirst() {
        case nil, "--help", "-h": return .help(.davit)
        case "help":
            switch words.popFirst() {
            case nil: return .help(.davit)
            case let word?:
                if let command = Subcommand(rawValue: word) { return .help(command.help) }
                throw .unknownCommand(word, nearest: Self.nearest(to: word, in: Self.commands))
            }
        case "--version": return .version
        case Subcommand.serve.rawValue: return try serve()
        case Subcommand.check.rawValue: return try check()
        case Subcommand.password.rawValue: return try password()
        case Subcommand.replay.rawValue: return try replay()
        case let word? where word.hasPrefix("-"):
            let nearest = Self.nearest(to: word, in: ["--help", "--version"])
            throw .unknownOption(word, nearest: nearest ?? "--help")
        case let word?:
            throw .unknownCommand(word, nearest: Self.nearest(to: word, in: Self.commands + ["help"]))
        }
    }

    private static let commands = Subcommand.allCases.map(\.rawValue)

    private mutating func serve() throws(UsageError) -> Invocation {
        var options = ServeOptions(folder: "")
        var hosts: [String] = []
        let folder = try folder { (arguments, word) throws(UsageError) in
            try arguments.option(word, &options, &hosts)
        }
        guard let folder else { return .help(.serve) }
        options.folder = folder
        if !hosts.isEmpty {
            options.hosts = hosts
            options.listensByDefault = false
        }
        try Self.checkDeployment(&options)
        try options.tls.check()
        if options.users.isEmpty, options.userFile == nil, let host = options.exposedHost {
            throw .openToEverybody(host: host)
        }
        return .serve(options)
    }

    private mutating func check() throws(UsageError) -> Invocation {
        var options = CheckOptions(folder: "")
        let folder = try folder { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            let known = ServeOption.stateDir.rawValue
            guard name == known else {
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: [known, "--help"]))
            }
            options.stateFolder = try arguments.value(of: name, behindSign: value)
        }
        guard let folder else { return .help(.check) }
        options.folder = folder
        return .check(options)
    }

    private mutating func password() throws(UsageError) -> Invocation {
        var options = PasswordOptions()
        let names = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case PasswordOptions.digest:
                if value != nil { throw .unwantedValue(option: name) }
                options.isDigest = true
            case PasswordOptions.realm: options.realm = try arguments.value(of: name, behindSign: value)
            default:
                let known = [PasswordOptions.digest, PasswordOptions.realm, "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard let names else { return .help(.password) }
        if names.count > 1 { throw .moreThanOneName(names[1]) }
        options.name = names.first
        if options.isDigest, options.name == nil { throw .missingName }
        return .password(options)
    }

    /// As ``others(_:)``, of which there is one, a folder.
    private mutating func folder(
        _ option: (inout Arguments, _ word: String) throws(UsageError) -> Void
    ) throws(UsageError) -> String? {
        guard let folders = try others(option) else { return nil }
        guard let folder = folders.first, !folder.isEmpty else { throw .missingFolder }
        if folders.count > 1 { throw .moreThanOneFolder(folders[1]) }
        return folder
    }

    /// Reads the other words, and hands the options to `option`; nil if help is asked for.
    private mutating func others(
        _ option: (inout Arguments, _ word: String) throws(UsageError) -> Void
    ) throws(UsageError) -> [String]? {
        var folders: [String] = []
        var areOptionsOver = false
        while let word = words.popFirst() {
            if areOptionsOver || word == "-" || !word.hasPrefix("-") {
                folders.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else if word == "--help" || word == "-h" {
                return nil
            } else {
                try option(&self, word)
            }
        }
        return folders
    }

    /// The name of an option, and the value if it stands behind `=`.
    static func parts(of word: String) -> (name: String, value: String?) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    }

    /// The value of an option, which may be the next word.
    mutating func value(of name: String, behindSign value: String?) throws(UsageError) -> String {
        guard let value = value ?? words.popFirst(), !value.isEmpty else {
            throw .missingValue(option: name)
        }
        return value
    }

    /// One option with its value, which is the next word or stands behind `=`.
    private mutating func option(
        _ word: String, _ options: inout ServeOptions, _ hosts: inout [String]
    ) throws(UsageError) {
        let (name, behindSign) = Self.parts(of: word)
        guard let option = ServeOption(rawValue: name) else {
            let all = ServeOption.allCases.map(\.rawValue) + ["--help"]
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: all))
        }
        guard option.takesValue else {
            if behindSign != nil { throw .unwantedValue(option: name) }
            switch option {
            case .tlsSelfSigned: options.tls.isSelfSigned = true
            case .noCompression: options.compresses = false
            case .noHidden: options.rules.allowsHiddenItems = false
            case .noSyncCollection: options.answersSyncCollection = false
            default: options.isReadOnly = true
            }
            return
        }
        let value = try value(of: name, behindSign: behindSign)
        switch option {
        case .host: hosts.append(Self.withoutBrackets(value))
        case .port:
            options.port = try Self.number(value, option: name, in: 0...65535)
            options.listensByDefault = false
        case .unixSocket, .unixSocketMode, .publicURL, .prefix, .trustedProxy, .proxyFields, .accessLog,
            .accessLogFormat:
            try Self.deploymentOption(option, value, &options)
        case .stateDir: options.stateFolder = value
        case .user: options.users.append(try Self.user(value))
        case .userFile: options.userFile = value
        case .auth: options.authentication.schemes = try Self.schemes(value)
        case .realm: options.authentication.realm = value
        case .logLevel:
            guard let level = ServeOptions.LogLevel(rawValue: value) else { throw .badLogLevel(value) }
            options.logLevel = level
        case .sync:
            guard let level = SyncLevel(rawValue: value) else { throw .badSyncLevel(value) }
            options.sync = level
        case .maxFileSize: options.maximumFileBytes = try Self.bytes(value, option: name)
        case .keepFree: options.keptFreeBytes = try Self.bytes(value, option: name)
        case .allowExtensions: options.rules.allowedExtensions = try Self.extensions(value)
        case .litter:
            guard let policy = LitterPolicy(rawValue: value) else { throw .badLitterPolicy(value) }
            options.rules.litter = policy
        case .record: options.recordingFolder = value
        case .grace: options.graceSeconds = try Self.number(value, option: name, in: 0...3600)
        case .tlsCert: options.tls.certificates.append(value)
        case .tlsKey: options.tls.keys.append(value)
        case .tlsClientCA: options.tls.clientAuthorities = value
        case .tlsClients:
            guard let clients = TLSOptions.Clients(rawValue: value) else { throw .badTLSClients(value) }
            options.tls.clients = clients
        case .readOnly, .noHidden, .tlsSelfSigned, .noCompression, .noSyncCollection: break
        }
    }

    static func user(_ value: String) throws(UsageError) -> ServeOptions.User {
        // RFC 7617 §2: the first colon ends the name; the password may have more.
        let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // The value is not repeated: it can hold a password.
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw .badUser }
        return ServeOptions.User(name: String(parts[0]), password: String(parts[1]))
    }

    /// A list such as `digest,basic`; `digest` is all of Digest, in the order in which it should be offered.
    private static func schemes(_ value: String) throws(UsageError) -> [AuthenticationSettings.Scheme] {
        var schemes: [AuthenticationSettings.Scheme] = []
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            let named: [AuthenticationSettings.Scheme]
            if word == "digest" {
                named = [.digestSHA256, .digestMD5]
            } else if let scheme = AuthenticationSettings.Scheme(rawValue: String(word)) {
                named = [scheme]
            } else {
                throw .badScheme(value)
            }
            for scheme in named {
                if schemes.contains(scheme) { throw .badScheme(value) }
                schemes.append(scheme)
            }
        }
        return schemes
    }

    /// A list such as `jpg,png`.
    private static func extensions(_ value: String) throws(UsageError) -> Set<String> {
        let words = value.split(separator: ",", omittingEmptySubsequences: false)
        for word in words {
            // An extension is what stands behind the last period.
            let word = word.hasPrefix(".") ? word.dropFirst() : word
            if word.isEmpty || word.contains(where: { $0 == "." || $0 == "/" }) {
                throw .badExtensions(value)
            }
        }
        return Set(words.map(String.init))
    }

    private static func number<T: FixedWidthInteger>(
        _ value: String, option: String, in range: ClosedRange<Int>
    ) throws(UsageError) -> T {
        guard value.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int(value),
            range.contains(number), let exact = T(exactly: number)
        else { throw .badNumber(value, option: option, range: range) }
        return exact
    }

    /// Bytes, or with K, M, G or T behind them 1024 of the next smaller ones.
    private static func bytes(_ value: String, option: String) throws(UsageError) -> Int64 {
        let units = "KMGT"
        var digits = value[...]
        var shift: Int64 = 0
        if let last = value.uppercased().last, let position = units.firstIndex(of: last) {
            digits = value.dropLast()
            shift = 10 * Int64(units.distance(from: units.startIndex, to: position) + 1)
        }
        guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(digits),
            number <= Int64.max >> shift
        else { throw .badSize(value, option: option) }
        return number << shift
    }

    private static func withoutBrackets(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return host }
        return String(host.dropFirst().dropLast())
    }

    /// The candidate that takes the fewest changes of letters, if that are few.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, EditDistance.between(word, $0)) }
        guard let (candidate, distance) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= max(2, word.utf8.count / 3) ? candidate : nil
    }
}

/// The options of `davit serve`.
enum ServeOption: String, CaseIterable {
    case host = "--host"
    case port = "--port"
    case stateDir = "--state-dir"
    case user = "--user"
    case userFile = "--user-file"
    case auth = "--auth"
    case realm = "--realm"
    case readOnly = "--read-only"
    case allowExtensions = "--allow-extensions"
    case noHidden = "--no-hidden"
    case litter = "--litter"
    case noCompression = "--no-compression"
    case noSyncCollection = "--no-sync-collection"
    case publicURL = "--public-url"
    case prefix = "--prefix"
    case unixSocket = "--unix-socket"
    case unixSocketMode = "--unix-socket-mode"
    case trustedProxy = "--trusted-proxy"
    case proxyFields = "--proxy-fields"
    case accessLog = "--access-log"
    case accessLogFormat = "--access-log-format"
    case logLevel = "--log-level"
    case grace = "--grace"
    case record = "--record"
    case sync = "--sync"
    case maxFileSize = "--max-file-size"
    case keepFree = "--keep-free"
    case tlsCert = "--tls-cert"
    case tlsKey = "--tls-key"
    case tlsSelfSigned = "--tls-self-signed"
    case tlsClientCA = "--tls-client-ca"
    case tlsClients = "--tls-clients"

    var takesValue: Bool {
        switch self {
        case .readOnly, .noHidden, .tlsSelfSigned, .noCompression, .noSyncCollection: false
        default: true
        }
    }
}
