#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A system call that failed: the error number and the call it came from.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the system, as `ENOENT`.
    public let errno: Int32
    /// Which call failed.
    public let call: StaticName

    /// The name of a call; a `StaticString` that can be compared.
    public struct StaticName: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name.
        public let text: String
        public init(stringLiteral text: String) { self.text = text }
    }

    /// An error of `call`.
    public init(errno: Int32, call: StaticName) {
        self.errno = errno
        self.call = call
    }

    public var description: String {
        let text = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
        return "\(call.text): \(text)"
    }
}
