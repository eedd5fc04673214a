#if os(Linux)
internal import CLinux

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension FileDescriptor {
    /// Returns the status of the open file.
    package borrowing func status() throws(SystemError) -> FileStatus {
        try unsafe Self.statx(rawValue, "", flags: Int32(DAVIT_AT_EMPTY_PATH))
    }

    /// Returns the status of a member of this directory, without following a symbolic link.
    package borrowing func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        try status(of: name[...])
    }

    package borrowing func status(of name: ArraySlice<UInt8>) throws(SystemError) -> FileStatus {
        let directory = rawValue
        #if DAVIT_FAULTS
        let name = CaseInsensitiveVolume.stored(Array(name), in: directory)
        #endif
        return try unsafe withCPath(name) { text throws(SystemError) in
            try unsafe Self.statx(directory, text, flags: AT_SYMLINK_NOFOLLOW)
        }
    }

    package borrowing func status(of entry: borrowing DirectoryEntry) throws(SystemError) -> FileStatus {
        try unsafe Self.statx(rawValue, entry.name, flags: AT_SYMLINK_NOFOLLOW)
    }

    /// Whether the volume in the status of files distinguishes mounts of one device, as it does from Linux 5.8 on.
    package var distinguishesMounts: Bool {
        var raw = CLinux.statx()
        let result = unsafe davit_statx(rawValue, "", Int32(DAVIT_AT_EMPTY_PATH), &raw)
        return result == 0 && raw.stx_mask & UInt32(DAVIT_STATX_MNT_ID) != 0
    }

    private static func statx(
        _ directory: Int32, _ name: UnsafePointer<CChar>, flags: Int32
    ) throws(SystemError) -> FileStatus {
        var raw = CLinux.statx()
        _ = try FileCall.run("statx") { unsafe davit_statx(directory, name, flags, &raw) }
        return FileStatus(raw)
    }
}

extension FileStatus {
    fileprivate init(_ raw: statx) {
        let format = UInt32(raw.stx_mode) & UInt32(DAVIT_FORMAT_MASK)
        kind =
            switch format {
            case UInt32(DAVIT_FORMAT_REGULAR): .regular
            case UInt32(DAVIT_FORMAT_DIRECTORY): .directory
            case UInt32(DAVIT_FORMAT_LINK): .symbolicLink
            default: .special
            }
        mode = UInt32(raw.stx_mode) & 0o7777
        owner = raw.stx_uid
        group = raw.stx_gid
        linkCount = raw.stx_nlink
        inode = raw.stx_ino
        device = UInt64(raw.stx_dev_major) << 20 | UInt64(raw.stx_dev_minor)
        // Two mounts of one device are different volumes: rename fails with EXDEV between them.
        volume = raw.stx_mnt_id << 32 ^ device
        length = Int64(clamping: raw.stx_size)
        allocated = Int64(clamping: raw.stx_blocks &* 512)
        modified = Clock.signedNanoseconds(
            seconds: raw.stx_mtime.tv_sec, fraction: Int64(raw.stx_mtime.tv_nsec))
        changed = Clock.signedNanoseconds(
            seconds: raw.stx_ctime.tv_sec, fraction: Int64(raw.stx_ctime.tv_nsec))
        created =
            raw.stx_mask & UInt32(STATX_BTIME) == 0
            ? nil
            : Clock.signedNanoseconds(seconds: raw.stx_btime.tv_sec, fraction: Int64(raw.stx_btime.tv_nsec))
        #if DAVIT_FAULTS
        if FileFaults.plan?.cutsTimes == true { created = created.map { $0 - $0 % 1_000_000_000 } }
        #endif
    }
}
#endif
