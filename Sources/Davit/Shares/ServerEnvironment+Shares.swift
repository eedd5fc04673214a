internal import DavitFileStore
internal import DavitServer
internal import DavitSystem

extension ServerEnvironment {
    /// Checks all shares against each other: no state folder may be inside another share, whose clients could
    /// read and change it. Each share keeps the interrupted uploads of the others, because shares can be
    /// nested.
    func checkShares() throws(ServerError) {
        var shares: [OpenShare] = []
        forEachLifecycleObserver { if let share = $0 as? OpenShare { shares.append(share) } }
        for share in shares {
            share.removesLeftovers(besides: shares.filter { $0 !== share })
            for other in shares where other !== share {
                if StateFolder.isInside(share.folder.path, share: other.resources.rootPath) {
                    throw .stateFolderInsideShare(path: share.folder.path)
                }
                if StateFolder.isInside(share.resources.rootPath, share: other.resources.rootPath) {
                    log(
                        .warning, "one share is inside another; locks in one are not enforced in the other",
                        ["share": share.resources.rootPath, "other": other.resources.rootPath])
                }
            }
        }
    }
}
