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

/// Operations on open files.
extension FileDescriptor {
    /// Writes all of `bytes` at the current position.
    package borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let number = rawValue
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = try FileCall.run("write") { unsafe write(number, piece.baseAddress, piece.count) }
            unsafe rest = rest.dropFirst(count)
        }
    }

    /// Writes all of `bytes` at `offset`, regardless of the current position. A gap after the end of the file
    /// becomes a hole, which reads as zeros.
    package borrowing func writeAll(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(SystemError) {
        let number = rawValue
        var rest = unsafe bytes[...]
        var place = offset
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = try FileCall.run("pwrite") {
                unsafe pwrite(number, piece.baseAddress, piece.count, off_t(place))
            }
            unsafe rest = rest.dropFirst(count)
            place += Int64(count)
        }
    }

    /// Sets the current position.
    /// - Returns: the new position.
    borrowing func seek(_ offset: Int64, _ whence: Int32) throws(SystemError) -> Int64 {
        let number = rawValue
        return Int64(try FileCall.run("lseek") { lseek(number, off_t(offset), whence) })
    }

    /// Copies the first `count` bytes of this file to `target` at `offset`, inside the kernel if possible,
    /// without loading all of them into memory. Changes the positions of both files.
    package borrowing func copyBytes(
        _ count: Int64, to target: borrowing FileDescriptor, at offset: Int64
    ) throws(SystemError) {
        _ = try seek(0, SEEK_SET)
        _ = try target.seek(offset, SEEK_SET)
        #if os(Linux)
        try copyRange(to: target, count: count)
        #else
        try copyThroughMemory(to: target, count: count)
        #endif
    }

    /// Reads at the current position.
    /// - Returns: the number of bytes read; 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let number = rawValue
        return try FileCall.run("read") { unsafe systemRead(number, buffer.baseAddress, buffer.count) }
    }

    package borrowing func setLength(_ length: Int64) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("ftruncate") { ftruncate(number, off_t(length)) }
    }

    package borrowing func setMode(_ mode: UInt32) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fchmod") { fchmod(number, mode_t(mode)) }
    }

    /// Sets the owner and group; nil leaves the value unchanged.
    package borrowing func setOwner(_ owner: UInt32?, group: UInt32?) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fchown") { fchown(number, owner ?? uid_t.max, group ?? gid_t.max) }
    }

    /// Sets the modification time, in nanoseconds since the epoch, and sets the access time to the current
    /// time.
    package borrowing func setModified(_ nanoseconds: Int64) throws(SystemError) {
        let number = rawValue
        var nanoseconds = nanoseconds
        #if DAVIT_FAULTS
        if FileFaults.plan?.cutsTimes == true {
            nanoseconds -= (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
        }
        #endif
        var seconds = nanoseconds / 1_000_000_000
        var fraction = nanoseconds % 1_000_000_000
        if fraction < 0 {
            seconds -= 1
            fraction += 1_000_000_000
        }
        let times = [
            timespec(tv_sec: 0, tv_nsec: Self.now),
            timespec(tv_sec: time_t(seconds), tv_nsec: Int(fraction)),
        ]
        _ = try FileCall.run("futimens") { unsafe futimens(number, times) }
    }

    // UTIME_NOW: on Linux a macro with a cast, which Swift cannot import.
    #if canImport(Darwin)
    private static let now = -1
    #else
    private static let now = (1 << 30) - 1
    #endif

    /// Tries to acquire the advisory lock of the file without waiting.
    ///
    /// - Returns: false if another open file description holds it.
    /// - Throws: an error, for example if the volume does not support locks.
    package borrowing func tryLock() throws(SystemError) -> Bool {
        let number = rawValue
        do {
            _ = try FileCall.run("flock") { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == .again { return false }
            throw error
        }
    }

    /// Returns the bytes available to this process and the bytes used on the volume.
    package borrowing func space() throws(SystemError) -> (available: Int64, used: Int64) {
        let volume = try volume()
        #if DAVIT_FAULTS
        if let available = FileFaults.plan?.availableBytes { return (available, 0) }
        #endif
        let unit = UInt64(volume.f_frsize)
        func bytes(_ blocks: UInt64) -> Int64 {
            let (product, overflow) = blocks.multipliedReportingOverflow(by: unit)
            return overflow ? .max : Int64(clamping: product)
        }
        let blocks = UInt64(volume.f_blocks)
        let free = UInt64(volume.f_bfree)
        return (bytes(UInt64(volume.f_bavail)), bytes(blocks > free ? blocks - free : 0))
    }

    /// Returns the number of files that can still be created on the volume; nil if it has no such limit.
    package borrowing func freeFiles() throws(SystemError) -> Int64? {
        let volume = try volume()
        return volume.f_files == 0 ? nil : Int64(clamping: UInt64(volume.f_favail))
    }

    /// Whether the volume is mounted read-only.
    package borrowing func isOnReadOnlyVolume() throws(SystemError) -> Bool {
        try volume().f_flag & UInt(ST_RDONLY) != 0
    }

    private borrowing func volume() throws(SystemError) -> statvfs {
        let number = rawValue
        var volume = statvfs()
        _ = try FileCall.run("fstatvfs") { unsafe fstatvfs(number, &volume) }
        return volume
    }
}

/// Free space of a volume.
extension FileDescriptor {
    /// Checks in advance that data will fit on the volume.
    ///
    /// - Parameters:
    ///   - length: the number of bytes to be written.
    ///   - kept: the number of bytes that must remain free; nil skips the check.
    /// - Throws: `noSpace` if the volume has less than `length` bytes of free space, `overQuota` if less than
    ///   `kept` bytes would remain.
    package borrowing func checkRoom(for length: Int64, keepingFree kept: Int64?) throws(SystemError) {
        guard let kept else { return }
        let available = try space().available
        if available < length { throw SystemError(errno: ENOSPC, call: "fstatvfs") }
        if length > 0, available - length < kept { throw SystemError(errno: EDQUOT, call: "fstatvfs") }
    }
}

/// Calls the system's `read`, which the method of the same name shadows.
@inline(__always)
private func systemRead(_ number: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(number, buffer, count)
}

/// Returns the absolute path without links, as realpath(3) does.
package func realPath(_ path: String) throws(SystemError) -> [UInt8] {
    #if DAVIT_FAULTS
    try FileFaults.pass("realpath")
    #endif
    guard let text = unsafe realpath(path, nil) else { throw SystemError(errno: errno, call: "realpath") }
    defer { unsafe free(text) }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
}
