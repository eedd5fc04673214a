package import DavitFileStore
internal import DavitSystem

/// Finds, creates and locks the folder for data that the shared folder cannot hold, such as locks, properties
/// and records of operations in progress.
package enum StateFolder {
    /// Returns the path of the state folder of a share. Creates nothing.
    ///
    /// - Parameters:
    ///   - given: the configured path; nil for a folder named after the share in the user's state folder.
    ///   - share: the shared folder.
    package static func path(
        _ given: String?, share: FileResourceReader
    ) throws(ServerError) -> String {
        if let given { return given }
        return try StateFolderName.path(forShare: share.rootPathBytes, environment: Environment.variable)
    }

    /// Creates the folder at ``path(_:share:)`` if it does not exist, and locks it.
    static func open(_ given: String?, share: FileResourceStore) throws(ServerError) -> ExclusiveFolder {
        let path = try path(given, share: share.reader)
        if isInside(path, share: share.rootPath) { throw .stateFolderInsideShare(path: path) }
        do throws(ExclusiveFolder.Failure) {
            return try ExclusiveFolder(path: path)
        } catch {
            switch error {
            case .held(let process): throw .stateFolderHeld(path: path, byProcess: process)
            case .notUsable(let error): throw .stateFolderNotUsable(path: path, error)
            }
        }
    }

    /// Whether `path` is the share or inside it.
    ///
    /// Resolves the path without creating any part of it, because nothing may be created inside a share.
    package static func isInside(_ path: String, share: String) -> Bool {
        var existing = path.hasPrefix("/") ? path : "./" + path
        var rest: [Substring] = []
        while true {
            if let real = try? ExclusiveFolder.canonical(existing) {
                let whole = rest.reversed().reduce(real == "/" ? "" : real) { $0 + "/" + $1 }
                let root = share == "/" ? "" : share
                return whole == share || whole.hasPrefix(root + "/")
            }
            guard let slash = existing.lastIndex(of: "/"), slash != existing.startIndex else { return false }
            rest.append(existing[existing.index(after: slash)...])
            existing = String(existing[..<slash])
        }
    }
}
