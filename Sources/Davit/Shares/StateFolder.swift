internal import DavitFileStore
internal import DavitSystem

/// Finds, makes and locks the folder that holds what the file system cannot: locks, properties, intents.
enum StateFolder {
    /// Where the state of a share belongs; nothing is made.
    ///
    /// - Parameters:
    ///   - given: what the configuration names; nil for a folder of the share's own below the user's state folder.
    ///   - share: what is shared.
    static func path(_ given: String?, share: FileResourceReader) throws(ServerError) -> String {
        if let given { return given }
        do throws(Failure) {
            return try StateFolderName.path(
                forShare: share.rootPathBytes, environment: Environment.variable)
        } catch {
            throw .noStateFolder
        }
    }

    /// Makes the folder of ``path(_:share:)`` if it is missing, and takes its lock.
    static func open(_ given: String?, share: FileResourceStore) throws(ServerError) -> OwnedFolder {
        let path = try path(given, share: share.reader)
        if isInside(path, share: share.rootPath) { throw .stateFolderInsideShare(path: path) }
        do throws(OwnedFolder.Failure) {
            return try OwnedFolder(path: path)
        } catch {
            switch error {
            case .held(let process): throw .stateFolderHeld(path: path, byProcess: process)
            case .notUsable(let error): throw .stateFolderNotUsable(path: path, error)
            }
        }
    }

    /// True if a folder is the share, or below it.
    ///
    /// Looks at where the folder would come to be: nothing is made before this is known.
    static func isInside(_ path: String, share: String) -> Bool {
        var existing = path.hasPrefix("/") ? path : "./" + path
        var rest: [Substring] = []
        while true {
            if let real = try? OwnedFolder.canonical(existing) {
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
