#if os(Linux)
internal import CLinux

extension FileDescriptor {
    /// Renames onto a free name (`exists` if it is not free).
    ///
    /// - Throws: ``SystemError/isUnsupported`` where the volume cannot do it in one step.
    package borrowing func rename(
        _ name: [UInt8], to directory: borrowing FileDescriptor, asFree newName: [UInt8]
    ) throws(SystemError) {
        try rename(name, to: directory, as: newName, flags: UInt32(DAVIT_RENAME_NOREPLACE))
    }

    /// Makes two members change places.
    ///
    /// - Throws: ``SystemError/isUnsupported`` where the volume cannot do it in one step.
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
        let name = FoldingVolume.stored(name, in: from)
        let newName = FoldingVolume.stored(newName, in: to)
        #endif
        try unsafe withCPath(name) { old throws(SystemError) in
            try unsafe withCPath(newName) { new throws(SystemError) in
                _ = try FileCall.run("renameat2") { unsafe davit_renameat2(from, old, to, new, flags) }
            }
        }
    }
}
#endif
