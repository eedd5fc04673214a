internal import DavitControl
internal import DavitHTTP
package import DavitServer
internal import DavitSystem

/// The arguments of `davit ban`.
package struct BanOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list
        case add(address: String, minutes: Int)
        case remove(address: String)
    }

    static let actions = ["list", "add", "remove"]
    static let minutes = "--minutes"
    /// The duration of a ban without ``minutes``: a day.
    static let standardMinutes = 1440

    package var action: Action
    /// The shared folder, as given on the command line.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(_ action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension Arguments {
    /// Parses `list FOLDER`, `add FOLDER ADDRESS` or `remove FOLDER ADDRESS`, with options.
    mutating func ban() throws(UsageError) -> Invocation {
        let stateDir = ServeOption.stateDir.rawValue
        var stateFolder: String?
        var minutes: Int?
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case stateDir: stateFolder = try arguments.value(of: name, behindSign: value)
            case BanOptions.minutes:
                minutes = try Self.number(
                    arguments.value(of: name, behindSign: value), option: name, in: 1...5_256_000)
            default:
                let known = [stateDir, BanOptions.minutes, "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard var rest = words?[...] else { return .help(.ban) }
        let (action, folder) = try Self.actionAndFolder(of: .ban, &rest, in: BanOptions.actions)
        if action != "add", minutes != nil {
            throw .useless(option: BanOptions.minutes, without: "'davit ban add'")
        }
        var options = BanOptions(.list, folder: folder, stateFolder: stateFolder)
        if action != "list" {
            guard let address = rest.popFirst(), !address.isEmpty else { throw .missingArgument("ADDRESS") }
            options.action =
                action == "add"
                ? .add(address: address, minutes: minutes ?? BanOptions.standardMinutes)
                : .remove(address: address)
        }
        if let more = rest.first { throw .unexpectedArgument(more) }
        return .ban(options)
    }
}

/// `davit ban`: lists, adds and removes bans of addresses, through the server of a share or, if none is running, in its state
/// folder.
package struct BanCommand {
    package let options: BanOptions

    package init(options: BanOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try text()) }

    /// Runs the command and returns the text for standard output. Blocks.
    package func text() throws(CommandFailure) -> String {
        switch options.action {
        case .list:
            let bans = try bans()
            return bans.isEmpty ? "no bans\n" : bans.map(Self.description).joined()
        case .add(let address, let minutes):
            return try change(.ban(address: address, seconds: Int64(minutes) * 60)) {
                "banned \($0.network) until \(Self.time($0.until))\n"
            }
        case .remove(let address):
            return try change(.unban(address: address)) { "removed ban: \($0.network)\n" }
        }
    }

    /// Returns all bans that have not ended, those that end first in front. Blocks.
    package func bans() throws(CommandFailure) -> [Ban] {
        try state().list(ControlRequest.bans) { ListedBan(line: $0)?.ban }
    }

    private func change(
        _ request: ControlRequest, _ text: (Ban) -> String
    ) throws(CommandFailure) -> String {
        try state().ask(request) { ListedBan(line: $0)?.ban }.map(text).joined()
    }

    private func state() throws(CommandFailure) -> StateAccess {
        try StateAccess(folder: options.folder, stateFolder: options.stateFolder)
    }

    private static func description(_ ban: Ban) -> String {
        let reason =
            switch ban.reason {
            case .failedLogins: "failed logins"
            case .command: "command"
            }
        return "\(ban.network)  until \(time(ban.until)), since \(time(ban.since)), "
            + "reason: \(reason), number of bans: \(ban.count)\n"
    }

    private static func time(_ seconds: Int64) -> String {
        String(decoding: HTTPDate.iso8601(Timestamp(seconds: seconds)), as: UTF8.self)
    }
}
