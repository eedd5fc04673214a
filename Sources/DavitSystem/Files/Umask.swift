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

/// The umask of this process, determined on first use.
package enum Umask {
    package static let bits: UInt32 = statusBits() ?? changedAndRestored()

    /// Determines the umask by changing and restoring it. For a moment, files created by other threads are
    /// private.
    private static func changedAndRestored() -> UInt32 {
        let mask = umask(0o077)
        umask(mask)
        return UInt32(mask)
    }

    /// Reads the line `Umask: 0022` from the process status of Linux (since 4.7).
    private static func statusBits() -> UInt32? {
        guard let root = try? RootDirectory(opening: "/proc/self"),
            let file = try? root.descriptor.open(Array("status".utf8), for: .content)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in unsafe try? file.read(into: buffer) }
        let lines = bytes.prefix(count ?? 0).split(separator: UInt8(ascii: "\n"))
        let label = Array("Umask:".utf8)
        guard let line = lines.first(where: { $0.starts(with: label) }) else { return nil }
        let digits = line.dropFirst(label.count).filter { $0 != UInt8(ascii: "\t") }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
