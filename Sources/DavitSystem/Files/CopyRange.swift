#if os(Linux)
internal import CLinux

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension FileDescriptor {
    /// Copies all content of this file into the empty file `target`: by sharing blocks, otherwise inside the
    /// kernel, otherwise through memory. Holes are preserved if the volume reports them.
    ///
    /// - Parameters:
    ///   - status: the status of this file. Content appended since then is copied only if blocks are shared.
    ///   - canShare: false if the target's volume is known not to share blocks; set to false if the volume
    ///     reports that.
    package borrowing func copyContent(
        to target: borrowing FileDescriptor, status: FileStatus, canShare: inout Bool
    ) throws(SystemError) {
        guard status.length > 0 else { return }
        if canShare {
            let (from, to) = (rawValue, target.rawValue)
            do {
                _ = try FileCall.run("ficlone") { davit_clone_into(to, from) }
                return
            } catch {
                if error.isDiskFull { throw error }
                // Other errors concern only this file, or mean that the file is on another volume.
                if error.code == .notSupported { canShare = false }
            }
        }
        if status.allocated < status.length {
            try copyExtents(to: target, length: status.length)
        } else {
            try copyRange(to: target, count: status.length)
        }
    }

    /// Copies `count` bytes, or fewer at the end of this file, between the current positions of this file and
    /// `target`.
    borrowing func copyRange(
        to target: borrowing FileDescriptor, count: Int64
    ) throws(SystemError) {
        let (from, to) = (rawValue, target.rawValue)
        var rest = count
        var isFirst = true
        while rest > 0 {
            let piece = Int(min(rest, Int64(LongWork.pieceBytes)))
            let copied: Int
            do {
                copied = try FileCall.run("copy_file_range") { davit_copy_file_range(from, to, piece) }
            } catch {
                // Nothing has been copied yet, so the fallback starts at the same positions.
                if isFirst, error.isUnsupported || error.code == .crossVolume || error.code == .badDescriptor
                {
                    return try copyThroughMemory(to: target, count: rest)
                }
                throw error
            }
            // Some volumes return 0 although there is content.
            if copied == 0 { return isFirst ? try copyThroughMemory(to: target, count: rest) : () }
            isFirst = false
            rest -= Int64(copied)
            try LongWork.checkpoint(bytes: copied)
        }
    }

    /// Copies data and skips holes.
    private borrowing func copyExtents(
        to target: borrowing FileDescriptor, length: Int64
    ) throws(SystemError) {
        var offset: Int64 = 0
        while offset < length {
            let data: Int64
            do {
                data = try seek(offset, Int32(DAVIT_SEEK_DATA))
            } catch {
                if error.code == .noDevice { break }  // A hole up to the end.
                if error.code == .invalid {
                    _ = try seek(0, SEEK_SET)
                    return try copyRange(to: target, count: length)
                }
                throw error
            }
            let end = min(try seek(data, Int32(DAVIT_SEEK_HOLE)), length)
            guard end > data else { break }
            _ = try seek(data, SEEK_SET)
            _ = try target.seek(data, SEEK_SET)
            try copyRange(to: target, count: end - data)
            offset = end
        }
        try target.setLength(length)
    }
}
#endif
