/// Why a store could not do what was asked. The engine gives each case its status, without a `default`.
public enum StoreError: Error, Hashable, Sendable {
    /// The answer is not in memory and the caller said not to wait; ask again where waiting is allowed.
    case wouldBlock
    case notFound
    /// An ancestor is missing or is not a collection.
    case missingAncestor
    case alreadyExists
    /// The target is a collection and the operation needs content, or the other way round.
    case wrongKind
    /// The operating system refuses, or the name is reserved.
    case forbidden
    /// The copy of a tree would have more levels than it may.
    case tooDeep
    /// The volume is full, or cannot hold a file of this length.
    case outOfSpace
    /// The volume has room, but this process may not use it: a quota, or what it was told to keep free.
    case quotaExceeded
    /// The file system does not take the bytes of the name.
    case invalidName
    /// The name is longer than the file system takes: nothing can be there, and nothing be made.
    case nameTooLong
    /// A rename would cross from one volume to another.
    case crossVolume
    /// Too many symbolic links, or a link that leads into itself.
    case loop
    /// No descriptor or memory left; worth trying again.
    case busy
    /// Anything else: a fault of the disk or of this program; `reason` is for the log.
    case failed(reason: String)
}
