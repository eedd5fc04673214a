#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Repeats a call while signals interrupt it; returns its result and the error number.
@inline(__always)
func uninterrupted<Result: FixedWidthInteger & SignedInteger>(
    _ call: () -> Result
) -> (result: Result, errno: Int32) {
    while true {
        let result = call()
        if result != -1 { return (result, 0) }
        let number = errno
        if number != EINTR { return (result, number) }
    }
}

/// Like ``uninterrupted(_:)``, but throws the error.
@inline(__always)
func checked<Result: FixedWidthInteger & SignedInteger>(
    _ name: SystemError.StaticName, _ call: () -> Result
) throws(SystemError) -> Result {
    let (result, number) = uninterrupted(call)
    if result == -1 { throw SystemError(errno: number, call: name) }
    return result
}
