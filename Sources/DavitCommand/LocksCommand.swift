package import DavitControl
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// The arguments of `davit locks`.
package struct LocksOptions: Hashable, Sendable {
    /// The action to perform.
    package enum Action: Hashable, Sendable {
        /// List the locks.
        case list
        /// Remove the locks with a token or on a path.
        case end(LockSelection)
    }

    static let actions = ["list", "break"]

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

extension LockSelection {
    /// Interprets `word` as a lock token if it begins like one, otherwise as a path in the share.
    init(word: String) {
        let isToken = word.hasPrefix("opaquelocktoken:") || word.hasPrefix("urn:uuid:")
        self = isToken ? .token(word) : .path(Array(word.utf8))
    }
}

extension Arguments {
    /// Parses `list FOLDER` or `break FOLDER LOCK`, with options.
    mutating func locks() throws(UsageError) -> Invocation {
        var stateFolder: String?
        let words = try others { (arguments, word) throws(UsageError) in
            stateFolder = try arguments.stateFolder(word)
        }
        guard var words = words?[...] else { return .help(.locks) }
        let (word, folder) = try Self.actionAndFolder(of: .locks, &words, in: LocksOptions.actions)
        var action = LocksOptions.Action.list
        if word == "break" {
            guard let lock = words.popFirst(), !lock.isEmpty else { throw .missingLock }
            action = .end(LockSelection(word: lock))
        }
        if let more = words.first { throw .unexpectedArgument(more) }
        return .locks(LocksOptions(action, folder: folder, stateFolder: stateFolder))
    }
}

/// `davit locks`: lists the locks of a share, or removes locks, including those of other accounts, directly
/// or through the server that owns the state.
package struct LocksCommand {
    package let options: LocksOptions

    package init(options: LocksOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try text()) }

    /// Runs the command and returns the text for standard output. Blocks.
    package func text() throws(CommandFailure) -> String {
        switch options.action {
        case .list:
            let locks = try locks()
            return locks.isEmpty ? "no locks\n" : locks.map(Self.description).joined()
        case .end(let selection):
            let locks = try end(selection)
            guard !locks.isEmpty else { throw .noLock(Self.name(of: selection), folder: options.folder) }
            return locks.map { "removed lock: \(Self.shown($0.path))  \($0.token)\n" }.joined()
        }
    }

    // MARK: Requests

    /// Returns all active locks. Blocks.
    package func locks() throws(CommandFailure) -> [ListedLock] {
        try state().list(ControlRequest.locks, ListedLock.init)
    }

    private func end(_ selection: LockSelection) throws(CommandFailure) -> [ListedLock] {
        try state().ask(.breakLocks(selection), ListedLock.init)
    }

    private func state() throws(CommandFailure) -> any ShareAccess {
        try ShareAccessFactory.open(options.folder, stateFolder: options.stateFolder)
    }

    // MARK: Output

    private static func description(_ lock: ListedLock) -> String {
        var text = "\(shown(lock.path))\n"
        text += "  \(lock.isExclusive ? "exclusive" : "shared"), depth \(lock.isDeep ? "infinity" : "0")\n"
        if let owner = lock.owner { text += "  owner: \(NameCheck.shown(Array(owner.utf8)))\n" }
        if let account = lock.principal { text += "  account: \(NameCheck.shown(Array(account.utf8)))\n" }
        let since = lock.created.map { "created \(time($0)), " } ?? ""
        text += "  \(since)expires \(time(lock.expiry))\n"
        return text + "  token: \(NameCheck.shown(Array(lock.token.utf8)))\n"
    }

    private static func shown(_ path: [UInt8]) -> String { "/" + NameCheck.shown(path) }

    private static func time(_ time: Timestamp) -> String {
        String(decoding: HTTPDate.iso8601(time), as: UTF8.self)
    }

    private static func name(of selection: LockSelection) -> String {
        switch selection {
        case .token(let token): token
        case .path(let path): String(decoding: path, as: UTF8.self)
        }
    }
}
