/// The arguments of `davit check`.
package struct CheckOptions: Hashable, Sendable {
    /// The shared folder, as specified.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(folder: String, stateFolder: String? = nil) {
        self.folder = folder
        self.stateFolder = stateFolder
    }
}
