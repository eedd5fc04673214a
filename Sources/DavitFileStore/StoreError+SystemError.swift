internal import DavitStore
internal import DavitSystem

extension StoreError {
    /// Maps a system error to a store error.
    ///
    /// - Parameter absent: the error for `ENOENT`; `missingAncestor` if only the directory of the name can be
    ///   missing.
    init(_ error: SystemError, absent: StoreError = .notFound) {
        self =
            switch error.code {
            case .noEntry: absent
            case .notDirectory: .missingAncestor
            case .isDirectory: .wrongKind
            case .exists, .notEmpty: .alreadyExists
            case .accessDenied, .notPermitted, .readOnlyVolume, .busy: .forbidden
            case .noSpace, .fileTooBig, .tooManyLinks: .outOfSpace
            case .overQuota: .quotaExceeded
            case .nameTooLong: .nameTooLong
            case .illegalBytes, .invalid: .invalidName
            case .crossVolume: .crossVolume
            case .loop: .loop
            case .descriptorsOfProcess, .descriptorsOfSystem, .noMemory, .again, .cancelled, .stale:
                .busy
            case .noSystemCall, .notSupported, .badDescriptor, .noData, .bufferTooSmall, .noLocks, .noDevice,
                .other:
                .failed(reason: error.description)
            }
    }
}

/// Runs `body`, which makes system calls, and converts its error to a store error.
@inline(__always)
func storing<Result: ~Copyable>(
    absent: StoreError = .notFound, _ body: () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do {
        return try body()
    } catch {
        throw StoreError(error, absent: absent)
    }
}
