internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// The folder for macOS metadata files, in the state folder of a share with ``MacMetadataPolicy/aside``.
final class MacMetadataFolder: Sendable {
    /// The minimum interval between sweeps.
    private static let intervalNanoseconds: Int64 = 3600 * 1_000_000_000

    let store: SidecarStore
    let folder: FileResourceStore
    private let lastSweep = Atomic<Int64>(0)

    /// Opens or creates the folder.
    ///
    /// - Parameters:
    ///   - share: the share that the metadata files belong to.
    ///   - state: the state folder.
    init(
        of share: any FolderStore, in state: ExclusiveFolder, _ configuration: WebDAVShare
    ) throws(ServerError) {
        let path = state.path + "/litter"
        do throws(SystemError) { try ExclusiveFolder.makeFolders(path) } catch {
            throw .stateFolderNotUsable(path: path, error)
        }
        do throws(FileResourceStore.RootError) {
            folder = try FileResourceStore(
                root: path, sync: configuration.sync, keepsFree: configuration.keptFreeBytes)
        } catch {
            throw .stateNotUsable(path: path, reason: error.text)
        }
        store = SidecarStore(share, sidecarFolder: folder)
    }

    /// Removes expired files, at most once per interval. Can block.
    func sweep(_ share: Share) {
        let now = Clock.wallNow()
        let last = lastSweep.load(ordering: .relaxed)
        guard last == 0 || now - last >= Self.intervalNanoseconds,
            lastSweep.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        let time = Timestamp(nanoseconds: now).adding(seconds: -SidecarStore.keptSeconds)
        store.expire(before: time) { path, removal in share.locks.removeUnlocked(path, removal) }
    }
}
