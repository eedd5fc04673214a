/// What `davit locks` was asked to do.
package struct LocksOptions: Hashable, Sendable {
    /// The commands of the command.
    package enum Action: Hashable, Sendable {
        /// Show them.
        case list
        /// End one, by its token or by the path that it is on.
        case end(LockSelection)
    }

    /// The words of the command line.
    enum Word: String, CaseIterable {
        case list
        case end = "break"
    }

    package var action: Action
    /// The shared folder, as given.
    package var folder: String
    /// Nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(_ action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension LockSelection {
    /// A token, which is a URI, or else a path of the share.
    init(word: String) {
        let isToken = word.hasPrefix("opaquelocktoken:") || word.hasPrefix("urn:uuid:")
        self = isToken ? .token(word) : .path(Array(word.utf8))
    }
}
