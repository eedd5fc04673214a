#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Threads of the operating system.
package enum SystemThread {
    /// Starts a detached thread that runs `body` once.
    /// - Parameter name: at most 15 ASCII characters; shown by debuggers and `top -H`.
    package static func start(
        named name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let code = create(Start(name: name, body: body))
        if code != 0 { throw SystemError(errno: code, call: "pthread_create") }
    }

    private static func create(_ start: Start) -> Int32 {
        let context = unsafe Unmanaged.passRetained(start).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        let code = unsafe pthread_create(&thread, nil, { unsafe SystemThread.run($0) }, context)
        if code == 0, let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
        let code = unsafe davit_start_thread({ unsafe SystemThread.run($0) }, context)
        #endif
        if code != 0 { unsafe Unmanaged<Start>.fromOpaque(context).release() }
        return code
    }

    /// Sets the priority of the calling thread. Never fails; if the system refuses, the priority is
    /// unchanged.
    package static func setPriority(_ priority: ThreadPriority) {
        #if canImport(Darwin)
        switch priority {
        case .normal: break
        case .low: pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        case .background: pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
        }
        #else
        switch priority {
        case .normal: break
        case .low: davit_set_nice_value(10)
        case .background: davit_set_nice_value(19)
        }
        #endif
    }

    /// Blocks the calling thread for the given time.
    package static func sleep(seconds: Int) { sleep(milliseconds: seconds * 1000) }

    /// Blocks the calling thread for the given time.
    package static func sleep(milliseconds: Int) {
        var wanted = timespec(tv_sec: time_t(milliseconds / 1000), tv_nsec: milliseconds % 1000 * 1_000_000)
        var left = timespec()
        while unsafe nanosleep(&wanted, &left) != 0, errno == EINTR { wanted = left }
    }

    /// The number of available processor cores; at least 1.
    package static var coreCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Identifies the calling thread; never 0, and unique among running threads.
    package static var current: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        rename(start.name)
        start.body()
        return nil
    }

    /// Renames the calling thread.
    /// - Parameter name: at most 15 ASCII characters.
    package static func rename(_ name: String) {
        #if canImport(Darwin)
        unsafe pthread_setname_np(name)
        #else
        unsafe pthread_setname_np(pthread_self(), name)
        #endif
    }
}
