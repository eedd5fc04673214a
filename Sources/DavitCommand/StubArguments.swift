internal import DavitCrypto
package import DavitFaults
package import DavitRecording

/// The arguments of `davit stub FILE`.
package struct StubOptions: Hashable, Sendable {
    package var file: String
    package var hosts: [String] = []
    package var port: UInt16 = 8080
    /// Nil for a random seed.
    package var seed: UInt64?
    /// The server to which requests are forwarded that no rule matches; nil to answer them with 404.
    package var proxy: String?
    package var graceSeconds = 30
    package var isSecure = false
    /// What is wrong with the server's certificate; nil for nothing.
    package var certificateFault: CertificateFault?

    package init(file: String) { self.file = file }
}

/// The arguments of the other forms of `davit stub`.
package struct StubControlOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case listRules
        case addRules([String])
        case removeRules([String])
        case listRequests
        case showRequest(UInt64)
        case verify(Expectation)
        case reset
        case importRules([String], file: String)
    }

    /// What `verify` expects.
    package struct Expectation: Hashable, Sendable {
        /// `*` for all methods.
        package var method: String
        package var path: String
        package var count: Int64?
        package var atLeast: Int64?
        package var atMost: Int64?
        /// Conditions in JSON.
        package var conditions: [String]

        package init(
            method: String, path: String, count: Int64? = nil, atLeast: Int64? = nil, atMost: Int64? = nil,
            conditions: [String] = []
        ) {
            self.method = method
            self.path = path
            self.count = count
            self.atLeast = atLeast
            self.atMost = atMost
            self.conditions = conditions
        }
    }

    package var action: Action
    package var server: ServerAddress

    package init(action: Action, server: ServerAddress) {
        self.action = action
        self.server = server
    }
}

extension Arguments {
    private static let stubActions = ["rules", "requests", "verify", "reset", "import"]
    private static let defaultStub = "http://127.0.0.1:8080/"

    /// Parses the arguments after `stub`.
    mutating func stub() throws(UsageError) -> Invocation {
        guard let first = words.first, Self.stubActions.contains(first) else { return try stubServer() }
        words.removeFirst()
        return try stubControl(first)
    }

    private mutating func stubServer() throws(UsageError) -> Invocation {
        var options = StubOptions(file: "")
        let files = try others { (arguments: inout Arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case "--host":
                options.hosts.append(
                    Self.withoutBrackets(try arguments.value(of: name, behindSign: value)))
            case "--port":
                options.port = try Self.number(
                    try arguments.value(of: name, behindSign: value), option: name, in: 0...65_535)
            case "--proxy":
                let url = try arguments.value(of: name, behindSign: value)
                guard ServerAddress(parsing: url) != nil else { throw .badServer(url) }
                options.proxy = url
            case "--tls-self-signed":
                if value != nil { throw .unwantedValue(option: name) }
                options.isSecure = true
            case "--tls-fault":
                let text = try arguments.value(of: name, behindSign: value)
                guard let fault = CertificateFault(rawValue: text) else { throw .badCertificateFault(text) }
                options.certificateFault = fault
            case "--seed":
                let text = try arguments.value(of: name, behindSign: value)
                options.seed = try UInt64(Self.number(text, option: name, in: 0...Int.max) as Int)
            case "--grace":
                options.graceSeconds = try Self.number(
                    try arguments.value(of: name, behindSign: value), option: name, in: 0...3600)
            default:
                let known = [
                    "--host", "--port", "--proxy", "--tls-self-signed", "--tls-fault", "--seed", "--grace",
                    "--help",
                ]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard let files else { return .help(.stub) }
        guard let file = files.first, !file.isEmpty else { throw .missingStubFile }
        if files.count > 1 { throw .unexpectedArgument(files[1]) }
        options.file = file
        if options.isSecure, !CryptoLibrary.isAvailable { throw .noTLS(option: "--tls-self-signed") }
        if options.certificateFault != nil, !options.isSecure {
            throw .useless(option: "--tls-fault", without: "--tls-self-signed")
        }
        return .stub(options)
    }

    private mutating func stubControl(_ action: String) throws(UsageError) -> Invocation {
        var server = Self.defaultStub
        var expectation = StubControlOptions.Expectation(method: "", path: "")
        var target: String?
        var authorities: String?
        let words = try others { (arguments: inout Arguments, word) throws(UsageError) in
            let (name, sign) = Self.parts(of: word)
            let known: [String] =
                switch action {
                case "verify": ["--to", "--ca", "--count", "--at-least", "--at-most", "--when", "--help"]
                case "import": ["--into", "--help"]
                default: ["--to", "--ca", "--help"]
                }
            guard known.contains(name) else {
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
            let value = try arguments.value(of: name, behindSign: sign)
            func count() throws(UsageError) -> Int64 {
                try Int64(Self.number(value, option: name, in: 0...Int.max) as Int)
            }
            switch name {
            case "--to": server = value
            case "--ca": authorities = value
            case "--into": target = value
            case "--count": expectation.count = try count()
            case "--at-least": expectation.atLeast = try count()
            case "--at-most": expectation.atMost = try count()
            default: expectation.conditions.append(value)
            }
        }
        guard let words else { return .help(.stub) }
        guard var address = ServerAddress(parsing: server) else { throw .badServer(server) }
        address.authorities = authorities
        return .stubControl(
            StubControlOptions(
                action: try Self.action(action, words, expectation, target), server: address))
    }

    private static func action(
        _ name: String, _ words: [String], _ expectation: StubControlOptions.Expectation, _ target: String?
    ) throws(UsageError) -> StubControlOptions.Action {
        switch name {
        case "rules":
            let names = Array(words.dropFirst())
            switch words.first {
            case nil: return .listRules
            case "list":
                if let extra = names.first { throw .unexpectedArgument(extra) }
                return .listRules
            case "add":
                if names.isEmpty { throw .missingStubArgument("JSON") }
                return .addRules(names)
            case "remove":
                if names.isEmpty { throw .missingStubArgument("NAME") }
                return .removeRules(names)
            case let word?:
                throw .unknownCommand(word, nearest: nearest(to: word, in: ["list", "add", "remove"]))
            }
        case "requests":
            guard let word = words.first else { return .listRequests }
            if words.count > 1 { throw .unexpectedArgument(words[1]) }
            return .showRequest(UInt64(try number(word, option: "NUMBER", in: 1...Int.max) as Int))
        case "verify":
            guard words.count >= 2 else { throw .missingStubArgument(words.isEmpty ? "METHOD" : "PATH") }
            if words.count > 2 { throw .unexpectedArgument(words[2]) }
            var expectation = expectation
            (expectation.method, expectation.path) = (words[0], words[1])
            return .verify(expectation)
        case "import":
            if words.isEmpty { throw .missingStubArgument("SOURCE") }
            guard let target else { throw .missingStubArgument("--into FILE") }
            return .importRules(words, file: target)
        default:
            if let extra = words.first { throw .unexpectedArgument(extra) }
            return .reset
        }
    }
}
