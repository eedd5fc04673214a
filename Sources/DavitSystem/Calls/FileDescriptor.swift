#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Owns an open descriptor and closes it at the end of its lifetime.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number of the descriptor, valid for the lifetime of this value.
    public let rawValue: Int32

    /// Takes ownership of an open descriptor; no other code may close it. A negative number stands for none.
    public init(owning rawValue: Int32) { self.rawValue = rawValue }

    // Linux and Apple systems close the descriptor even on EINTR, so repeating the call could close an
    // unrelated one.
    deinit { if rawValue >= 0 { _ = close(rawValue) } }

    /// Releases ownership without closing: the caller must close the descriptor.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}
