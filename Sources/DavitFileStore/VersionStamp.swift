internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Distinguishes versions of content on volumes whose modification times are too coarse: in whole
/// milliseconds or coarser.
///
/// The stamp is an extended attribute of the file, written by each commit. On volumes without extended
/// attributes (FAT), the birth time is used instead, which is finer than the modification time there and
/// changes with each commit.
enum VersionStamp {
    static let attribute = "user.davit.stamp"

    /// Whether the timestamps of this file are too coarse to distinguish versions. The birth time is
    /// considered as well, because modification times in whole seconds are common in files that were unpacked
    /// or copied.
    static func isNeeded(for status: FileStatus) -> Bool {
        status.modified % UniqueTimeClock.coarseStep == 0
            && (status.created ?? 0) % UniqueTimeClock.coarseStep == 0 && status.kind == .regular
    }

    static func read(from file: borrowing FileDescriptor, status: FileStatus) -> UInt64 {
        guard let value = try? file.attribute(attribute), value.count == 8 else {
            return UInt64(bitPattern: status.created ?? 0)
        }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Writes a unique stamp to the file, if the volume supports it.
    static func write(to file: borrowing FileDescriptor) {
        let stamp = UInt64(bitPattern: UniqueTimeClock.shared.next())
        // Without extended attributes, the birth time is used.
        try? file.setAttribute(
            attribute, to: (0..<8).map { UInt8(truncatingIfNeeded: stamp >> (56 - 8 * $0)) })
    }

    /// Sets a new modification time and, if the volume truncates it, a new stamp, which results in a new
    /// entity tag.
    ///
    /// A client may request a time, but an entity tag must never repeat: the seconds are as requested, and
    /// the fraction distinguishes versions. If the volume truncates the fraction, a stamp distinguishes them.
    ///
    /// - Parameters:
    ///   - file: open for reading or writing, and owned by the user of this process.
    ///   - second: the requested time, in whole seconds; nil for the current time. A volume that cannot
    ///     represent it stores the nearest one it can (the limits of its range, even seconds on FAT), as the
    ///     result shows.
    ///   - old: the replaced content, or this content before the change.
    /// - Returns: the new metadata of the content. Its entity tag equals that of `old` only if the volume can
    ///   store neither the time nor a stamp; then nothing has changed.
    static func renew(
        _ file: borrowing FileDescriptor, within second: Timestamp?, unlike old: ResourceInfo?
    ) throws(SystemError) -> ResourceInfo {
        let clock = UniqueTimeClock.shared
        var last: Int64?
        while true {
            let time = second.map { clock.next(within: $0) } ?? clock.next()
            try file.setModified(time)
            let status = try file.status()
            if status.modified != time { write(to: file) }
            let info = ResourceInfo(status, of: file)
            if old.map({ !info.hasSameTag(as: $0) }) ?? true { return info }
            // The volume stores all times outside its range as the same limit, which the file already has.
            if second != nil, status.modified == last { return info }
            last = status.modified
        }
    }
}

extension ResourceInfo {
    init(_ status: FileStatus, stamp: UInt64) {
        let isContent = status.kind != .directory
        self.init(
            kind: isContent ? .content : .collection,
            length: isContent ? status.length : 0,
            modified: Timestamp(nanoseconds: status.modified),
            created: status.created.map { Timestamp(nanoseconds: $0) },
            identity: ResourceIdentity(inode: status.inode, birth: status.created ?? 0),
            volume: status.volume,
            isExecutable: status.mode & 0o100 != 0 && status.kind == .regular,
            stamp: stamp, hasOtherNames: status.linkCount > 1 && status.kind == .regular)
    }

    /// - Parameter file: the file with this status, open for reading.
    init(_ status: FileStatus, of file: borrowing FileDescriptor) {
        self.init(
            status,
            stamp: VersionStamp.isNeeded(for: status) ? VersionStamp.read(from: file, status: status) : 0)
    }

    /// - Parameter directory: the directory that contains the file as `name`.
    init(_ status: FileStatus, of name: @autoclosure () -> [UInt8], in directory: borrowing FileDescriptor) {
        guard VersionStamp.isNeeded(for: status) else {
            self.init(status, stamp: 0)
            return
        }
        if let file = try? directory.open(name(), for: .content) {
            self.init(status, of: file)
        } else {
            self.init(status, stamp: UInt64(bitPattern: status.created ?? 0))
        }
    }
}
