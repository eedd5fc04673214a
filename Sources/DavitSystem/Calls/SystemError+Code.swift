#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension SystemError {
    /// The error numbers that callers distinguish, so that only this module needs the C library's constants.
    package enum Code: Hashable, Sendable {
        case noEntry, stale, notDirectory, isDirectory, exists, notEmpty
        case accessDenied, notPermitted, readOnlyVolume, busy
        case noSpace, overQuota, fileTooBig, tooManyLinks
        case nameTooLong, illegalBytes, invalid
        case crossVolume, loop, again
        case descriptorsOfProcess, descriptorsOfSystem, noMemory
        case noSystemCall, notSupported, badDescriptor, noData, bufferTooSmall, noLocks, noDevice
        case cancelled
        case other
    }

    package var code: Code {
        switch errno {
        case ENOENT: .noEntry
        case ENOTDIR: .notDirectory
        case EISDIR: .isDirectory
        case EEXIST: .exists
        case ENOTEMPTY: .notEmpty
        case EACCES: .accessDenied
        case EPERM: .notPermitted
        case EROFS: .readOnlyVolume
        case EBUSY, ETXTBSY: .busy
        case ENOSPC: .noSpace
        case EDQUOT: .overQuota
        case EFBIG: .fileTooBig
        case EMLINK: .tooManyLinks
        case ENAMETOOLONG: .nameTooLong
        case EILSEQ: .illegalBytes
        case EINVAL: .invalid
        case EXDEV: .crossVolume
        case ELOOP: .loop
        case EAGAIN: .again
        // ext4 reports a file as stale that is removed while its name is looked up, and NFS one that no longer exists.
        case ESTALE: .stale
        case EMFILE: .descriptorsOfProcess
        case ENFILE: .descriptorsOfSystem
        case ENOMEM: .noMemory
        case ENOSYS: .noSystemCall
        case ENOTSUP, EOPNOTSUPP, ENOTTY: .notSupported
        case EBADF: .badDescriptor
        case ERANGE: .bufferTooSmall
        case ENOLCK: .noLocks
        case ENXIO: .noDevice
        case ECANCELED: .cancelled
        default: Self.isMissingAttribute(errno) ? .noData : .other
        }
    }

    /// Whether the error is a lack of permission.
    package var isPermissionDenied: Bool { code == .accessDenied || code == .notPermitted }

    /// Whether the kernel or the volume does not support the call or a flag, so that another method may work.
    package var isUnsupported: Bool {
        switch code {
        case .noSystemCall, .notSupported, .invalid: true
        default: false
        }
    }

    private static func isMissingAttribute(_ number: Int32) -> Bool {
        #if canImport(Darwin)
        number == ENOATTR
        #else
        number == ENODATA
        #endif
    }
}

/// Errors that originate in this process.
extension SystemError {
    /// The work was canceled, because its result is no longer needed.
    package static var cancelled: SystemError { SystemError(errno: ECANCELED, call: "checkpoint") }

    /// The path contains too many symbolic links.
    package static var tooManyLinks: SystemError { SystemError(errno: ELOOP, call: "readlinkat") }

    /// No file of the requested kind exists.
    package static var absent: SystemError { SystemError(errno: ENOENT, call: "openat") }

    /// The result is not cached and may require disk access.
    package static var notCached: SystemError { SystemError(errno: EAGAIN, call: "fgetxattr") }
}
