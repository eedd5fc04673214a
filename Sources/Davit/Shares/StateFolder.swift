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
    static func open(_ given: String?, of folders: ShareFolders) throws(ServerError) -> ExclusiveFolder {
        let path = try path(given, share: folders.root.reader)
        if folders.contains(path) { throw .stateFolderInsideShare(path: path) }
        try checkMounts(of: folders, outside: path)
        do throws(ExclusiveFolder.Failure) {
            return try ExclusiveFolder(path: path)
        } catch {
            switch error {
            case .held(let process): throw .stateFolderHeld(path: path, byProcess: process)
            case .notUsable(let error): throw .stateFolderNotUsable(path: path, error)
            }
        }
    }

    /// Checks that no mounted folder is inside a state folder: clients could change what the server stores there.
    private static func checkMounts(
        of folders: ShareFolders, outside path: String
    ) throws(ServerError) {
        guard let state = try? ExclusiveFolder.canonical(path) else { return }
        for (point, store) in folders.mounts where isInside(store.rootPath, share: state) {
            throw .mountNotUsable(
                reason: "cannot mount a folder at \(point): \(store.rootPath) is inside the state folder")
        }
    }

    /// The maximum number of links that are followed, as by the system.
    private static let limitLinks = 40

    /// Whether `path` is the share or inside it.
    ///
    /// Resolves the path without creating any part of it, because nothing may be created inside a share.
    package static func isInside(_ path: String, share: String) -> Bool {
        var existing = path.hasPrefix("/") ? path : "./" + path
        var rest: [Substring] = []
        var links = 0
        while true {
            if let real = try? ExclusiveFolder.canonical(existing) {
                let whole = rest.reversed().reduce(real == "/" ? "" : real) { $0 + "/" + $1 }
                let root = share == "/" ? "" : share
                return whole == share || whole.hasPrefix(root + "/")
            }
            guard let slash = existing.lastIndex(of: "/"), slash != existing.startIndex else { return false }
            // A dangling link: a file that is created through it would be at its target.
            if links < limitLinks, let target = ExclusiveFolder.linkTarget(existing) {
                links += 1
                existing = target.hasPrefix("/") ? target : existing[...slash] + target
                continue
            }
            rest.append(existing[existing.index(after: slash)...])
            existing = String(existing[..<slash])
        }
    }
}
