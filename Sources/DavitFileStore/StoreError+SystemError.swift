internal import DavitStore
internal import DavitSystem

extension StoreError {
    /// What an error of the system means for a resource.
    ///
    /// - Parameter absent: what a missing name means here; `missingAncestor` where it can only be the
    ///   directory.
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
            case .descriptorsOfProcess, .descriptorsOfSystem, .noMemory, .again, .cancelled: .busy
            case .noSystemCall, .notSupported, .badDescriptor, .noData, .bufferTooSmall, .noLocks, .noDevice,
                .other:
                .failed(reason: error.description)
            }
    }
}

/// Runs system calls; their errors come out as the store's.
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
