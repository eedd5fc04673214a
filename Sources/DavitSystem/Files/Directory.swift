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

/// Operations on the members of a directory, relative to its descriptor. Names are single path components.
/// Only ``checkWritable(_:)`` follows a symbolic link.
extension FileDescriptor {
    /// Creates a directory.
    /// - Parameter mode: as for mkdir(2); the umask applies.
    package borrowing func makeDirectory(_ name: [UInt8], mode: UInt32) throws(SystemError) {
        try makeDirectory(name[...], mode: mode)
    }

    package borrowing func makeDirectory(_ name: ArraySlice<UInt8>, mode: UInt32) throws(SystemError) {
        let directory = rawValue
        try unsafe withCPath(name) { text throws(SystemError) in
            _ = try FileCall.run("mkdirat") { unsafe mkdirat(directory, text, mode_t(mode)) }
        }
    }

    /// Removes a member that is not a directory.
    package borrowing func unlink(_ name: [UInt8]) throws(SystemError) {
        try unlink(name[...], flags: 0)
    }

    package borrowing func unlink(_ name: ArraySlice<UInt8>) throws(SystemError) {
        try unlink(name, flags: 0)
    }

    package borrowing func removeDirectory(_ name: [UInt8]) throws(SystemError) {
        try unlink(name[...], flags: AT_REMOVEDIR)
    }

    private borrowing func unlink(_ name: ArraySlice<UInt8>, flags: Int32) throws(SystemError) {
        let directory = rawValue
        #if DAVIT_FAULTS
        let name = CaseInsensitiveVolume.stored(Array(name), in: directory)
        #endif
        try unsafe withCPath(name) { text throws(SystemError) in
            _ = try FileCall.run("unlinkat") { unsafe unlinkat(directory, text, flags) }
        }
    }

    /// Renames a member, and replaces an existing `newName`.
    package borrowing func rename(
        _ name: [UInt8], to directory: borrowing FileDescriptor, as newName: [UInt8]
    ) throws(SystemError) {
        let (from, to) = (rawValue, directory.rawValue)
        #if DAVIT_FAULTS
        guard let (name, newName) = CaseInsensitiveVolume.names(name, in: from, newName, in: to) else {
            return
        }
        #endif
        try unsafe withCPath(name) { old throws(SystemError) in
            try unsafe withCPath(newName) { new throws(SystemError) in
                _ = try FileCall.run("renameat") { unsafe renameat(from, old, to, new) }
            }
        }
    }

    /// Creates a hard link to a member.
    package borrowing func link(
        _ name: [UInt8], to directory: borrowing FileDescriptor, as newName: [UInt8]
    ) throws(SystemError) {
        let (from, to) = (rawValue, directory.rawValue)
        try unsafe withCPath(name) { old throws(SystemError) in
            try unsafe withCPath(newName) { new throws(SystemError) in
                _ = try FileCall.run("linkat") { unsafe linkat(from, old, to, new, 0) }
            }
        }
    }

    /// Returns the target text of a symbolic link.
    package borrowing func readLink(_ name: [UInt8]) throws(SystemError) -> [UInt8] {
        let directory = rawValue
        return try unsafe withCPath(name) { text throws(SystemError) in
            // The target of a link is never longer than PATH_MAX.
            var bytes = [CChar](repeating: 0, count: 4096)
            let count = try FileCall.run("readlinkat") {
                unsafe readlinkat(directory, text, &bytes, bytes.count)
            }
            return bytes[..<count].map { UInt8(bitPattern: $0) }
        }
    }

    /// Checks whether this process, with its effective IDs, may write to a member or to the target of a link,
    /// which rename(2) does not check.
    ///
    /// - Throws: `noEntry` if the member does not exist; otherwise the reason why writing is refused.
    package borrowing func checkWritable(_ name: [UInt8]) throws(SystemError) {
        let directory = rawValue
        try unsafe withCPath(name) { text throws(SystemError) in
            _ = try FileCall.run("faccessat") { unsafe faccessat(directory, text, W_OK, AT_EACCESS) }
        }
    }

    /// Sets the permission bits of a member that is not a link.
    package borrowing func setMode(_ mode: UInt32, of name: [UInt8]) throws(SystemError) {
        let directory = rawValue
        try unsafe withCPath(name) { text throws(SystemError) in
            _ = try FileCall.run("fchmodat") {
                unsafe fchmodat(directory, text, mode_t(mode), AT_SYMLINK_NOFOLLOW)
            }
        }
    }
}
