internal import DavitServer
internal import DavitSystem

/// The arguments of `davit password`.
package struct PasswordOptions: Hashable, Sendable {
    static let digest = "--digest"
    static let realm = "--realm"

    /// The account name; nil to print only the hash.
    package var name: String?
    /// Whether to print Digest secrets instead of a password hash.
    package var isDigest = false
    /// The authentication realm; Digest secrets are valid for one realm.
    package var realm: String

    package init(name: String? = nil, isDigest: Bool = false, realm: String? = nil) {
        self.name = name
        self.isDigest = isDigest
        self.realm = realm ?? AuthenticationSettings().realm
    }
}

extension Arguments {
    mutating func password() throws(UsageError) -> Invocation {
        var options = PasswordOptions()
        var realm: String?
        let names = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case PasswordOptions.digest:
                if value != nil { throw .unwantedValue(option: name) }
                options.isDigest = true
            case PasswordOptions.realm: realm = try arguments.value(of: name, behindSign: value)
            default:
                let known = [PasswordOptions.digest, PasswordOptions.realm, "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard let names else { return .help(.password) }
        if names.count > 1 { throw .unexpectedArgument(names[1]) }
        options.name = names.first
        if options.isDigest, options.name == nil { throw .missingName }
        if let realm {
            // Other hashes do not depend on the realm.
            if !options.isDigest {
                throw .useless(option: PasswordOptions.realm, without: PasswordOptions.digest)
            }
            options.realm = realm
        }
        return .password(options)
    }
}

/// `davit password`: creates a line for a user file from a password.
package struct PasswordCommand {
    let options: PasswordOptions

    package init(options: PasswordOptions) { self.options = options }

    /// Asks for the password and prints the line. Blocks.
    func run() throws(CommandFailure) {
        StandardStreams.writeOutput(try line(for: Self.readPassword()) + "\n")
    }

    /// Asks for a password twice, or reads it from standard input if that is not a terminal. Blocks.
    static func readPassword() throws(CommandFailure) -> [UInt8] {
        var first: [UInt8]?
        var second: [UInt8]?
        do throws(SystemError) {
            guard Terminal.isInput else { return try Terminal.readLine(limit: Accounts.limitBytes + 2) }
            first = try Terminal.readHidden("password: ")
            if first != nil { second = try Terminal.readHidden("repeat password: ") }
        } catch {
            throw .noPassword(reason: error.description)
        }
        guard let first, let second else { throw .noPassword(reason: "cancelled") }
        guard first == second else { throw .noPassword(reason: "the passwords do not match") }
        return first
    }

    /// Returns the line for `password`. Adds it to a temporary list of accounts first, which validates the
    /// name and the password.
    package func line(for password: [UInt8]) throws(CommandFailure) -> String {
        (options.name.map { $0 + ":" } ?? "") + (try secret(for: password))
    }

    /// Returns the hash of `password`.
    func secret(for password: [UInt8]) throws(CommandFailure) -> String {
        guard let text = String(validating: password, as: UTF8.self) else {
            throw .noPassword(reason: "the password is not valid UTF-8")
        }
        var settings = AuthenticationSettings()
        settings.realm = options.realm
        do throws(Accounts.Problem) {
            if let problem = settings.problem { throw problem }
            var accounts = Accounts(settings)
            try accounts.add(name: options.name ?? "anybody", password: text)
            return options.isDigest
                ? try Accounts.digestText(name: options.name ?? "", password: text, realm: options.realm)
                : try Accounts.scryptText(password: text)
        } catch {
            throw .badUser(name: options.name ?? "", problem: error.text)
        }
    }
}
