package import DavitControl

/// The arguments of `davit locks`.
package struct LocksOptions: Hashable, Sendable {
    /// The action to perform.
    package enum Action: Hashable, Sendable {
        /// List the locks.
        case list
        /// Remove the locks with a token or on a path.
        case end(LockSelection)
    }

    /// The words for the actions on the command line.
    enum Word: String, CaseIterable {
        case list
        case end = "break"
    }

    package var action: Action
    /// The shared folder, as specified.
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
