#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The content and mode of a small file, such as settings, secrets or a system table, read completely.
public struct SmallFile: Sendable {
    public let bytes: [UInt8]
    /// The permission bits.
    public let mode: UInt32
    /// Whether it is a regular file, and not a pipe or a device.
    public let isRegular: Bool

    /// Reads a file of at most `limitBytes`. The file may be a pipe, because secrets often come from another
    /// program; reading then blocks until the writer closes the pipe.
    /// - Throws: the system error; `EFBIG` if the file is larger than `limitBytes`.
    public init(reading path: String, limitBytes: Int = 1 << 20) throws(SystemError) {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0 else {
            throw SystemError(errno: errno, call: "fstat")
        }
        mode = UInt32(status.st_mode) & 0o7777
        isRegular = status.st_mode & S_IFMT == S_IFREG
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(file.rawValue, &chunk, chunk.count)
            guard count >= 0 else { throw SystemError(errno: errno, call: "read") }
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limitBytes else { throw SystemError(errno: EFBIG, call: "read") }
        }
        self.bytes = bytes
    }
}
