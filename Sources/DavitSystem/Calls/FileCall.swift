#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The common path of most file-system calls: it repeats interrupted calls, throws errors with the name of
/// the call and, in debug builds, injects faults.
enum FileCall {
    /// Runs `call`, and repeats it if a signal interrupts it.
    ///
    /// - Parameter call: returns -1 and sets `errno` on failure; must have no effect if it is interrupted.
    @inline(__always)
    static func run<Result: SignedInteger>(
        _ name: SystemError.StaticName, _ call: () -> Result
    ) throws(SystemError) -> Result {
        #if DAVIT_FAULTS
        try FileFaults.pass(name)
        #endif
        while true {
            let result = call()
            if result != -1 { return result }
            let number = errno
            if number != EINTR { throw SystemError(errno: number, call: name) }
        }
    }
}
