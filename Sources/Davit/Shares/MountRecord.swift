internal import DavitHTTP
package import DavitStore
internal import DavitSystem

/// The folders of a share as its server has recorded them in the state folder: for the next start, which must complete
/// interrupted changes in the same folders, and for commands that open the state while no server is running.
///
/// A line contains `share`, `mount` or `homes`, the path in the share, the folder, and its identity, separated by spaces.
/// The paths are percent-encoded.
package struct MountRecord: Equatable, Sendable {
    private static let name = "/mounts"

    private enum Kind: String { case share, mount, homes }

    private struct Folder: Equatable, Sendable {
        var kind: Kind
        /// The path in the share; the root for the shared folder.
        var point: ResourcePath
        /// ``point`` in a form that is the same for all Unicode spellings.
        let key: ResourcePath
        var path: [UInt8]
        var identity: ResourceIdentity

        init(_ kind: Kind, at point: ResourcePath, _ path: [UInt8], _ identity: ResourceIdentity) {
            self.kind = kind
            self.point = point
            key = point.equivalenceKey
            self.path = path
            self.identity = identity
        }

        /// Whether a folder has the same content under the same paths. Its own path in the file system may be another.
        func isSame(as other: Folder) -> Bool { key == other.key && identity == other.identity }

        var mounted: WebDAVShare.MountedFolder {
            .init(point.description, folder: String(decoding: path, as: UTF8.self))
        }
    }

    /// Empty if there is no record.
    private var folders: [Folder] = []

    package var mounts: [WebDAVShare.MountedFolder] { folders.filter { $0.kind == .mount }.map(\.mounted) }
    package var homes: WebDAVShare.MountedFolder? { folders.first { $0.kind == .homes }?.mounted }

    /// Creates the record of open folders.
    package init(of open: ShareFolders) {
        folders = [Folder(.share, at: .root, open.root.rootPathBytes, open.root.rootIdentity)]
        for (point, store) in open.mounts {
            let kind = point == open.homes?.path ? Kind.homes : .mount
            folders.append(Folder(kind, at: point, store.rootPathBytes, store.rootIdentity))
        }
    }

    /// Reads the record; it is empty if there is none.
    /// - Throws: `stateNotUsable` if the file cannot be read.
    package init(in stateFolder: String) throws(ServerError) {
        let path = stateFolder + Self.name
        let file: SmallFile
        do throws(SystemError) { file = try SmallFile(reading: path) } catch {
            if error.code == .noEntry { return }
            throw .stateNotUsable(path: path, reason: error.description)
        }
        for line in file.bytes.split(separator: UInt8(ascii: "\n")) {
            guard let folder = Self.parse(line) else {
                throw .stateNotUsable(path: path, reason: "malformed line")
            }
            folders.append(folder)
        }
    }

    private static func parse(_ line: ArraySlice<UInt8>) -> Folder? {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4, let kind = Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
            let point = PercentCoding.decode(words[1]), let path = PercentCoding.decode(words[2]),
            let place = ResourcePath(segments: point.split(separator: UInt8(ascii: "/")))
        else { return nil }
        let numbers = String(decoding: words[3], as: UTF8.self).split(separator: ":")
        guard numbers.count == 2, let inode = UInt64(numbers[0]), let birth = Int64(numbers[1]) else {
            return nil
        }
        return Folder(kind, at: place, path, ResourceIdentity(inode: inode, birth: birth))
    }

    /// Replaces the record in a state folder.
    /// - Throws: `stateFolderNotUsable` if the file cannot be written.
    func write(in stateFolder: String) throws(ServerError) {
        let path = stateFolder + Self.name
        var text: [UInt8] = []
        for folder in folders {
            text += Array("\(folder.kind.rawValue) ".utf8)
            PercentCoding.append(folder.point, to: &text)
            text.append(UInt8(ascii: " "))
            PercentCoding.append(folder.path, to: &text)
            text += Array(" \(folder.identity.inode):\(folder.identity.birth)\n".utf8)
        }
        do throws(SystemError) {
            let old = (try? SmallFile(reading: path))?.bytes
            if text != old { try SmallFile.write(text, to: path, mode: 0o600) }
        } catch {
            throw .stateFolderNotUsable(path: path, error)
        }
    }

    // MARK: Recovery

    /// Checks that the folders in which changes were interrupted are still in their places. In another folder, the changes
    /// would be discarded, or completed on the wrong files. Without a record, there is nothing to compare.
    ///
    /// - Parameters:
    ///   - intents: the interrupted changes.
    ///   - current: the folders of this start.
    ///   - stateFolder: the folder of this record.
    /// - Throws: `foldersChanged`.
    package func check(
        _ intents: [RenameIntent], in current: MountRecord, _ stateFolder: String
    ) throws(ServerError) {
        if folders.isEmpty { return }
        for intent in intents {
            let isRename = intent.attributes == nil && intent.contentLanguage == nil
            let paths = [intent.destination, intent.source, intent.origin?.path, intent.kept]
            for path in paths.compactMap({ $0 }) {
                guard let reason = change(at: path, includesMembers: isRename, in: current) else { continue }
                throw .foldersChanged(
                    path: intent.destination.description, reason: reason, record: stateFolder + Self.name)
            }
        }
    }

    /// Returns what has changed about the folders that contain the resource at a path; nil if nothing has.
    private func change(at path: ResourcePath, includesMembers: Bool, in current: MountRecord) -> String? {
        let key = path.equivalenceKey
        let (old, new) = (owner(of: key), current.owner(of: key))
        if let old, let new, old.isSame(as: new) {
            guard includesMembers else { return nil }
            let unchanged = { (folder: Folder, others: [Folder]) in others.contains { $0.isSame(as: folder) }
            }
            let below = { (folder: Folder) in folder.key != key && key.contains(folder.key) }
            let gone = folders.first { below($0) && !unchanged($0, current.folders) }
            let added = current.folders.first { below($0) && !unchanged($0, folders) }
            if gone == nil && added == nil { return nil }
            return Self.difference(gone, added)
        }
        return Self.difference(old, new)
    }

    /// Returns the folder with the deepest path at or above `key`.
    private func owner(of key: ResourcePath) -> Folder? {
        folders.filter { $0.key.contains(key) }.max { $0.key.depth < $1.key.depth }
    }

    private static func difference(_ old: Folder?, _ new: Folder?) -> String {
        let name = { (folder: Folder) in String(decoding: folder.path, as: UTF8.self) }
        switch (old, new) {
        case (let old?, let new?) where old.key == new.key && old.path == new.path:
            return "\(name(new)) is not the folder that it was at the last start"
        case (let old?, let new?) where old.key == new.key:
            return "\(new.point) is now \(name(new)), and was \(name(old)) at the last start"
        case (let old?, let new) where new == nil || (new?.key.depth ?? 0) < old.key.depth:
            return "\(name(old)) is no longer mounted at \(old.point)"
        case (_, let new?): return "\(name(new)) was not mounted at \(new.point) at the last start"
        case (_, nil): return "the folders have changed"
        }
    }
}
