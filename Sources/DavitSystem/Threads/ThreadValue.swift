#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An object that each thread sees as its own: the one that a caller further up on the same thread has set.
///
/// The conformance is unchecked: the key never changes, and each thread reads and writes its own value.
package final class ThreadValue<Value: AnyObject>: @unchecked Sendable {
    private let key: pthread_key_t

    /// The process can have about a thousand of these at the same time.
    package init() {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-specific key is left")
        self.key = key
    }

    deinit { pthread_key_delete(key) }

    /// The object of the present thread; nil outside of ``with(_:_:)``.
    package var current: Value? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs `body` with `value` as the object of the present thread.
    package func with<R, E: Error>(_ value: Value, _ body: () throws(E) -> R) throws(E) -> R {
        let outer = unsafe pthread_getspecific(key)
        _ = unsafe pthread_setspecific(key, Unmanaged.passUnretained(value).toOpaque())
        defer {
            _ = unsafe pthread_setspecific(key, outer)
            withExtendedLifetime(value) {}
        }
        return try body()
    }
}
