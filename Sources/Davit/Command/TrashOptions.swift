/// What `davit trash` was asked to do.
package struct TrashOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list
        /// Ids, or paths in the share: of those the entry that went last.
        case restore([String])
        case empty(olderThanDays: Int)
    }

    static let actions = ["list", "restore", "empty"]
    static let olderThan = "--older-than"

    package var action: Action
    /// The shared folder, as given.
    package var folder: String
    /// Nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}
