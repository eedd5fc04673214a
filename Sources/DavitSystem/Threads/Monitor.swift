#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A value protected by a lock, with a condition variable that threads can wait on.
///
/// `value` is accessed only while `mutex` is held, which justifies the unchecked conformance.
@safe package final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(_ value: sending Value) {
        self.value = value
        // Heap-allocated, because the address of a lock must not change.
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        unsafe pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func withLock<R>(_ body: (inout Value) -> sending R) -> sending R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Waits until `body` returns a value; calls it again after each signal.
    package func wait<R>(_ body: (inout Value) -> sending R?) -> sending R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until `body` returns a value, for at most this time; calls it again after each signal.
    /// - Returns: nil if the time has passed.
    package func wait<R>(milliseconds: Int64, _ body: (inout Value) -> sending R?) -> sending R? {
        var end = timespec()
        // The clock of the condition variable, which Apple systems do not let a program choose.
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        #else
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        #endif
        let nanoseconds = Int64(end.tv_nsec) + milliseconds % 1000 * 1_000_000
        end.tv_sec += time_t(milliseconds / 1000 + nanoseconds / 1_000_000_000)
        end.tv_nsec = Int(nanoseconds % 1_000_000_000)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if unsafe pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return body(&value) }
        }
    }

    /// Wakes one waiting thread.
    package func signal() { unsafe pthread_cond_signal(condition) }

    /// Wakes all waiting threads.
    package func broadcast() { unsafe pthread_cond_broadcast(condition) }
}
