/// The reason why a store operation failed. The engine maps each case to a status, without a `default`.
public enum StoreError: Error, Hashable, Sendable {
    /// The result is not in memory and the caller must not wait; retry where waiting is allowed.
    case wouldBlock
    case notFound
    /// An ancestor is missing or is not a collection.
    case missingAncestor
    case alreadyExists
    /// The target is a collection and the operation requires content, or vice versa.
    case wrongKind
    /// The operating system denies access, or the name is reserved.
    case forbidden
    /// The copy of a tree would exceed the maximum number of levels.
    case tooDeep
    /// The volume is full, or cannot hold a file of this length.
    case outOfSpace
    /// The volume has free space, but this process may not use it because of a quota or the configured
    /// reserve.
    case quotaExceeded
    /// The file system does not accept the bytes of the name.
    case invalidName
    /// The name is longer than the file system allows: no such resource can exist or be created.
    case nameTooLong
    /// A rename would cross volumes.
    case crossVolume
    /// Too many symbolic links, or a cyclic link.
    case loop
    /// A temporary failure, such as a lack of file descriptors or memory; a retry may succeed.
    case busy
    /// Another server has taken over the content that was being written.
    case superseded
    /// Another server has changed the access rules while the call was waiting, and the new ones are in effect now. The caller
    /// must decide again what it has decided with the old ones, and repeat the call.
    case rightsChanged
    /// Any other error of the disk, or a bug; `reason` is for the log.
    case failed(reason: String)
}

extension StoreError {
    /// A message for the log and for administrators.
    package var text: String {
        switch self {
        case .wouldBlock: "the result is not available without waiting"
        case .notFound: "not found"
        case .missingAncestor: "a parent folder is missing or is not a folder"
        case .alreadyExists: "the name is already in use"
        case .wrongKind: "a folder was found instead of a file, or vice versa"
        case .forbidden: "access denied, or the volume is read-only"
        case .tooDeep: "the folders are nested too deeply"
        case .outOfSpace: "out of space"
        case .quotaExceeded: "a quota or a configured limit is exceeded"
        case .invalidName: "the file system does not accept the name"
        case .nameTooLong: "the name is too long"
        case .crossVolume: "the source and the destination are on different volumes"
        case .loop: "too many symbolic links"
        case .busy: "temporarily out of resources, such as file descriptors or memory"
        case .superseded: "another server has taken over the upload"
        case .rightsChanged: "another server has changed the access rules"
        case .failed(let reason): reason
        }
    }

    /// Whether the error concerns only the one resource that was accessed, for example because it was removed
    /// in the meantime. Other errors can affect every access.
    package var concernsOneResource: Bool {
        switch self {
        case .forbidden, .notFound, .missingAncestor, .wrongKind, .loop, .invalidName, .nameTooLong: true
        case .wouldBlock, .alreadyExists, .tooDeep, .outOfSpace, .quotaExceeded, .crossVolume, .busy,
            .rightsChanged,
            .superseded, .failed:
            false
        }
    }
}
