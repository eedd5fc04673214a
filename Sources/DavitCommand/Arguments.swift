internal import Davit

/// A parsed command line.
package enum Invocation: Hashable, Sendable {
    case serve(ServeOptions)
    /// `davit serve --config`.
    case serveFile(ServeSources)
    case setup(SetupOptions)
    case config(ConfigOptions)
    case reload(ReloadOptions)
    case doctor(DoctorOptions)
    case check(CheckOptions)
    case transfer(TransferOptions)
    case nodes(NodesOptions)
    case status(StatusOptions)
    case locks(LocksOptions)
    case uploads(UploadsOptions)
    case trash(TrashOptions)
    case ban(BanOptions)
    case log(LogOptions)
    case password(PasswordOptions)
    case account(AccountOptions)
    case replay(ReplayOptions)
    case stub(StubOptions)
    case stubControl(StubControlOptions)
    case help(Help)
    case version
}

/// Parses a command line. Does not access the file system.
package struct Arguments {
    var words: ArraySlice<String>
    /// The environment variables of the process whose names begin with `DAVIT_`.
    var environment: [String: String] = [:]

    /// - Parameters:
    ///   - words: the arguments, without the program name.
    ///   - environment: the variables that can set options of `davit serve`.
    /// - Throws: ``UsageError``; the command prints it and exits with status 64.
    package static func parse(
        _ words: [String], environment: [String: String] = [:]
    ) throws(UsageError) -> Invocation {
        var arguments = Arguments(words: words[...], environment: environment)
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
        case Subcommand.setup.rawValue: return try setup()
        case Subcommand.config.rawValue: return try config()
        case Subcommand.reload.rawValue: return try reload()
        case Subcommand.doctor.rawValue: return try doctor()
        case Subcommand.check.rawValue: return try check()
        case Subcommand.importing.rawValue: return try transfer(.intoDatabase)
        case Subcommand.exporting.rawValue: return try transfer(.intoFolder)
        case Subcommand.nodes.rawValue: return try nodes()
        case Subcommand.status.rawValue: return try status()
        case Subcommand.locks.rawValue: return try locks()
        case Subcommand.uploads.rawValue: return try uploads()
        case Subcommand.trash.rawValue: return try trash()
        case Subcommand.ban.rawValue: return try ban()
        case Subcommand.log.rawValue: return try log()
        case Subcommand.password.rawValue: return try password()
        case Subcommand.account.rawValue: return try account()
        case Subcommand.appPassword.rawValue: return try appPassword()
        case Subcommand.group.rawValue: return try group()
        case Subcommand.access.rawValue: return try access()
        case Subcommand.replay.rawValue: return try replay()
        case Subcommand.stub.rawValue: return try stub()
        case let word? where word.hasPrefix("-"):
            let nearest = Self.nearest(to: word, in: ["--help", "--version"])
            throw .unknownOption(word, nearest: nearest ?? "--help")
        case let word?:
            throw .unknownCommand(word, nearest: Self.nearest(to: word, in: Self.commands + ["help"]))
        }
    }

    private static let commands = Subcommand.allCases.map(\.rawValue)

    /// Returns the only argument, a folder, and passes each option to `option`. Returns nil if `--help` is
    /// among the words.
    mutating func folder(
        _ option: (inout Arguments, _ word: String) throws(UsageError) -> Void
    ) throws(UsageError) -> String? {
        guard let folders = try others(option) else { return nil }
        return try Self.only(folders, isRequired: true)
    }

    /// Returns the only one of the words that are not options; nil if there is none and none is required.
    static func only(_ folders: [String], isRequired: Bool) throws(UsageError) -> String? {
        guard let folder = folders.first else {
            if isRequired { throw .missingFolder }
            return nil
        }
        if folder.isEmpty { throw .missingFolder }
        if folders.count > 1 { throw .unexpectedArgument(folders[1]) }
        return folder
    }

    /// Returns the words that are not options, and passes each option to `option`. Returns nil if `--help` is
    /// among them.
    mutating func others(
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

    /// Takes the action and the folder from the front of the words that are not options.
    /// - Parameters:
    ///   - words: begins with the action.
    ///   - known: the actions of the command.
    static func actionAndFolder(
        of command: Subcommand, _ words: inout ArraySlice<String>, in known: [String]
    ) throws(UsageError) -> (action: String, folder: String) {
        guard let action = words.popFirst() else { throw .missingAction }
        guard known.contains(action) else { throw unknownAction(action, of: command, in: known) }
        guard let folder = words.popFirst(), !folder.isEmpty else { throw .missingFolder }
        return (action, folder)
    }

    static func unknownAction(
        _ action: String, of command: Subcommand, in known: [String]
    ) -> UsageError {
        .unknownCommand(
            "\(command.rawValue) \(action)",
            nearest: nearest(to: action, in: known).map { "\(command.rawValue) \($0)" })
    }

    /// Splits `--name=value`; the value is nil without `=`.
    static func parts(of word: String) -> (name: String, value: String?) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Returns the value of an option: `value`, or else the next word.
    mutating func value(
        of name: String, behindSign value: String?, canBeEmpty: Bool = false
    ) throws(UsageError) -> String {
        guard let value = value ?? words.popFirst(), canBeEmpty || !value.isEmpty else {
            throw .missingValue(option: name)
        }
        return value
    }

    /// Parses `--state-dir`, the only option of several commands.
    mutating func stateFolder(_ word: String) throws(UsageError) -> String {
        let (name, value) = Self.parts(of: word)
        let known = ServeOption.stateDir.rawValue
        guard name == known else {
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: [known, "--help"]))
        }
        return try self.value(of: name, behindSign: value)
    }

    /// Returns the candidate with the smallest edit distance to `word`, or nil if none is close: a third of the word may
    /// differ, or one edit of a shorter word.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, EditDistance.between(word, $0)) }
        guard let (candidate, distance) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= max(1, word.utf8.count / 3) ? candidate : nil
    }
}

/// The edit distance of two words.
enum EditDistance {
    /// Returns the minimum number of byte insertions, deletions, replacements and swaps of neighbors that
    /// turn `b` into `a`.
    static func between(_ a: String, _ b: String) -> Int {
        let a = Array(a.utf8)
        let b = Array(b.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                let isSwap = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]
                if isSwap { best = min(best, beforeLast[j - 1] + 1) }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
