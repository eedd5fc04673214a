#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The interface to systemd, or to another service manager that supports its protocols: socket activation
/// (sd_listen_fds(3)) and state notifications (sd_notify(3)). Both use environment variables; without them,
/// the methods do nothing.
public enum ServiceManager {
    /// The first inherited descriptor.
    private static let firstSocket: Int32 = 3

    /// Returns the sockets that were opened for this process, in the order of the unit file; empty if the
    /// process was started without socket activation. The names of the sockets are ignored. Every call
    /// returns the same descriptors, so call it once, for a single server.
    public static func inheritedSockets() -> [Int32] {
        inheritedSockets(
            process: Environment.variable("LISTEN_PID"), count: Environment.variable("LISTEN_FDS"))
    }

    /// - Parameters:
    ///   - process: the process ID that the sockets are intended for. Programs that this service starts
    ///     inherit the variables, but must not use the sockets.
    package static func inheritedSockets(process: String?, count: String?, own: Int32 = getpid()) -> [Int32] {
        guard let process, Int32(process) == own, let count, let count = Int32(count), count > 0,
            count <= 1024
        else { return [] }
        return (0..<count).map { firstSocket + $0 }
    }

    /// Whether notifications are sent to an abstract socket, which is not a file.
    package static var usesAbstractSocket: Bool {
        Environment.variable("NOTIFY_SOCKET")?.hasPrefix("@") == true
    }

    /// Reports that the service is ready: after startup, and again after ``reloading()``.
    public static func ready() { notify("READY=1") }

    /// Reports that the service is stopping and requests in flight are ending.
    public static func stopping() { notify("STOPPING=1") }

    /// Reports that the configuration is being reloaded; ``ready()`` follows.
    public static func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(Clock.now() / 1000)") }

    /// Reports that the service is alive. Must be called at intervals shorter than ``watchdogInterval``.
    public static func alive() { notify("WATCHDOG=1") }

    /// The time without ``alive()`` after which the manager restarts the service; nil if the watchdog is
    /// disabled.
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

    /// Sends one datagram. Failures are ignored.
    /// - Parameter address: a path, or `@` and the name of an abstract socket.
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
    /// Like ``withSystemAddress(_:_:)``, but also supports abstract names, whose length is significant.
    static func withNotifyAddress<R>(
        _ address: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var raw = sockaddr_un()
        raw.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: raw.sun_path)
        unsafe withUnsafeMutableBytes(of: &raw.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &raw) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(offset + bytes.count))
            }
        }
    }
}
