import DavitSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs `body` with the faults of `plan`, which affect calls of this thread only.
@discardableResult
func withFaults<R>(_ plan: FaultPlan, _ body: () throws -> R) rethrows -> R {
    try FileFaults.$plan.withValue(plan, operation: body)
}

enum Errno {
    static let again = EAGAIN
    static let access = EACCES
    static let io = EIO
    static let stale = ESTALE
    static let noSpace = ENOSPC
    static let overQuota = EDQUOT
    static let crossVolume = EXDEV
    static let notPermitted = EPERM
    static let invalid = EINVAL
    static let notSupported = EOPNOTSUPP
    static let noDescriptors = EMFILE
}
