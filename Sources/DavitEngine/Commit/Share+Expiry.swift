package import DavitHTTP
internal import DavitStore

extension Share {
    /// Removes a resource whose time is up, if nobody has locked it and nobody is about to change it.
    ///
    /// - Parameter removal: removes what stands at the path and everything below it, and says whether it has. May block.
    /// - Returns: whether it was done.
    package func expire(_ path: ResourcePath, _ removal: () -> Bool) -> Bool {
        let isDone = sections.withSectionIfFree([Claim(path: path, mode: .exclusive)]) { () -> Bool? in
            guard state.locks(covering: path, now: now()).isEmpty, removal() else { return false }
            dropRows(under: path)
            return true
        }
        return isDone ?? false
    }
}
