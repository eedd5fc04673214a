#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Owns an open descriptor and closes it once, at the end of its life.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number, valid as long as the owner lives.
    public let rawValue: Int32

    /// Takes over an open descriptor; nobody else closes it from now on.
    public init(owning rawValue: Int32) { self.rawValue = rawValue }

    // EINTR leaves the descriptor closed on Linux and Apple, so that a second try could close a stranger's.
    deinit { _ = close(rawValue) }

    /// Gives up ownership: the caller closes the number.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}
