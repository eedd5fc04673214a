#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A failed system call: the error number and the name of the call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number of the system, such as `ENOENT`.
    public let errno: Int32
    /// The name of the call that failed.
    public let call: StaticName

    /// The name of a call; like `StaticString`, but hashable.
    public struct StaticName: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name.
        public let text: String
        public init(stringLiteral text: String) { self.text = text }
    }

    /// Creates an error of `call`.
    public init(errno: Int32, call: StaticName) {
        self.errno = errno
        self.call = call
    }

    public var description: String {
        let text = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
        return "\(call.text): \(text)"
    }
}
