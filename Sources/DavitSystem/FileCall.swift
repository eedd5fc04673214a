#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The one way to a file-system call: the loop for interrupted calls, errors with the name of their call,
/// and in debug builds the fault hook.
enum FileCall {
    /// Runs `call`, again when a signal interrupted it.
    ///
    /// - Parameter call: returns -1 and sets `errno` on failure; has no other effect when interrupted.
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
