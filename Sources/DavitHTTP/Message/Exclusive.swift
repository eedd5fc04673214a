public import Synchronization

/// A value that must not be used concurrently, for example the state of a ``BodyStream``, which passes from the
/// request's task to a job of the thread pool and back.
///
/// The owner must ensure that uses do not overlap, for example by waiting for the job. Debug builds verify
/// this and trap on an overlapping or nested use. Release builds wait for the other use instead, so that a
/// bug cannot corrupt memory. The value is stored inline; a use costs two uncontended atomic operations.
public struct Exclusive<Value: ~Copyable>: ~Copyable, Sendable {
    // This type is public because the compiler inlines only public generic functions into other modules. Without
    // inlining, each use requests the metadata of the value's type at run time.
    @usableFromInline let value: Mutex<Value>

    /// - Parameter value: the initial value.
    @inlinable @inline(__always) public init(_ value: consuming sending Value) { self.value = Mutex(value) }

    /// Calls `body` with the value. `body` must not call this method of the same object.
    @inlinable @inline(__always) public borrowing func withValue<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        #if DEBUG
        guard let result = try value.withLockIfAvailable(body) else {
            preconditionFailure("overlapping uses of an exclusive value")
        }
        return result
        #else
        return try value.withLock(body)
        #endif
    }
}
