package import DavitControl
internal import DavitHTTP
internal import DavitSystem

/// The arguments of `davit uploads`.
package struct UploadsOptions: Hashable, Sendable {
    /// The action to perform.
    package enum Action: Hashable, Sendable {
        /// List the open uploads.
        case list
        /// Cancel the upload with an ID.
        case cancel(id: String)
    }

    static let actions = ["list", "cancel"]

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
    /// Parses `list FOLDER` or `cancel FOLDER UPLOAD`, with options.
    mutating func uploads() throws(UsageError) -> Invocation {
        var stateFolder: String?
        let words = try others { (arguments, word) throws(UsageError) in
            stateFolder = try arguments.stateFolder(word)
        }
        guard var rest = words?[...] else { return .help(.uploads) }
        let (word, folder) = try Self.actionAndFolder(of: .uploads, &rest, in: UploadsOptions.actions)
        var action = UploadsOptions.Action.list
        if word == "cancel" {
            guard let id = rest.popFirst(), !id.isEmpty else { throw .missingArgument("UPLOAD") }
            action = .cancel(id: id)
        }
        if let more = rest.first { throw .unexpectedArgument(more) }
        return .uploads(UploadsOptions(action, folder: folder, stateFolder: stateFolder))
    }
}

/// `davit uploads`: lists the open uploads to a share, or cancels one of any account, directly or through the server that owns
/// the state.
package struct UploadsCommand {
    package let options: UploadsOptions

    package init(options: UploadsOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try text()) }

    /// Runs the command and returns the text for standard output. Blocks.
    package func text() throws(CommandFailure) -> String {
        switch options.action {
        case .list:
            let uploads = try uploads()
            return uploads.isEmpty ? "no uploads\n" : uploads.map(Self.description).joined()
        case .cancel(let id):
            let uploads = try state().ask(.cancelUpload(id: id), ListedUpload.init)
            guard let upload = uploads.first else { throw .noUpload(id, folder: options.folder) }
            return "cancelled upload: /\(NameCheck.shown(upload.path))\n"
        }
    }

    /// Returns all open uploads, ordered by the paths of their targets. Blocks.
    package func uploads() throws(CommandFailure) -> [ListedUpload] {
        try state().list(ControlRequest.uploads, ListedUpload.init)
    }

    private func state() throws(CommandFailure) -> any ShareAccess {
        try ShareAccessFactory.open(options.folder, stateFolder: options.stateFolder)
    }

    private static func description(_ upload: ListedUpload) -> String {
        let source =
            upload.account.map { "account: \(NameCheck.shown(Array($0.utf8)))" }
            ?? upload.network.map { "address: \(NameCheck.shown(Array($0.utf8)))" }
        let length = upload.length.map { " of \($0)" } ?? ""
        return "/\(NameCheck.shown(upload.path))\n"
            + (source.map { "  \($0)\n" } ?? "")
            + "  received: \(upload.received)\(length) bytes\n"
            + "  expires \(String(decoding: HTTPDate.iso8601(upload.expiry), as: UTF8.self))\n"
            + "  ID: \(NameCheck.shown(Array(upload.id.utf8)))\n"
    }
}
