internal import DavitHTTP
internal import DavitStore

/// An error that can indicate a lack of space on a volume.
protocol SpaceError: Error {
    var isOutOfSpace: Bool { get }
    /// The error to throw if the call must be repeated on a thread that may block.
    static var mustWait: Self { get }
}

extension StoreError: SpaceError {
    var isOutOfSpace: Bool { self == .outOfSpace || self == .quotaExceeded }
    static var mustWait: StoreError { .wouldBlock }
}

extension WebDAVError: SpaceError {
    var isOutOfSpace: Bool { status == .insufficientStorage }
    static var mustWait: WebDAVError { WebDAVError(store: .wouldBlock) }
}
