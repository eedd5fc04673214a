package import Synchronization

/// A value that one task or job uses at a time, for example the state of a request, which passes from the
/// request's task to a job of the thread pool and back.
///
/// The owner guarantees that uses do not overlap, because the task waits for the job. Debug builds verify
/// this: an overlapping use, including one inside another, ends the process. Release builds wait for the
/// other use instead, so that a fault does not corrupt memory. The value is stored inline; a use costs two
/// uncontended atomic operations.
package struct Exclusive<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let value: Mutex<Value>

    @inlinable package init(_ value: consuming sending Value) { self.value = Mutex(value) }

    /// Calls `body` with the value. `body` must not use it through this object.
    @inlinable package borrowing func withValue<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        #if DEBUG
        guard let result = try value.withLockIfAvailable(body) else {
            preconditionFailure("two uses of a value that one task uses at a time")
        }
        return result
        #else
        return try value.withLock(body)
        #endif
    }
}
