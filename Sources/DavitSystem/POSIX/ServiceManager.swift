#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// systemd, or another service manager that speaks its two protocols: sockets that were opened before the service
/// (sd_listen_fds(3)), and messages about its state (sd_notify(3)). Both are environment variables and a few lines;
/// without the variables nothing happens.
public enum ServiceManager {
    /// The first descriptor that is handed over.
    private static let firstSocket: Int32 = 3

    /// The sockets that were opened for this process, in the order of the unit; none if it was started in another way.
    /// Their names do not count. Each call returns the same: call it once, and let one server have them.
    public static func inheritedSockets() -> [Int32] {
        inheritedSockets(
            process: Environment.variable("LISTEN_PID"), count: Environment.variable("LISTEN_FDS"))
    }

    /// - Parameters:
    ///   - process: whom the sockets are for. A program that this service starts inherits the variable as well.
    package static func inheritedSockets(process: String?, count: String?, own: Int32 = getpid()) -> [Int32] {
        guard let process, Int32(process) == own, let count, let count = Int32(count), count > 0,
            count <= 1024
        else { return [] }
        return (0..<count).map { firstSocket + $0 }
    }

    /// The service serves: after its start, and again after ``reloading()``.
    public static func ready() { notify("READY=1") }

    /// The service has been asked to stop, and requests in flight are ending.
    public static func stopping() { notify("STOPPING=1") }

    /// Settings are being read again; ``ready()`` follows.
    public static func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(Clock.now() / 1000)") }

    /// The service is alive; to be said more often than ``watchdogInterval``.
    public static func alive() { notify("WATCHDOG=1") }

    /// Without a sign of life for so long the manager restarts the service; nil if it does not wait for one.
    public static var watchdogInterval: Duration? {
        watchdogInterval(
            process: Environment.variable("WATCHDOG_PID"), microseconds: Environment.variable("WATCHDOG_USEC")
        )
    }

    package static func watchdogInterval(
        process: String?, microseconds: String?, own: Int32 = getpid()
    ) -> Duration? {
        if let process, Int32(process) != own { return nil }
        guard let microseconds, let value = Int64(microseconds), value > 0 else { return nil }
        return .microseconds(value)
    }

    private static func notify(_ message: String) {
        guard let address = Environment.variable("NOTIFY_SOCKET") else { return }
        notify(message, at: address)
    }

    /// One datagram. Nobody can do anything about one that does not arrive.
    /// - Parameter address: a path, or a name outside the file system behind `@`.
    package static func notify(_ message: String, at address: String) {
        guard address.hasPrefix("/") || address.hasPrefix("@"), address.utf8.count <= LocalAddress.limitBytes,
            let socket = Socket.localDatagram()
        else { return }
        let bytes = Array(message.utf8)
        unsafe LocalAddress.withNotifyAddress(address) { name, length in
            unsafe bytes.withUnsafeBytes { bytes in
                _ = unsafe sendto(
                    socket.rawValue, bytes.baseAddress, bytes.count, 0, name, length)
            }
        }
    }
}

extension LocalAddress {
    /// As ``withSystemAddress(_:_:)``, also for names outside the file system, whose length counts.
    fileprivate static func withNotifyAddress(
        _ address: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
    ) {
        var raw = sockaddr_un()
        raw.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: raw.sun_path)
        unsafe withUnsafeMutableBytes(of: &raw.sun_path) { unsafe $0.copyBytes(from: bytes) }
        unsafe withUnsafePointer(to: &raw) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(offset + bytes.count))
            }
        }
    }
}
