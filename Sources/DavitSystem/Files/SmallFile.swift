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

    /// How long a named pipe can have no writer.
    private static let writerMilliseconds: Int32 = 5_000

    /// Reads a file of at most `limitBytes`. The file may be a pipe, because secrets often come from another
    /// program; reading then blocks until the writer closes the pipe.
    /// - Throws: the system error; `EFBIG` if the file is larger than `limitBytes`, `ENODATA` if no program opens a named
    ///   pipe for writing within a few seconds.
    public init(reading path: String, limitBytes: Int = 1 << 20) throws(SystemError) {
        try self.init(reading: path, limitBytes: limitBytes, writerMilliseconds: Self.writerMilliseconds)
    }

    /// For tests.
    package init(
        reading path: String, limitBytes: Int, writerMilliseconds: Int32
    ) throws(SystemError) {
        // Otherwise, opening a named pipe would wait for a writer.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
        // The beginning of a pipe that has no writer looks like its end.
        var mayLackWriter = status.st_mode & S_IFMT == S_IFIFO
        var hasWaited = false
        while true {
            let count = unsafe read(file.rawValue, &chunk, chunk.count)
            if count < 0, errno == EAGAIN {
                mayLackWriter = false
                _ = Self.wait(for: file.rawValue, milliseconds: -1)
                continue
            }
            guard count >= 0 else { throw SystemError(errno: errno, call: "read") }
            if count == 0 {
                guard mayLackWriter else { break }
                if hasWaited { throw SystemError(errno: ENODATA, call: "pipe without a writer") }
                hasWaited = true
                // Also returns if the writer has closed the pipe.
                if Self.wait(for: file.rawValue, milliseconds: writerMilliseconds) { mayLackWriter = false }
                continue
            }
            mayLackWriter = false
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limitBytes else { throw SystemError(errno: EFBIG, call: "read") }
        }
        self.bytes = bytes
    }

    /// Waits until something can be read, or the writer of a pipe has closed it.
    /// - Parameter milliseconds: -1 for no limit.
    /// - Returns: false if neither has happened in time.
    private static func wait(for number: Int32, milliseconds: Int32) -> Bool {
        var event = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return uninterrupted { unsafe poll(&event, 1, milliseconds) }.0 > 0
    }
}
