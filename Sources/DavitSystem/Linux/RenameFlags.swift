#if os(Linux)
internal import CLinux

extension FileDescriptor {
    /// Renames a member to a name that must be free; throws `exists` if it is not.
    ///
    /// - Throws: an error with ``SystemError/isUnsupported`` if the volume cannot do this atomically.
    package borrowing func rename(
        _ name: [UInt8], to directory: borrowing FileDescriptor, asFree newName: [UInt8]
    ) throws(SystemError) {
        try rename(name, to: directory, as: newName, flags: UInt32(DAVIT_RENAME_NOREPLACE))
    }

    /// Exchanges two members.
    ///
    /// - Throws: an error with ``SystemError/isUnsupported`` if the volume cannot do this atomically.
    package borrowing func exchange(
        _ name: [UInt8], with directory: borrowing FileDescriptor, _ other: [UInt8]
    ) throws(SystemError) {
        try rename(name, to: directory, as: other, flags: UInt32(DAVIT_RENAME_EXCHANGE))
    }

    private borrowing func rename(
        _ name: [UInt8], to directory: borrowing FileDescriptor, as newName: [UInt8], flags: UInt32
    ) throws(SystemError) {
        let (from, to) = (rawValue, directory.rawValue)
        #if DAVIT_FAULTS
        let name = CaseInsensitiveVolume.stored(name, in: from)
        let newName = CaseInsensitiveVolume.stored(newName, in: to)
        #endif
        try unsafe withCPath(name) { old throws(SystemError) in
            try unsafe withCPath(newName) { new throws(SystemError) in
                _ = try FileCall.run("renameat2") { unsafe davit_renameat2(from, old, to, new, flags) }
            }
        }
    }
}
#endif
