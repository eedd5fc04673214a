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

/// Calls on open files.
extension FileDescriptor {
    /// Writes all of `bytes` at the descriptor's position.
    package borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let number = rawValue
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = try FileCall.run("write") { unsafe write(number, piece.baseAddress, piece.count) }
            unsafe rest = rest.dropFirst(count)
        }
    }

    /// Writes all of `bytes` from `offset` on, whatever the descriptor's position. Behind the end, what is between
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

    /// Moves the descriptor's position.
    /// - Returns: the new position.
    borrowing func seek(_ offset: Int64, _ whence: Int32) throws(SystemError) -> Int64 {
        let number = rawValue
        return Int64(try FileCall.run("lseek") { lseek(number, off_t(offset), whence) })
    }

    /// Copies the first `count` bytes of this file into `target` from `offset` on: inside the kernel where the system
    /// can, and never all of it in memory at once. Moves the positions of both.
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

    /// Reads at the descriptor's position.
    /// - Returns: bytes read; 0 at the end.
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

    /// Owner and group; nil leaves one as it is.
    package borrowing func setOwner(_ owner: UInt32?, group: UInt32?) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fchown") { fchown(number, owner ?? uid_t.max, group ?? gid_t.max) }
    }

    /// Modification time in nanoseconds since the epoch; the access time becomes now.
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

    // UTIME_NOW: a macro with a cast that Swift does not see on Linux.
    #if canImport(Darwin)
    private static let now = -1
    #else
    private static let now = (1 << 30) - 1
    #endif

    /// Takes the advisory lock of the open file without waiting.
    ///
    /// - Returns: false if somebody else has it.
    /// - Throws: where the volume has no such locks, among others.
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

    /// Bytes free for this process and bytes used on the volume.
    package borrowing func space() throws(SystemError) -> (available: Int64, used: Int64) {
        let number = rawValue
        var volume = statvfs()
        _ = try FileCall.run("fstatvfs") { unsafe fstatvfs(number, &volume) }
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
}

/// Room on a volume.
extension FileDescriptor {
    /// Refuses now what would not fit later.
    ///
    /// - Parameters:
    ///   - length: bytes to come.
    ///   - kept: bytes of the volume that shall be left; nil asks nothing, and finds room everywhere.
    /// - Throws: `noSpace` where the volume has no room for `length` bytes, `overQuota` where it has, but what shall be
    ///   kept free would not be.
    package borrowing func checkRoom(for length: Int64, keepingFree kept: Int64?) throws(SystemError) {
        guard let kept else { return }
        let available = try space().available
        if available < length { throw SystemError(errno: ENOSPC, call: "fstatvfs") }
        if length > 0, available - length < kept { throw SystemError(errno: EDQUOT, call: "fstatvfs") }
    }
}

/// `read`, which the method of the same name hides.
@inline(__always)
private func systemRead(_ number: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(number, buffer, count)
}

/// The absolute path without links, for messages and for link texts that are absolute.
package func realPath(_ path: String) throws(SystemError) -> [UInt8] {
    #if DAVIT_FAULTS
    try FileFaults.pass("realpath")
    #endif
    guard let text = unsafe realpath(path, nil) else { throw SystemError(errno: errno, call: "realpath") }
    defer { unsafe free(text) }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
}
