internal import Davit

/// The arguments of `davit setup`: answers that need not be asked for.
package struct SetupOptions: Hashable, Sendable {
    /// Who may reach the server.
    package enum Reach: String, CaseIterable, Sendable {
        /// Programs on this machine.
        case machine
        /// The local network, with TLS and an authority of the server's own.
        case network
        /// Everyone, through a proxy on this machine that has a certificate.
        case internet
    }

    package var folder: String?
    package var reach: Reach?
    /// The host name or address of the URL that clients use.
    package var name: String?
    package var account: String?
    /// Whether systemd starts the server with the machine.
    package var startsAtBoot: Bool?
    package var port: UInt16?
    /// The configuration file to write; nil for the default.
    package var file: String?
    /// The state folder; nil for the default.
    package var stateFolder: String?
    /// A folder that stands for `/`, such as that of an image; empty for none.
    package var root = ""
    /// Whether to use the defaults instead of asking.
    package var acceptsDefaults = false
    /// Whether existing files are replaced without asking.
    package var replaces = false

    package init() {}
}

extension Arguments {
    /// Parses the arguments after `setup`.
    mutating func setup() throws(UsageError) -> Invocation {
        var options = SetupOptions()
        let others = try others { (arguments, word) throws(UsageError) in
            try arguments.setupOption(word, &options)
        }
        guard let others else { return .help(.setup) }
        if let first = others.first {
            if options.folder != nil || others.count > 1 { throw .unexpectedArgument(others.last ?? first) }
            options.folder = first
        }
        return .setup(options)
    }

    private mutating func setupOption(_ word: String, _ options: inout SetupOptions) throws(UsageError) {
        let (name, behindSign) = Self.parts(of: word)
        switch name {
        case "--yes", "--force":
            if behindSign != nil { throw .unwantedValue(option: name) }
            if name == "--yes" { options.acceptsDefaults = true } else { options.replaces = true }
            return
        default: break
        }
        let known = [
            "--reach", "--name", "--account", "--boot", "--port", "--config", "--state-dir", "--root",
            "--yes", "--force",
            "--help",
        ]
        guard known.contains(name) else {
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
        }
        let value = try value(of: name, behindSign: behindSign)
        do throws(SetupProblem) {
            switch name {
            case "--reach": options.reach = try SetupQuestion.reach(value)
            case "--name": options.name = try SetupQuestion.name(value)
            case "--account": options.account = try SetupQuestion.account(value)
            case "--boot": options.startsAtBoot = try SetupQuestion.boolean(value)
            case "--port":
                guard let port = UInt16(value), port > 0 else {
                    throw SetupProblem("expected a number from 1 to 65535")
                }
                options.port = port
            case "--config": options.file = value
            case "--state-dir": options.stateFolder = value
            default: options.root = value == "/" ? "" : value
            }
        } catch {
            throw .badSetupAnswer(option: name, problem: error.text)
        }
    }
}

/// The reason why an answer cannot be used.
struct SetupProblem: Error, Hashable {
    let text: String

    init(_ text: String) { self.text = text }
}
