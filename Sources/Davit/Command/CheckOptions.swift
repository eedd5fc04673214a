/// What `davit check` was asked to do.
package struct CheckOptions: Hashable, Sendable {
    /// The shared folder whose state is checked, as given.
    package var folder: String
    /// Nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(folder: String, stateFolder: String? = nil) {
        self.folder = folder
        self.stateFolder = stateFolder
    }
}
