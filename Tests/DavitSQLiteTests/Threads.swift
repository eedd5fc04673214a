#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

private final class Job: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// - Parameter argument: a job, retained for this call.
    static func run(_ argument: UnsafeMutableRawPointer?) {
        guard let argument = unsafe argument else { return }
        unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
    }
}

#if canImport(Darwin)
private typealias Thread = pthread_t?
#else
private typealias Thread = pthread_t
#endif

/// Runs `body` on `count` new threads concurrently, and waits for all of them.
func withThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    #if canImport(Darwin)
    var threads = [Thread](repeating: nil, count: count)
    #else
    var threads = [Thread](repeating: 0, count: count)
    #endif
    for number in 0..<count {
        let job = unsafe Unmanaged.passRetained(Job { body(number) }).toOpaque()
        let code = unsafe pthread_create(
            &threads[number], nil,
            { argument in
                unsafe Job.run(argument)
                return nil
            }, job)
        precondition(code == 0, "cannot create a thread")
    }
    #if canImport(Darwin)
    for thread in threads { if let thread { pthread_join(thread, nil) } }
    #else
    for thread in threads { pthread_join(thread, nil) }
    #endif
}
