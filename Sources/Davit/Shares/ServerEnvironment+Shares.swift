internal import DavitFileStore
internal import DavitServer
internal import DavitSystem

extension ServerEnvironment {
    /// State of one share inside another would be served, and swept. Uploads of one share inside another are kept.
    func checkShares() throws(ServerError) {
        var shares: [OpenShare] = []
        forEachResident { if let share = $0 as? OpenShare { shares.append(share) } }
        for share in shares {
            share.removesLeftovers(besides: shares.filter { $0 !== share })
            for other in shares where other !== share {
                if StateFolder.isInside(share.folder.path, share: other.resources.rootPath) {
                    throw .stateFolderInsideShare(path: share.folder.path)
                }
                if StateFolder.isInside(share.resources.rootPath, share: other.resources.rootPath) {
                    log(
                        .warning, "a share lies inside another: neither knows the locks of the other",
                        ["share": share.resources.rootPath, "other": other.resources.rootPath])
                }
            }
        }
    }
}
