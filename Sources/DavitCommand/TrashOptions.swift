/// The arguments of `davit trash`.
package struct TrashOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list
        /// IDs, or paths in the share, which select the last entry deleted there.
        case restore([String])
        case empty(olderThanDays: Int)
    }

    static let actions = ["list", "restore", "empty"]
    static let olderThan = "--older-than"

    package var action: Action
    /// The shared folder, as specified.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}
