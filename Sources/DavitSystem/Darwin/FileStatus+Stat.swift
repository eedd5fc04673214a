#if canImport(Darwin)
internal import Darwin

extension FileDescriptor {
    /// Returns the status of the open file.
    package borrowing func status() throws(SystemError) -> FileStatus {
        let number = rawValue
        var raw = stat()
        _ = try FileCall.run("fstat") { unsafe fstat(number, &raw) }
        return FileStatus(raw)
    }

    /// Always false: the volume in the status of files is that of the device.
    package var distinguishesMounts: Bool { false }

    /// Returns the status of a member of this directory, without following a symbolic link.
    package borrowing func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        try status(at: name, flags: AT_SYMLINK_NOFOLLOW)
    }

    package borrowing func status(of name: ArraySlice<UInt8>) throws(SystemError) -> FileStatus {
        try status(at: Array(name), flags: AT_SYMLINK_NOFOLLOW)
    }

    package borrowing func status(of entry: borrowing DirectoryEntry) throws(SystemError) -> FileStatus {
        let directory = rawValue
        let name = unsafe entry.name
        var raw = stat()
        _ = try FileCall.run("fstatat") { unsafe fstatat(directory, name, &raw, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(raw)
    }

    borrowing func status(at path: [UInt8], flags: Int32) throws(SystemError) -> FileStatus {
        let directory = rawValue
        var raw = stat()
        try unsafe withCPath(path) { text throws(SystemError) in
            _ = try FileCall.run("fstatat") { unsafe fstatat(directory, text, &raw, flags) }
        }
        return FileStatus(raw)
    }
}

extension FileStatus {
    fileprivate init(_ raw: stat) {
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .special
            }
        mode = UInt32(raw.st_mode) & 0o7777
        owner = raw.st_uid
        group = raw.st_gid
        linkCount = UInt32(raw.st_nlink)
        inode = raw.st_ino
        device = UInt64(UInt32(bitPattern: raw.st_dev))
        volume = device
        length = raw.st_size
        allocated = raw.st_blocks * 512
        modified = Clock.signedNanoseconds(
            seconds: Int64(raw.st_mtimespec.tv_sec), fraction: Int64(raw.st_mtimespec.tv_nsec))
        changed = Clock.signedNanoseconds(
            seconds: Int64(raw.st_ctimespec.tv_sec), fraction: Int64(raw.st_ctimespec.tv_nsec))
        created = Clock.signedNanoseconds(
            seconds: Int64(raw.st_birthtimespec.tv_sec), fraction: Int64(raw.st_birthtimespec.tv_nsec))
    }
}
#endif
