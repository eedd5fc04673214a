#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a file so that every write appends to it. Creates the file with mode 0640 if it is missing. May
    /// block.
    /// - Parameter path: the path of the file; symbolic links are followed.
    /// - Throws: the system error; `ENXIO` for a named pipe that no program reads.
    package static func appending(to path: String) throws(SystemError) -> FileDescriptor {
        let file = FileDescriptor(
            owning: try checked("open") {
                // Opening a named pipe would wait for a reader.
                openFile(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o640)
            })
        let flags = try checked("fcntl") { fcntl(file.rawValue, F_GETFL) }
        _ = try checked("fcntl") { fcntl(file.rawValue, F_SETFL, flags & ~O_NONBLOCK) }
        return file
    }

    /// Like ``appending(to:)``, but the file can also be read.
    package static func appendingAndReading(_ path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try checked("open") { openFile(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o640) })
    }

    /// Opens an existing file for reading; symbolic links are followed. May block, but not for the writer of a named pipe.
    package static func reading(_ path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try checked("open") { openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) })
    }

    /// Appends to a file that was opened for appending. May block.
    /// - Returns: the number of bytes written, which may be less than the number of bytes given.
    package borrowing func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let number = rawValue
        return try FileCall.run("write") { unsafe write(number, bytes.baseAddress, bytes.count) }
    }

    /// The length of the file in bytes; 0 for devices and pipes.
    package borrowing func length() throws(SystemError) -> Int64 {
        var status = stat()
        let number = rawValue
        _ = try FileCall.run("fstat") { unsafe fstat(number, &status) }
        return Int64(status.st_size)
    }

    /// Renames a file; an existing file with the new name is replaced.
    /// - Returns: false if there is no file with the former name.
    package static func rename(_ path: String, to newPath: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try FileCall.run("rename") { renameFile(path, newPath) }
            return true
        } catch {
            if error.code == .noEntry { return false }
            throw error
        }
    }

    /// Duplicates the descriptor of standard error, so that closing the result leaves standard error open.
    package static func duplicateOfStandardError() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try checked("dup") { dup(2) })
    }
}

private func renameFile(_ path: String, _ newPath: String) -> Int32 { unsafe rename(path, newPath) }

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe open(path, flags, mode)
}
