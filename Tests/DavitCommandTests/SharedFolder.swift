import DavitSystem
import DavitTesting

extension TemporaryFolder {
    /// Creates a folder that contains an empty folder to share; its state folder does not exist yet.
    static func withSharedFolder() throws -> (folder: TemporaryFolder, share: String, state: String) {
        let folder = try TemporaryFolder()
        let path = try ExclusiveFolder.canonical(folder.path)
        try ExclusiveFolder.makeFolders(path + "/share")
        return (folder, path + "/share", path + "/state")
    }
}
