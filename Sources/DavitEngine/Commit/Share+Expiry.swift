package import DavitHTTP
internal import DavitStore

extension Share {
    /// Removes an expired resource, unless a client has locked it or a request is about to change it.
    ///
    /// - Parameter removal: removes the resource and everything below it, and returns whether it did. May
    ///   block.
    /// - Returns: whether the resource was removed.
    package func expire(_ path: ResourcePath, _ removal: () -> Bool) -> Bool {
        let isDone = pathLocks.withPathLockIfFree([PathLockRequest(path: path, mode: .exclusive)]) {
            () -> Bool? in
            guard state.locks(covering: path, now: now()).isEmpty, removal() else { return false }
            dropRows(under: path)
            return true
        }
        return isDone ?? false
    }
}
