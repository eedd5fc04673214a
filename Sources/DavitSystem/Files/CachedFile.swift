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

/// File reads that report whether they would have to wait for a disk.
package enum CachedFile {
    package enum Outcome: Equatable, Sendable {
        /// The number of bytes read; 0 at the end of the file.
        case bytes(Int)
        /// The content is not in memory. Use ``read(_:into:offset:)`` where blocking is allowed.
        case notCached
        /// The system or the volume cannot report what is in memory.
        case unknown
        case failed(SystemError)
    }

    /// Reads only content that is in memory.
    package static func readCached(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Outcome {
        #if os(Linux)
        let (count, code) = uninterrupted {
            unsafe davit_pread_nowait(file, buffer.baseAddress, buffer.count, off_t(offset))
        }
        if count >= 0 { return .bytes(count) }
        switch code {
        case EAGAIN: return .notCached
        case EOPNOTSUPP, ENOSYS, EINVAL: return .unknown
        default: return .failed(SystemError(errno: code, call: "preadv2"))
        }
        #else
        return .unknown
        #endif
    }

    /// Reads from a file; waits for the disk if necessary.
    package static func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Outcome {
        let (count, code) = uninterrupted {
            unsafe pread(file, buffer.baseAddress, buffer.count, off_t(offset))
        }
        return count >= 0 ? .bytes(count) : .failed(SystemError(errno: code, call: "pread"))
    }

    /// Returns true if reading the byte at `offset` does not wait for a disk, because it is in memory or
    /// cannot be read; false if it is not in memory, or if that is unknown.
    package static func isCached(_ file: Int32, offset: Int64) -> Bool {
        var byte: UInt8 = 0
        let outcome = unsafe withUnsafeMutableBytes(of: &byte) {
            unsafe readCached(file, into: $0, offset: offset)
        }
        switch outcome {
        case .bytes, .failed: return true
        case .notCached, .unknown: return false
        }
    }

    /// Returns true if the file's volume has no disk to wait for.
    package static func isInMemory(_ file: Int32) -> Bool {
        #if os(Linux)
        davit_is_in_memory(file) != 0
        #else
        false
        #endif
    }

    /// Loads a part of a file into memory; blocks until the disk has read it.
    package static func fetch(_ file: Int32, offset: Int64, count: Int) {
        #if os(Linux)
        _ = readahead(file, off_t(offset), count)
        #else
        var advice = radvisory(ra_offset: offset, ra_count: Int32(clamping: count))
        _ = unsafe fcntl(file, F_RDADVISE, &advice)
        #endif
        // Read-ahead only starts the transfer; reading the last byte waits until the transfer has reached it.
        var byte: UInt8 = 0
        unsafe withUnsafeMutableBytes(of: &byte) {
            _ = unsafe read(file, into: $0, offset: offset + Int64(max(0, count - 1)))
        }
    }
}

extension FileDescriptor {
    /// Whether the file's volume has no disk to wait for.
    package var isInMemory: Bool { CachedFile.isInMemory(rawValue) }
}
