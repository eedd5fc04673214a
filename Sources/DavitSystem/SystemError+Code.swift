#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension SystemError {
    /// The error numbers that callers decide by, so that only this module needs the C library's names.
    package enum Code: Hashable, Sendable {
        case noEntry, notDirectory, isDirectory, exists, notEmpty
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

    /// Whether somebody else might do it.
    package var isForWantOfRight: Bool { code == .accessDenied || code == .notPermitted }

    /// True where the kernel or the volume does not know the call or its flag, and another way may do.
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

/// Errors that this process finds out itself.
extension SystemError {
    /// The result is no longer needed.
    package static var cancelled: SystemError { SystemError(errno: ECANCELED, call: "checkpoint") }

    /// More symbolic links in one path than anybody follows.
    package static var tooManyLinks: SystemError { SystemError(errno: ELOOP, call: "readlinkat") }

    /// Nothing of the kind that was asked for.
    package static var absent: SystemError { SystemError(errno: ENOENT, call: "openat") }

    /// The answer may have to come from the disk.
    package static var notCached: SystemError { SystemError(errno: EAGAIN, call: "fgetxattr") }
}
