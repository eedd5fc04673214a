package import DavitHTTP
package import DavitStore

/// A store whose resources are files in folders of this machine.
package protocol FolderStore: ResourceStore {
    /// Returns the file system path of a resource; bytes that are not UTF-8 are replaced. May block.
    func filePath(_ path: ResourcePath) -> String
    /// Returns a watch for the folders of the store.
    func makeWatch() -> FolderWatch
}

extension FileResourceStore: FolderStore {
    package func filePath(_ path: ResourcePath) -> String {
        (rootPath == "/" ? "" : rootPath) + path.description
    }

    package func makeWatch() -> FolderWatch { FolderWatch(self) }
}
